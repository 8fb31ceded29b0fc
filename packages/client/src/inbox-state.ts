/** Builds the state of the inbox from frames: sessions, pending and recently resolved requests, and streaming blocks. Applying a frame a second time has no effect. */
import {
  type Event,
  type Frame,
  type Hello,
  type Person,
  type Request,
  type RequestId,
  type Session,
  type SessionId,
  type StreamingBlock,
  truncateTitle,
} from '@holdpoint/protocol'
import { changedRequest } from './changed-request.ts'
import { compareUrgency } from './urgency.ts'

export interface InboxStateSnapshot {
  readonly sessions: ReadonlyMap<SessionId, Session>
  /** Pending and recently resolved requests. */
  readonly requests: ReadonlyMap<RequestId, Request>
  /** Pending requests, most urgent first. */
  readonly order: readonly RequestId[]
  /** The number of all pending requests, including requests that are not loaded yet. */
  readonly pendingCount: number
  /** How far the gateway's clock is ahead of the local clock, in milliseconds. */
  readonly clockSkewMs: number
  /** The streaming blocks. `blockKey` builds the keys. */
  readonly blocks: ReadonlyMap<string, StreamingBlock>
  /** The names of the people who are writing an answer, by request. */
  readonly answering: ReadonlyMap<RequestId, readonly Person[]>
  /** False while the pages that did not fit into `hello` are loading. */
  readonly complete: boolean
}

export function blockKey(session: SessionId, block: string): string {
  return `${session}/${block}`
}

const resolvedMax = 50

