/** Publishes every committed event once and in order, to subscribers and to long polls that wait for a topic. Notifications from other gateways only trigger a read of the log (G3). */
import { type Clock, formatCursor, type SessionId } from '@holdpoint/protocol'
import type { FrameListener, SerializedFrame } from './gateway.ts'
import { scanEvents } from './paging.ts'
import type { Store, StoredEvent } from './store.ts'

export function eventFrame(event: StoredEvent): SerializedFrame {
  const cursor = formatCursor(event.epoch, event.seq)
  // `event.text` is the JSON of the body, so it becomes part of the frame without being parsed.
  const json = `{"frame":"event","event":{"cursor":"${cursor}","at":${event.at},"session":${event.session ? `"${event.session}"` : 'null'},${event.text.slice(1)}}`
  return { cursor, session: event.session, json }
}

export class Feed {
  readonly #store: Store
  readonly #clock: Clock
  readonly #subscribers = new Map<FrameListener, SessionId | null>()
  readonly #waiters = new Map<string, Set<() => void>>()
  readonly #eventListeners = new Set<(event: StoredEvent) => void>()
  readonly #stop: () => void
  #seq: number
  #epoch: string
  #catchingUp: Promise<void> | null = null
  #catchUpAgain = false

  constructor(store: Store, clock: Clock, head: { readonly seq: number; readonly epoch: string }) {
    this.#store = store
    this.#clock = clock
    this.#seq = head.seq
    this.#epoch = head.epoch
    this.#stop = store.onCommit(events => this.#onCommit(events))
  }

  /** The seq and the epoch of the last published event. */
  get position(): { readonly seq: number; readonly epoch: string } {
    return { seq: this.#seq, epoch: this.#epoch }
  }
  close(): void {
    this.#stop()
    for (const topic of [...this.#waiters.keys()]) this.wake(topic)
  }

  /** Calls the listener with every event before subscribers receive that event. */
  onEvent(listener: (event: StoredEvent) => void): void {
    this.#eventListeners.add(listener)
  }
  subscribe(listener: FrameListener, session: SessionId | null): () => void {
    this.#subscribers.set(listener, session)
    return () => this.#subscribers.delete(listener)
  }
  send(frame: SerializedFrame): void {
    for (const [listener, session] of this.#subscribers)
      if (session === null || session === frame.session) listener.frame(frame)
  }

  /** Registers the waiter synchronously, so that no event between this call and a later read is missed. */
  waitFor(topic: string): { readonly woken: Promise<void>; cancel(): void } {
    let wake = () => {}
    const woken = new Promise<void>(resolve => {
      wake = resolve
    })
    const waiters = this.#waiters.get(topic) ?? new Set()
    this.#waiters.set(topic, waiters.add(wake))
    const cancel = () => {
      if (!waiters.delete(wake)) return
      if (waiters.size === 0 && this.#waiters.get(topic) === waiters) this.#waiters.delete(topic)
      wake()
    }
    return { woken, cancel }
  }
  wake(topic: string): void {
    const waiters = this.#waiters.get(topic)
    if (!waiters) return
    this.#waiters.delete(topic)
    for (const wake of waiters) wake()
    waiters.clear()
  }

  #onCommit(events: readonly StoredEvent[] | null): void {
    const next = events?.[0]
    if (events && !next) return
    if (!this.#catchingUp && events && next && next.seq === this.#seq + 1)
      for (const event of events) this.#publish(event)
    else this.#catchUp()
  }
  /** Publishes the events after the current position. Another gateway may have written them. */
  #catchUp(): void {
    this.#catchUpAgain = true
    this.#catchingUp ??= this.#readNewEvents().finally(() => {
      this.#catchingUp = null
      if (this.#catchUpAgain) this.#catchUp()
    })
  }
  async #readNewEvents(): Promise<void> {
    while (this.#catchUpAgain) {
      this.#catchUpAgain = false
      try {
        const source = { store: this.#store, clock: this.#clock }
        for await (const event of scanEvents(source, { after: this.#seq })) this.#publish(event)
      } catch {
        return // The store is unreachable. Its next notification or poll starts another read.
      }
    }
  }
  #publish(event: StoredEvent): void {
    this.#seq = event.seq
    this.#epoch = event.epoch
    for (const listener of this.#eventListeners) listener(event)
    for (const topic of topicsOf(event)) this.wake(topic)
    if (this.#subscribers.size > 0) this.send(eventFrame(event))
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
