/** The log folded into rows, by someone who knows nothing of the engine: if state and event commit together (G2), both are the same. */
import type { StoredEvent } from '@holdpoint/engine'
import { type Command, limits, type Request, type Rule, type Session } from '@holdpoint/protocol'

export type FoldedSession = Omit<Session, 'pending'>

export class Fold {
  readonly sessions = new Map<string, FoldedSession>()
  readonly requests = new Map<string, Request>()
  readonly commands = new Map<string, Command>()
  readonly rules = new Map<string, Rule>()
  seq = 0

  take(event: StoredEvent): void {
    if (event.seq !== this.seq + 1) throw new Error(`the log jumps from ${this.seq} to ${event.seq} (G3)`)
    this.seq = event.seq
    const { body, session } = event
    switch (body.type) {
      case 'session.opened':
      case 'session.changed':
      case 'session.ended': {
        const { pending: _, ...value } = body.value
        this.sessions.set(value.id, value)
        return
      }
      case 'session.deleted':
        this.#delete(session)
        return
      case 'message.added':
        if (body.role === 'agent' && !body.partial && body.text.trim())
          this.#change(session, { lastMessage: clip(body.text) })
        return
      case 'turn.finished': {
        const before = this.sessions.get(session ?? '')
        if (before && body.cost !== undefined) this.#change(session, { cost: (before.cost ?? 0) + body.cost })
        return
      }
      case 'request.opened':
        if (this.requests.has(body.value.id)) throw new Error(`${body.value.id} was opened twice (G4)`)
        this.requests.set(body.value.id, body.value)
        return
      case 'request.overdue':
        this.#move(body.request, request => ({ ...request, overdue: true }))
        return
      case 'request.resolved':
        this.#move(body.request, request => {
          if (request.status === 'resolved') throw new Error(`${request.id} was resolved twice (I1)`)
          if (request.digest !== body.digest) throw new Error(`${request.id} was resolved by another digest (G7)`)
          return { ...request, status: 'resolved', resolution: body.resolution, delivery: body.delivery }
        })
        return
      case 'request.handed':
      case 'request.taken':
      case 'request.unknown':
      case 'request.undeliverable':
        this.#move(body.request, request => {
          if (request.delivery.state === body.delivery.state) throw new Error(`${body.type} changed nothing (I4)`)
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
        if (command.state === 'done') throw new Error(`${body.type} of ${command.id}, which is done (I4)`)
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

  #change(id: string | null, part: Partial<FoldedSession>): void {
    const before = this.sessions.get(id ?? '')
    if (before) this.sessions.set(before.id, { ...before, ...part })
  }
  /** What was purged before it was read here is not there to be moved. */
  #move(id: string, move: (request: Request) => Request): void {
    const request = this.requests.get(id)
    if (request) this.requests.set(id, move(request))
  }
  #delete(session: string | null): void {
    this.sessions.delete(session ?? '')
    for (const [id, request] of this.requests) if (request.session === session) this.requests.delete(id)
    for (const [id, command] of this.commands) if (command.session === session) this.commands.delete(id)
  }
}

function clip(text: string): string {
  const words = text.trim()
  return words.length > limits.titleMax ? `${words.slice(0, limits.titleMax - 1)}…` : words
}
