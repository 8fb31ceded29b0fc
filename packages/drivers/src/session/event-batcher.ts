/** What an agent says, on its way: in order, in batches, live text at a bounded rate. */

import { AgentEvent, type Clock, Fault, faultFromZod, limits } from '@holdpoint/protocol'
import { jsonCopy } from '../generator/json-copy.ts'

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}
interface Entry {
  saying: AgentEvent
  size: number
  readonly waiters: Waiter[]
}
type DeltaSaying = Extract<AgentEvent, { readonly offset: number }>

const isDelta = (saying: AgentEvent): saying is DeltaSaying => 'offset' in saying
/** One post stays well below an inbound frame, unless a single saying is larger. */
const postBytes = limits.inboundFrameMaxBytes / 2

export interface EventBatcherOptions {
  readonly post: (items: AgentEvent[]) => Promise<unknown>
  readonly clock: Clock
}

export class EventBatcher {
  readonly #post: EventBatcherOptions['post']
  readonly #clock: Clock
  readonly #queue: Entry[] = []
  #pumping = false
  #hurry = false
  #wake = () => {}
  #nextDeltaAt = 0
  #last: Promise<void> = Promise.resolve()
  #broken: { readonly error: unknown } | null = null

  constructor({ post, clock }: EventBatcherOptions) {
    this.#post = post
    this.#clock = clock
  }

  /** Resolves when the last of them is committed. A malformed saying refuses them all; nothing of it is sent. */
  push(sayings: readonly AgentEvent[]): Promise<void> {
    if (this.#broken) return Promise.reject(this.#broken.error)
    if (sayings.length === 0) return this.#last
    let entries: Entry[]
    try {
      entries = sayings.map(weigh)
    } catch (error) {
      return Promise.reject(error)
    }
    this.#last = new Promise<void>((resolve, reject) => {
      entries.at(-1)?.waiters.push({ resolve, reject })
    })
    // Whoever waits hears of a failure; that nobody waits is not an error of its own.
    this.#last.catch(() => {})
    for (const entry of entries) this.#enqueue(entry)
    if (sayings.some(saying => !isDelta(saying))) this.#rush()
    if (!this.#pumping) void this.#pump()
    return this.#last
  }

  /** Resolves when everything that was said is committed. */
  flush(): Promise<void> {
    if (this.#queue.length > 0) this.#rush()
    return this.#last
  }

  #rush(): void {
    this.#hurry = true
    this.#wake()
  }

  #enqueue(entry: Entry): void {
    const before = this.#queue.at(-1)
    if (before && isDelta(before.saying) && isDelta(entry.saying) && continues(before.saying, entry.saying)) {
      before.saying = { ...before.saying, text: before.saying.text + entry.saying.text }
      before.size += entry.size
      before.waiters.push(...entry.waiters)
    } else this.#queue.push(entry)
  }

  async #pump(): Promise<void> {
    this.#pumping = true
    while (this.#queue.length > 0) {
      await this.#deltaTurn()
      const batch = this.#take()
      try {
        await this.#post(batch.map(entry => entry.saying))
      } catch (error) {
        // What was said later must not overtake what could not be said.
        this.#broken = { error }
        for (const entry of [...batch, ...this.#queue.splice(0)]) for (const { reject } of entry.waiters) reject(error)
        return
      }
      if (batch.some(entry => isDelta(entry.saying))) this.#nextDeltaAt = this.#clock.now() + limits.deltaIntervalMs
      for (const entry of batch) for (const { resolve } of entry.waiters) resolve()
    }
    this.#pumping = false
  }

  /** Live text waits for its turn; anything that is kept goes at once and takes the text before it along. */
  async #deltaTurn(): Promise<void> {
    const waitMs = this.#nextDeltaAt - this.#clock.now()
    if (this.#hurry || waitMs <= 0) return
    await new Promise<void>(resolve => {
      const cancel = this.#clock.after(waitMs, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
    this.#wake = () => {}
  }

  #take(): Entry[] {
    let count = 0
    let bytes = 0
    for (const entry of this.#queue) {
      bytes += entry.size
      if (count > 0 && (bytes > postBytes || count === limits.eventsPerPostMax)) break
      count++
    }
    const batch = this.#queue.splice(0, count)
    if (this.#queue.length === 0) this.#hurry = false
    return batch
  }
}

function weigh(saying: AgentEvent): Entry {
  const parsed = AgentEvent.safeParse(saying)
  if (!parsed.success) throw faultFromZod(parsed.error, 'what the agent says')
  const copy = jsonCopy(saying, 'what the agent says') as AgentEvent // it is one, by the parse above
  const size = Buffer.byteLength(JSON.stringify(copy))
  if (size > limits.bodyMaxBytes / 2)
    throw new Fault('body_too_large', `A ${saying.type} of ${size} bytes is too large to be kept; say less at once`)
  return { saying: copy, size, waiters: [] }
}

function continues(before: DeltaSaying, next: DeltaSaying): boolean {
  return (
    before.type === next.type &&
    before.block === next.block &&
    before.offset + before.text.length === next.offset &&
    before.text.length + next.text.length <= limits.textMax
  )
}
