/** The feed: every committed event, once and in order, to watchers and to whoever waits for a topic. A hint only ever makes it look (G3). */
import { Fault, formatCursor, limits, type SessionId } from '@holdpoint/protocol'
import type { FrameListener, SerializedFrame } from './gateway.ts'
import { scanEvents } from './paging.ts'
import type { Store, StoredEvent } from './store.ts'

export function frameOf(event: StoredEvent): SerializedFrame {
  const cursor = formatCursor(event.epoch, event.seq)
  // The stored text is the body's JSON: the frame is made around it, not parsed and printed again.
  const json = `{"frame":"event","event":{"cursor":"${cursor}","at":${event.at},"session":${event.session ? `"${event.session}"` : 'null'},${event.text.slice(1)}}`
  return { cursor, session: event.session, json }
}

export class Feed {
  readonly #store: Store
  readonly #watchers = new Map<FrameListener, SessionId | null>()
  readonly #waiters = new Map<string, Set<() => void>>()
  readonly #taps = new Set<(event: StoredEvent) => void>()
  readonly #stop: () => void
  #waiting = 0
  #seq: number
  #epoch: string
  #pulling: Promise<void> | null = null
  #pullAgain = false

  constructor(store: Store, head: { readonly seq: number; readonly epoch: string }) {
    this.#store = store
    this.#seq = head.seq
    this.#epoch = head.epoch
    this.#stop = store.onCommit(events => this.#heard(events))
  }

  /** The place up to which everything has been published, and the epoch of that place. */
  get position(): { readonly seq: number; readonly epoch: string } {
    return { seq: this.#seq, epoch: this.#epoch }
  }
  close(): void {
    this.#stop()
    for (const topic of [...this.#waiters.keys()]) this.wake(topic)
  }

  /** Sees every event before watchers do. */
  tap(see: (event: StoredEvent) => void): void {
    this.#taps.add(see)
  }
  watch(watcher: FrameListener, session: SessionId | null): () => void {
    if (this.#watchers.size >= limits.subscriptionsMax)
      throw new Fault('too_many', `${limits.subscriptionsMax} streams are open; close some and try again`)
    this.#watchers.set(watcher, session)
    return () => this.#watchers.delete(watcher)
  }
  get watched(): boolean {
    return this.#watchers.size > 0
  }
  send(frame: SerializedFrame): void {
    for (const [watcher, only] of this.#watchers) if (only === null || only === frame.session) watcher.frame(frame)
  }

  /** Registers before it returns, so that what is read afterwards cannot have missed anything. */
  waitFor(topic: string): { readonly woken: Promise<void>; cancel(): void } {
    if (this.#waiting >= limits.longPollsMax)
      throw new Fault('too_many', `${limits.longPollsMax} calls wait already; try again later`)
    let wake = () => {}
    const woken = new Promise<void>(resolve => {
      wake = resolve
    })
    const waiters = this.#waiters.get(topic) ?? new Set()
    this.#waiters.set(topic, waiters.add(wake))
    this.#waiting++
    const cancel = () => {
      if (!waiters.delete(wake)) return
      this.#waiting--
      if (waiters.size === 0 && this.#waiters.get(topic) === waiters) this.#waiters.delete(topic)
      wake()
    }
    return { woken, cancel }
  }
  wake(topic: string): void {
    const waiters = this.#waiters.get(topic)
    if (!waiters) return
    this.#waiters.delete(topic)
    this.#waiting -= waiters.size
    for (const wake of waiters) wake()
    waiters.clear()
  }

  #heard(events: readonly StoredEvent[] | null): void {
    const next = events?.[0]
    if (events && !next) return
    if (!this.#pulling && events && next && next.seq === this.#seq + 1) for (const event of events) this.#publish(event)
    else this.#pull()
  }
  /** Another gateway has written in between, or may have: read on from where we are. */
  #pull(): void {
    this.#pullAgain = true
    this.#pulling ??= this.#readOn().finally(() => {
      this.#pulling = null
      if (this.#pullAgain) this.#pull()
    })
  }
  async #readOn(): Promise<void> {
    while (this.#pullAgain) {
      this.#pullAgain = false
      try {
        for await (const event of scanEvents(this.#store, { after: this.#seq })) this.#publish(event)
      } catch {
        return // The store is away: its next hint or poll makes us look again.
      }
    }
  }
  #publish(event: StoredEvent): void {
    this.#seq = event.seq
    this.#epoch = event.epoch
    for (const see of this.#taps) see(event)
    for (const topic of topicsOf(event)) this.wake(topic)
    if (this.#watchers.size > 0) this.send(frameOf(event))
  }
}

function topicsOf({ body, session }: StoredEvent): string[] {
  switch (body.type) {
    case 'request.resolved':
      return [`request:${body.request}`, 'work']
    case 'command.added':
      return [`commands:${session}`, 'work']
    case 'session.opened':
    case 'session.changed':
      return ['work']
    case 'session.ended':
    case 'session.deleted':
      return [`commands:${session}`, 'work']
    default:
      return []
  }
}
