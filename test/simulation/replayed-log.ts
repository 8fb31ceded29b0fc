/** Rebuilds sessions, requests, commands and rules from the event log, independently of the engine. If state and events commit together (G2), the result equals the rows of the store. */
import type { StoredEvent } from '@holdpoint/engine'
import { type Command, limits, type Request, type Rule, type Session } from '@holdpoint/protocol'

export type ReplayedSession = Omit<Session, 'pending' | 'waitedMs' | 'waitingSince'>

export class ReplayedLog {
  readonly sessions = new Map<string, ReplayedSession>()
  readonly requests = new Map<string, Request>()
  readonly commands = new Map<string, Command>()
  readonly rules = new Map<string, Rule>()
  seq = 0

  apply(event: StoredEvent): void {
    if (event.seq !== this.seq + 1) throw new Error(`the log jumps from seq ${this.seq} to ${event.seq} (G3)`)
    this.seq = event.seq
    const { body, session } = event
    switch (body.type) {
      case 'session.opened':
      case 'session.changed':
      case 'session.ended': {
        const { pending: _pending, waitedMs: _waited, waitingSince: _since, ...value } = body.value
        this.sessions.set(value.id, value)
        return
      }
      case 'session.deleted':
        this.#delete(session)
        return
      case 'message.added':
        if (body.role === 'agent' && !body.partial && body.text.trim())
          this.#updateSession(session, { lastMessage: truncateTitle(body.text), lastMessageAt: event.at })
        return
      case 'turn.finished': {
        const before = this.sessions.get(session ?? '')
        if (before && body.cost !== undefined) this.#updateSession(session, { cost: (before.cost ?? 0) + body.cost })
        return
      }
      case 'request.opened':
        if (this.requests.has(body.value.id)) throw new Error(`${body.value.id} was opened twice (G4)`)
        this.requests.set(body.value.id, body.value)
        return
      case 'request.overdue':
        this.#updateRequest(body.request, request => ({ ...request, overdue: true }))
        return
      case 'request.resolved':
        this.#updateRequest(body.request, request => {
          if (request.status === 'resolved') throw new Error(`${request.id} was resolved twice (I1)`)
          if (request.digest !== body.digest) throw new Error(`${request.id} was resolved with another digest (G7)`)
          return { ...request, status: 'resolved', resolution: body.resolution, delivery: body.delivery }
        })
        return
      case 'request.handed':
      case 'request.taken':
      case 'request.unknown':
      case 'request.undeliverable':
        this.#updateRequest(body.request, request => {
          if (request.delivery.state === body.delivery.state)
            throw new Error(`${body.type} of ${request.id} does not change its delivery state (I4)`)
          return { ...request, delivery: body.delivery }
        })
        return
      case 'command.added':
        this.commands.set(body.value.id, body.value)
        return
      case 'command.taken':
      case 'command.done': {
        const command = this.commands.get(body.command)
        if (!command) return
        const done = body.type === 'command.done'
        if (command.state === 'done') throw new Error(`${body.type} of ${command.id}, which is already done (I4)`)
        this.commands.set(command.id, {
          ...command,
          state: done ? 'done' : 'taken',
          outcome: done ? body.outcome : null,
        })
        return
      }
      case 'rule.added':
        this.rules.set(body.value.id, body.value)
        return
      case 'rule.removed':
        this.rules.delete(body.rule)
    }
  }

  #updateSession(id: string | null, fields: Partial<ReplayedSession>): void {
    const before = this.sessions.get(id ?? '')
    if (before) this.sessions.set(before.id, { ...before, ...fields })
  }
  /** Ignores requests whose opening event was purged before it was read. */
  #updateRequest(id: string, update: (request: Request) => Request): void {
    const request = this.requests.get(id)
    if (request) this.requests.set(id, update(request))
  }
  #delete(session: string | null): void {
    this.sessions.delete(session ?? '')
    for (const [id, request] of this.requests) if (request.session === session) this.requests.delete(id)
    for (const [id, command] of this.commands) if (command.session === session) this.commands.delete(id)
  }
}

function truncateTitle(text: string): string {
  const trimmed = text.trim()
  return trimmed.length > limits.titleMax ? `${trimmed.slice(0, limits.titleMax - 1)}…` : trimmed
}
