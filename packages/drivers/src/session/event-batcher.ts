/** Sends an agent's events to the gateway in order and in batches, and limits the rate of deltas. */
import { randomUUID } from 'node:crypto'
import { AgentEvent, type Clock, Fault, faultFromZod, limits } from '@holdpoint/protocol'
import { jsonCopy } from './json-copy.ts'

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}
interface QueuedEvent {
  event: AgentEvent
  size: number
  readonly waiters: Waiter[]
}
type DeltaEvent = Extract<AgentEvent, { readonly offset: number }>

const isDelta = (event: AgentEvent): event is DeltaEvent => 'offset' in event
/** Maximum size of a batch, well below the gateway's limit for one frame. A single larger event is sent alone. */
const postBytes = limits.inboundFrameMaxBytes / 2

export interface EventBatcherOptions {
  /** Sends a batch. A batch with events that are stored has an idempotency key; one of deltas alone can be sent twice. */
  readonly post: (items: AgentEvent[], idempotencyKey: string | undefined) => Promise<unknown>
  readonly clock: Clock
}

export class EventBatcher {
  readonly #post: EventBatcherOptions['post']
  readonly #clock: Clock
  readonly #queue: QueuedEvent[] = []
  #isSending = false
  /** The idempotency key of the call that is running, if the call only stores events. */
  #runningKey: string | null = null
  #onAllSent: (() => void)[] = []
  #skipDeltaPause = false
  #endDeltaPause = () => {}
  #nextDeltaAt = 0
  #last: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | null = null

  constructor({ post, clock }: EventBatcherOptions) {
    this.#post = post
    this.#clock = clock
  }

  /** Resolves when the last event is committed. If one event is malformed, none is sent. */
  push(events: readonly AgentEvent[]): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure.error)
    if (events.length === 0) return this.#last
    let entries: QueuedEvent[]
    try {
      entries = events.map(toQueuedEvent)
    } catch (error) {
      return Promise.reject(error)
    }
    this.#last = new Promise<void>((resolve, reject) => {
      entries.at(-1)?.waiters.push({ resolve, reject })
    })
    // Callers that await the promise get the error. If nobody awaits the promise, its rejection must not count as unhandled.
    this.#last.catch(() => {})
    for (const entry of entries) this.#enqueue(entry)
    if (events.some(event => !isDelta(event))) this.#sendNow()
    if (!this.#isSending) void this.#sendQueue()
    return this.#last
  }

  /** Resolves when all events so far are committed. */
  flush(): Promise<void> {
    if (this.#queue.length > 0) this.#sendNow()
    return this.#last
  }

  /** Resolves when all events so far are committed or sent, with the idempotency key of the call that still runs, or null if none does. Deltas of that call would be applied after its commit, so such a call is waited for. */
  async sent(): Promise<string | null> {
    if (this.#queue.length > 0) {
      this.#sendNow()
      await new Promise<void>(resolve => this.#onAllSent.push(resolve))
    }
    if (this.#runningKey !== null) return this.#runningKey
    await this.#last
    return null
  }

  #sendNow(): void {
    this.#skipDeltaPause = true
    this.#endDeltaPause()
  }

  #enqueue(entry: QueuedEvent): void {
    const before = this.#queue.at(-1)
    if (before && isDelta(before.event) && isDelta(entry.event) && continues(before.event, entry.event)) {
      before.event = { ...before.event, text: before.event.text + entry.event.text }
      before.size += entry.size
      before.waiters.push(...entry.waiters)
    } else this.#queue.push(entry)
  }

  async #sendQueue(): Promise<void> {
    this.#isSending = true
    while (this.#queue.length > 0) {
      await this.#pauseBetweenDeltas()
      const batch = this.#nextBatch()
      const hasDeltas = batch.some(entry => isDelta(entry.event))
      const key = batch.every(entry => isDelta(entry.event)) ? undefined : randomUUID()
      try {
        const posted = this.#post(
          batch.map(entry => entry.event),
          key,
        )
        this.#runningKey = hasDeltas ? null : (key ?? null)
        if (this.#queue.length === 0) this.#reportAllSent()
        await posted
      } catch (error) {
        this.#runningKey = null
        // After a failure, the batcher sends nothing more, because later events must not be stored without the earlier events.
        this.#failure = { error }
        for (const entry of [...batch, ...this.#queue.splice(0)]) for (const { reject } of entry.waiters) reject(error)
        this.#reportAllSent()
        return
      }
      this.#runningKey = null
      if (hasDeltas) this.#nextDeltaAt = this.#clock.now() + limits.deltaIntervalMs
      for (const entry of batch) for (const { resolve } of entry.waiters) resolve()
    }
    this.#isSending = false
  }

  #reportAllSent(): void {
    for (const resolve of this.#onAllSent.splice(0)) resolve()
  }

  /** Delays deltas until the interval has passed. An event that must be stored ends the delay and is sent together with the deltas before it. */
  async #pauseBetweenDeltas(): Promise<void> {
    const waitMs = this.#nextDeltaAt - this.#clock.now()
    if (this.#skipDeltaPause || waitMs <= 0) return
    await new Promise<void>(resolve => {
      const cancel = this.#clock.after(waitMs, resolve)
      this.#endDeltaPause = () => {
        cancel()
        resolve()
      }
    })
    this.#endDeltaPause = () => {}
  }

  #nextBatch(): QueuedEvent[] {
    let count = 0
    let bytes = 0
    for (const entry of this.#queue) {
      bytes += entry.size
      if (count > 0 && (bytes > postBytes || count === limits.eventsPerPostMax)) break
      count++
    }
    const batch = this.#queue.splice(0, count)
    if (this.#queue.length === 0) this.#skipDeltaPause = false
    return batch
  }
}

function toQueuedEvent(event: AgentEvent): QueuedEvent {
  const parsed = AgentEvent.safeParse(event)
  if (!parsed.success) throw faultFromZod(parsed.error, 'The event')
  const copy = jsonCopy(event, 'the event') as AgentEvent // `safeParse` accepted the event above
  const size = Buffer.byteLength(JSON.stringify(copy))
  if (size > limits.bodyMaxBytes / 2)
    throw new Fault('body_too_large', `A ${event.type} event of ${size} bytes is too large; send it in smaller parts`)
  return { event: copy, size, waiters: [] }
}

function continues(before: DeltaEvent, next: DeltaEvent): boolean {
  return (
    before.type === next.type &&
    before.block === next.block &&
    before.offset + before.text.length === next.offset &&
    before.text.length + next.text.length <= limits.textMax
  )
}
