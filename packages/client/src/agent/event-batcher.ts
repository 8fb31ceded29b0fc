/** Sends an agent's events to the gateway in order and in batches, alone or together with a request, and limits the rate of deltas. */
import { AgentEvent, type Clock, Fault, faultFromZod, limits, type StoredAgentEvent } from '@holdpoint/protocol'
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
/** A call that is made after all events before it in the queue, and that can store these events itself. */
interface QueuedCall {
  readonly run: (events: StoredAgentEvent[]) => Promise<void>
  readonly reject: (error: unknown) => void
}
type DeltaEvent = Exclude<AgentEvent, StoredAgentEvent>

const isDelta = (event: AgentEvent): event is DeltaEvent => 'offset' in event
const isCall = (entry: QueuedEvent | QueuedCall | undefined): entry is QueuedCall =>
  entry !== undefined && 'run' in entry
/** Maximum size of a batch, well below the gateway's limit for one frame. A single larger event is sent alone. */
const postBytes = limits.inboundFrameMaxBytes / 2
/** Maximum size of the events that a call can store itself. */
const bytesInCall = limits.inboundFrameMaxBytes / 8

export interface EventBatcherOptions {
  /** Sends a batch. A batch with an event that is stored has an idempotency key. A batch of deltas has none, because it may be sent twice. */
  readonly post: (items: AgentEvent[], idempotencyKey: string | undefined) => Promise<unknown>
  readonly clock: Clock
}

export class EventBatcher {
  readonly #post: EventBatcherOptions['post']
  readonly #clock: Clock
  readonly #queue: (QueuedEvent | QueuedCall)[] = []
  #isSending = false
  #skipDeltaPause = false
  #endDeltaPause = () => {}
  #endTick = () => {}
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

  /** Makes a call after all events so far. The call gets the events that are not sent yet, and must store them first. If the gateway refuses the call, the batcher sends the events alone, and then repeats the call without them. */
  call<T>(make: (events: StoredAgentEvent[]) => Promise<T>): Promise<T> {
    if (this.#failure) return Promise.reject(this.#failure.error)
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run: async events => resolve(await make(events)), reject })
      this.#sendNow()
      this.#endTick()
      if (!this.#isSending) void this.#sendQueue()
    })
  }

  #sendNow(): void {
    this.#skipDeltaPause = true
    this.#endDeltaPause()
  }

  #enqueue(entry: QueuedEvent): void {
    const before = this.#queue.at(-1)
    const joined = before && !isCall(before) && joinDeltas(before.event, entry.event)
    if (!joined) {
      this.#queue.push(entry)
      return
    }
    before.event = joined
    before.size += entry.size
    before.waiters.push(...entry.waiters)
  }

  async #sendQueue(): Promise<void> {
    this.#isSending = true
    while (this.#queue.length > 0) {
      await this.#pauseBetweenDeltas()
      await this.#endOfTick()
      const batch = this.#nextBatch()
      const call = isCall(this.#queue[0]) ? (this.#queue.shift() as QueuedCall) : null // the check has shown that it is a call
      if (this.#queue.length === 0) this.#skipDeltaPause = false
      try {
        if (!call) await this.#send(batch)
        else if (!(await this.#isTaken(call, batch))) {
          await this.#send(batch)
          // Later events need not wait for a call that stores no events.
          call.run([]).catch(call.reject)
        }
      } catch (error) {
        call?.reject(error)
        this.#fail(error, batch)
        return
      }
      for (const { waiters } of batch) for (const { resolve } of waiters) resolve()
    }
    this.#isSending = false
  }

  /** Makes the call with the events. Returns false if the call cannot store them, or if the gateway has refused the call. */
  async #isTaken(call: QueuedCall, batch: readonly QueuedEvent[]): Promise<boolean> {
    const events = takenEvents(batch)
    if (events.length === 0) return false
    try {
      await call.run(events)
      return true
    } catch (error) {
      if (error instanceof Fault) return false
      throw error
    }
  }

  async #send(batch: readonly QueuedEvent[]): Promise<void> {
    if (batch.length === 0) return
    const events = batch.map(({ event }) => event)
    await this.#post(events, events.every(isDelta) ? undefined : crypto.randomUUID())
    if (events.some(isDelta)) this.#nextDeltaAt = this.#clock.now() + limits.deltaIntervalMs
  }

  /** After a failure, the batcher sends nothing more, because later events must not be stored without the earlier events. */
  #fail(error: unknown, batch: readonly QueuedEvent[]): void {
    this.#failure = { error }
    for (const entry of [...batch, ...this.#queue.splice(0)]) {
      if (isCall(entry)) entry.reject(error)
      else for (const { reject } of entry.waiters) reject(error)
    }
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

  /** Resolves at the end of this tick of the event loop, or when a call is made. Many agents ask right after they have reported what they do, and the gateway then stores both at once. */
  async #endOfTick(): Promise<void> {
    if (this.#queue.some(isCall)) return
    await new Promise<void>(resolve => {
      const immediate = setImmediate(resolve)
      this.#endTick = () => {
        clearImmediate(immediate)
        resolve()
      }
    })
    this.#endTick = () => {}
  }

  /** Returns the events up to the next call, as far as they fit into one batch. */
  #nextBatch(): QueuedEvent[] {
    const batch: QueuedEvent[] = []
    let bytes = 0
    for (const entry of this.#queue) {
      if (isCall(entry)) break
      bytes += entry.size
      if (batch.length > 0 && (bytes > postBytes || batch.length === limits.eventsPerPostMax)) break
      batch.push(entry)
    }
    this.#queue.splice(0, batch.length)
    return batch
  }
}

/** Returns the events of a batch that a call can store itself, or none if the call cannot store all of them. The text of a stored block replaces its deltas. */
function takenEvents(batch: readonly QueuedEvent[]): StoredAgentEvent[] {
  const events = batch.map(({ event }) => event)
  const stored = events.filter((event): event is StoredAgentEvent => !isDelta(event))
  const blocks = new Set(stored.map(event => ('block' in event ? event.block : undefined)))
  const isComplete = events.every(event => !isDelta(event) || blocks.has(event.block))
  const bytes = batch.reduce((sum, { size }) => sum + size, 0)
  return isComplete && bytes <= bytesInCall ? stored : []
}

function toQueuedEvent(event: AgentEvent): QueuedEvent {
  const parsed = AgentEvent.safeParse(event)
  if (!parsed.success) throw faultFromZod(parsed.error, 'The event')
  const copy = jsonCopy(event, 'the event') as AgentEvent // `safeParse` accepted the event above
  const size = new TextEncoder().encode(JSON.stringify(copy)).length
  if (size > limits.bodyMaxBytes / 2)
    throw new Fault('body_too_large', `A ${event.type} event of ${size} bytes is too large; send it in smaller parts`)
  return { event: copy, size, waiters: [] }
}

/** Returns both deltas as one, or null if the second does not continue the first. */
function joinDeltas(before: AgentEvent, next: AgentEvent): DeltaEvent | null {
  if (!isDelta(before) || !isDelta(next)) return null
  const isContinued =
    before.type === next.type &&
    before.block === next.block &&
    before.offset + before.text.length === next.offset &&
    before.text.length + next.text.length <= limits.textMax
  return isContinued ? { ...before, text: before.text + next.text } : null
}
