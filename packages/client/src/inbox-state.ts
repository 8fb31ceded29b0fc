/** What frames add up to: sessions, pending and lately resolved requests, blocks under way. Folding a frame twice changes nothing. */
import {
  type Event,
  type Frame,
  type Hello,
  limits,
  type Request,
  type RequestId,
  type Session,
  type SessionId,
  type StreamingBlock,
} from '@holdpoint/protocol'

export interface InboxStateSnapshot {
  readonly sessions: ReadonlyMap<SessionId, Session>
  /** Pending ones, and those resolved lately. */
  readonly requests: ReadonlyMap<RequestId, Request>
  /** Pending requests, the one that has waited longest first. */
  readonly order: readonly RequestId[]
  /** Of all that are pending, also where not all are here yet. */
  readonly pendingCount: number
  /** What to add to this machine's clock to get the gateway's. */
  readonly clockSkewMs: number
  /** By session and block, as `blockKey` spells it. */
  readonly blocks: ReadonlyMap<string, StreamingBlock>
  /** Who else is writing an answer. */
  readonly answering: ReadonlyMap<RequestId, readonly string[]>
  /** False while a large snapshot is still being fetched. */
  readonly complete: boolean
}

export function blockKey(session: SessionId, block: string): string {
  return `${session}/${block}`
}

const resolvedKept = 50

export class InboxState {
  readonly #now: () => number
  #sessions = new Map<SessionId, Session>()
  #requests = new Map<RequestId, Request>()
  /** In the order of their resolution. */
  #resolved = new Set<RequestId>()
  #blocks = new Map<string, StreamingBlock>()
  #answering = new Map<RequestId, readonly string[]>()
  #clockSkewMs = 0
  #pendingSaid = 0
  /** While the rest of a snapshot is fetched: what events have spoken of since, which a page read earlier must not undo. */
  #touched: Set<string> | null = null

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  apply(frame: Frame): void {
    switch (frame.frame) {
      case 'hello':
        this.#greet(frame.hello)
        return
      case 'event':
        this.#fold(frame.event)
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
        const others = (this.#answering.get(frame.request) ?? []).filter(person => person !== frame.person)
        const people = frame.active ? [...others, frame.person] : others
        if (people.length > 0) this.#answering.set(frame.request, people)
        else this.#answering.delete(frame.request)
      }
    }
  }

  /** A page of the snapshot's rest. */
  fill(sessions: readonly Session[], requests: readonly Request[]): void {
    for (const session of sessions) if (!this.#touched?.has(session.id)) this.#sessions.set(session.id, session)
    for (const request of requests) if (!this.#touched?.has(request.id)) this.#open(request)
  }
  complete(): void {
    this.#touched = null
  }

  /** A request as an answer's reply shows it; the stream may have told more of it already. */
  learn(request: Request): void {
    if (request.status === 'resolved' && this.#requests.get(request.id)?.status === 'pending') this.#keep(request)
  }

  request(id: RequestId): Request | undefined {
    return this.#requests.get(id)
  }

  snapshot(): InboxStateSnapshot {
    const pending = [...this.#requests.values()].filter(request => request.status === 'pending')
    pending.sort((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1))
    const complete = this.#touched === null
    return {
      sessions: complete ? this.#counted(pending) : new Map(this.#sessions),
      requests: new Map(this.#requests),
      order: pending.map(request => request.id),
      pendingCount: complete ? pending.length : Math.max(this.#pendingSaid, pending.length),
      clockSkewMs: this.#clockSkewMs,
      blocks: new Map(this.#blocks),
      answering: new Map(this.#answering),
      complete,
    }
  }

  /** Not every change of a session's count is told by an event of the session; its requests tell it. */
  #counted(pending: readonly Request[]): Map<SessionId, Session> {
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

  #greet(hello: Hello): void {
    this.#clockSkewMs = hello.now - this.#now()
    this.#blocks = new Map(hello.blocks.map(block => [blockKey(block.session, block.block), block]))
    // Frames of the moment that were missed are not repeated: who was answering may have stopped.
    this.#answering = new Map()
    if (hello.resume === 'ok') return
    this.#sessions = new Map(hello.sessions.map(session => [session.id, session]))
    this.#requests = new Map(hello.requests.map(request => [request.id, request]))
    this.#resolved = new Set()
    this.#pendingSaid = hello.pending
    this.#touched = hello.more ? new Set() : null
  }

  #fold(event: Event): void {
    switch (event.type) {
      case 'session.opened':
      case 'session.changed':
      case 'session.ended':
        this.#touched?.add(event.value.id)
        this.#sessions.set(event.value.id, event.value)
        if (event.type === 'session.ended') this.#dropBlocks(event.value.id)
        return
      case 'session.deleted':
        if (event.session) this.#forget(event.session)
        return
      case 'message.added':
        if (event.session) this.#hear(event.session, event)
        return
      case 'tool.started':
      case 'tool.finished':
        if (event.session) this.#blocks.delete(blockKey(event.session, event.block))
        return
      case 'request.opened':
        this.#touched?.add(event.value.id)
        if (!this.#requests.has(event.value.id)) this.#pendingSaid++
        this.#open(event.value)
        return
      case 'request.overdue':
        this.#change(event.request, { overdue: true })
        return
      case 'request.resolved':
        this.#answering.delete(event.request)
        this.#change(event.request, {
          status: 'resolved',
          resolution: event.resolution,
          delivery: event.delivery,
        })
        return
      case 'request.handed':
      case 'request.taken':
      case 'request.unknown':
      case 'request.undeliverable':
        this.#change(event.request, { delivery: event.delivery })
    }
  }

  /** A session's last words change with what its agent says; no event of the session repeats them. */
  #hear(id: SessionId, { block, role, text }: Extract<Event, { type: 'message.added' }>): void {
    this.#blocks.delete(blockKey(id, block))
    const session = this.#sessions.get(id)
    const words = text.trim()
    if (!session || role !== 'agent' || !words) return
    const lastMessage = words.length > limits.titleMax ? `${words.slice(0, limits.titleMax - 1)}…` : words
    this.#sessions.set(id, { ...session, lastMessage })
  }

  /** What is known as resolved stays so, whatever an older page or a late event says. */
  #open(request: Request): void {
    if (this.#requests.get(request.id)?.status !== 'resolved') this.#keep(request)
  }

  #change(id: RequestId, change: Partial<Request>): void {
    this.#touched?.add(id)
    const request = this.#requests.get(id)
    if (request) this.#keep({ ...request, ...change })
    else if (change.status === 'resolved') this.#pendingSaid--
  }

  #keep(request: Request): void {
    const before = this.#requests.get(request.id)?.status
    this.#requests.set(request.id, request)
    if (request.status === 'pending') return
    if (before === 'pending') this.#pendingSaid--
    this.#resolved.add(request.id)
    for (const oldest of this.#resolved) {
      if (this.#resolved.size <= resolvedKept) return
      this.#resolved.delete(oldest)
      this.#requests.delete(oldest)
    }
  }

  #dropBlocks(session: SessionId): void {
    for (const [key, block] of this.#blocks) if (block.session === session) this.#blocks.delete(key)
  }

  #forget(session: SessionId): void {
    this.#touched?.add(session)
    this.#sessions.delete(session)
    this.#dropBlocks(session)
    for (const [id, request] of this.#requests) {
      if (request.session !== session) continue
      this.#requests.delete(id)
      this.#resolved.delete(id)
    }
  }
}