export class InboxState {
  readonly #now: () => number
  #sessions = new Map<SessionId, Session>()
  #requests = new Map<RequestId, Request>()
  /** The ids of resolved requests, in the order of their resolution. */
  #resolved = new Set<RequestId>()
  #blocks = new Map<string, StreamingBlock>()
  #answering = new Map<RequestId, readonly Person[]>()
  #clockSkewMs = 0
  /** The number of pending requests, from `hello` and later events. This number is correct even while pages are still loading. */
  #pendingCount = 0
  /** The ids that events have changed while pages are loading. A page may be older than these events and must not undo them. */
  #changedIds: Set<string> | null = null

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  apply(frame: Frame): void {
    switch (frame.frame) {
      case 'hello':
        this.#applyHello(frame.hello)
        return
      case 'event':
        this.#applyEvent(frame.event)
        return
      case 'delta': {
        const { delta } = frame
        const key = blockKey(delta.session, delta.block)
        const known = this.#blocks.get(key)
        const follows = known && known.offset + known.text.length === delta.offset
        const repeats = known && delta.offset < known.offset + known.text.length
        if (!repeats) this.#blocks.set(key, follows ? { ...known, text: known.text + delta.text } : delta)
        return
      }
      case 'answering': {
        const others = (this.#answering.get(frame.request) ?? []).filter(({ id }) => id !== frame.personId)
        const people = frame.active ? [...others, { id: frame.personId, name: frame.person }] : others
        if (people.length > 0) this.#answering.set(frame.request, people)
        else this.#answering.delete(frame.request)
      }
    }
  }

  /** Adds a page of sessions or requests that did not fit into `hello`. */
  addPage(sessions: readonly Session[], requests: readonly Request[]): void {
    for (const session of sessions) if (!this.#changedIds?.has(session.id)) this.#sessions.set(session.id, session)
    for (const request of requests) if (!this.#changedIds?.has(request.id)) this.#addRequest(request)
  }
  finishLoading(): void {
    this.#changedIds = null
  }

  /** Applies the request from the reply to an answer. Ignores the reply if the inbox does not show the request as pending, because the event stream may have delivered a newer state. */
  addReply(request: Request): void {
    if (request.status === 'resolved' && this.#requests.get(request.id)?.status === 'pending') this.#set(request)
  }

  request(id: RequestId): Request | undefined {
    return this.#requests.get(id)
  }

  snapshot(): InboxStateSnapshot {
    const pending = [...this.#requests.values()].filter(request => request.status === 'pending')
    pending.sort(compareUrgency)
    const complete = this.#changedIds === null
    return {
      sessions: complete ? this.#withPendingCounts(pending) : new Map(this.#sessions),
      requests: new Map(this.#requests),
      order: pending.map(request => request.id),
      pendingCount: complete ? pending.length : Math.max(this.#pendingCount, pending.length),
      clockSkewMs: this.#clockSkewMs,
      blocks: new Map(this.#blocks),
      answering: new Map(this.#answering),
      complete,
    }
  }

  /** Computes the pending count of every session from its requests, because not every change of the count has a session event. */
  #withPendingCounts(pending: readonly Request[]): Map<SessionId, Session> {
    const counts = new Map<SessionId, number>()
    for (const { session } of pending) counts.set(session, (counts.get(session) ?? 0) + 1)
    const sessions = new Map(this.#sessions)
    for (const [id, session] of sessions) {
      const count = counts.get(id) ?? 0
      if (session.pending !== count) sessions.set(id, { ...session, pending: count })
    }
    this.#sessions = sessions
    return new Map(sessions)
  }

  #applyHello(hello: Hello): void {
    this.#clockSkewMs = hello.now - this.#now()
    this.#blocks = new Map(hello.blocks.map(block => [blockKey(block.session, block.block), block]))
    // The gateway does not repeat `answering` frames after a reconnect, so the known names may be outdated.
    this.#answering = new Map()
    if (hello.resume === 'ok') return
    this.#sessions = new Map(hello.sessions.map(session => [session.id, session]))
    this.#requests = new Map(hello.requests.map(request => [request.id, request]))
    this.#resolved = new Set()
    this.#pendingCount = hello.pending
    this.#changedIds = hello.more ? new Set() : null
  }

  #applyEvent(event: Event): void {
    switch (event.type) {
      case 'session.opened':
      case 'session.changed':
      case 'session.ended':
        this.#changedIds?.add(event.value.id)
        this.#sessions.set(event.value.id, event.value)
        if (event.type === 'session.ended') this.#dropBlocks(event.value.id)
        return
      case 'session.deleted':
        if (event.session) this.#removeSession(event.session)
        return
      case 'message.added':
        if (event.session) this.#applyMessage(event.session, event)
        return
      case 'tool.started':
      case 'tool.finished':
        if (event.session) this.#blocks.delete(blockKey(event.session, event.block))
        return
      case 'request.opened':
        this.#changedIds?.add(event.value.id)
        if (!this.#requests.has(event.value.id)) {
          this.#pendingCount++
          this.#startWaiting(event.value)
        }
        this.#addRequest(event.value)
        return
      case 'request.overdue':
        this.#changeRequest(event.request, { overdue: true })
        return
      case 'request.resolved':
        this.#answering.delete(event.request)
        this.#changeRequest(event.request, {
          status: 'resolved',
          resolution: event.resolution,
          delivery: event.delivery,
        })
        return
      case 'request.handed':
      case 'request.taken':
      case 'request.unknown':
      case 'request.undeliverable':
        this.#changeRequest(event.request, { delivery: event.delivery })
    }
  }

  /** Updates the last message of the session, because no session event follows a new message. */
  #applyMessage(id: SessionId, { block, role, text, at }: Extract<Event, { type: 'message.added' }>): void {
    this.#blocks.delete(blockKey(id, block))
    const session = this.#sessions.get(id)
    const trimmed = text.trim()
    if (!session || role !== 'agent' || !trimmed) return
    const lastMessage = truncateTitle(trimmed)
    this.#sessions.set(id, { ...session, lastMessage, lastMessageAt: at })
  }

  /** Notes that a session waits for people, because no session event follows a new request. */
  #startWaiting({ session: id, openedAt }: Request): void {
    const session = this.#sessions.get(id)
    if (session && session.waitingSince === undefined) this.#sessions.set(id, { ...session, waitingSince: openedAt })
  }
  /** Adds up how long a session has waited for people when its last pending request is resolved. */
  #stopWaiting({ session: id, resolution }: Request): void {
    const { waitingSince, waitedMs = 0, ...session } = this.#sessions.get(id) ?? {}
    if (!('id' in session) || waitingSince === undefined || !resolution) return
    const isOtherPending = [...this.#requests.values()].some(
      other => other.session === id && other.status === 'pending',
    )
    if (isOtherPending) return
    this.#sessions.set(id, { ...session, waitedMs: waitedMs + Math.max(0, resolution.at - waitingSince) })
  }

  /** Stores a request. A resolved request stays resolved, even if an older page or a late event contains it as pending. */
  #addRequest(request: Request): void {
    if (this.#requests.get(request.id)?.status !== 'resolved') this.#set(request)
  }

  #changeRequest(id: RequestId, change: Partial<Request>): void {
    this.#changedIds?.add(id)
    const request = this.#requests.get(id)
    if (request) this.#set(changedRequest(request, change))
    else if (change.status === 'resolved') this.#pendingCount--
  }

  #set(request: Request): void {
    const before = this.#requests.get(request.id)?.status
    this.#requests.set(request.id, request)
    if (request.status === 'pending') return
    if (before === 'pending') {
      this.#pendingCount--
      this.#stopWaiting(request)
    }
    this.#resolved.add(request.id)
    for (const oldest of this.#resolved) {
      if (this.#resolved.size <= resolvedMax) return
      this.#resolved.delete(oldest)
      this.#requests.delete(oldest)
    }
  }

  #dropBlocks(session: SessionId): void {
    for (const [key, block] of this.#blocks) if (block.session === session) this.#blocks.delete(key)
  }

  #removeSession(session: SessionId): void {
    this.#changedIds?.add(session)
    this.#sessions.delete(session)
    this.#dropBlocks(session)
    for (const [id, request] of this.#requests) {
      if (request.session !== session) continue
      this.#requests.delete(id)
      this.#resolved.delete(id)
    }
  }
}
