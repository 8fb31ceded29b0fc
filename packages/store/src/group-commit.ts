/** Group commit: changes wait in a queue, and a batch takes all that wait, decides them one after another and is written at once. */
import type { Change, CrashPoint, StoredEvent } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import type { BatchOverlay } from './batch-overlay.ts'

/** So many changes share one flush at most: the first of them does not wait for thousands. */
const batchMax = 512

type Outcome = { readonly result: unknown } | { readonly thrown: unknown }

/** A change and whoever waits for it. */
export interface QueuedChange {
  readonly change: Change<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (thrown: unknown) => void
  outcome: Outcome | undefined
}

/** Makes a batch durable, all of it or nothing, and returns how many changes it took and the events it wrote; null where nothing was to be written. */
export type Write = (batch: readonly QueuedChange[]) => Promise<Written> | Written
export interface Written {
  readonly taken: number
  readonly events: readonly StoredEvent[] | null
}
export type Listener = (events: readonly StoredEvent[] | null) => void

export class GroupCommit {
  readonly #write: Write
  readonly #crashPoint: CrashPoint | undefined
  readonly #listeners = new Set<Listener>()
  #waiting: QueuedChange[] = []
  #busy = false
  #closed = false
  #idle: (() => void)[] = []

  constructor(write: Write, crashPoint: CrashPoint | undefined) {
    this.#write = write
    this.#crashPoint = crashPoint
  }

  commit<T>(change: Change<T>): Promise<T> {
    if (this.#closed)
      return Promise.reject(new Fault('store_unavailable', `The store is closed: ${change.label} was not kept.`))
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject, outcome: undefined })
      this.#schedule()
    })
  }

  onCommit(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(events: readonly StoredEvent[] | null): void {
    for (const listener of this.#listeners) {
      try {
        listener(events)
      } catch (bug) {
        // What is committed must still be told to those who wait for it; the bug ends the process all the same.
        setImmediate(() => {
          throw bug
        })
      }
    }
  }

  get busy(): boolean {
    return this.#busy
  }

  /** Takes nothing more, and resolves when everything taken has been written. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#busy) await new Promise<void>(resolve => this.#idle.push(resolve))
  }

  /** In the next turn: everything that arrives in this one shares the flush. */
  #schedule(): void {
    if (this.#busy) return
    this.#busy = true
    setImmediate(() => void this.#turn())
  }

  async #turn(): Promise<void> {
    const batch = this.#waiting.length <= batchMax ? this.#waiting : this.#waiting.slice(0, batchMax)
    this.#waiting = this.#waiting.slice(batch.length)
    await this.#settle(batch)
    this.#busy = false
    if (this.#waiting.length > 0) this.#schedule()
    else for (const idle of this.#idle.splice(0)) idle()
  }

  async #settle(batch: readonly QueuedChange[]): Promise<void> {
    let written: Written
    try {
      const writing = this.#write(batch)
      written = writing instanceof Promise ? await writing : writing
    } catch (thrown) {
      // One change that cannot be written must not take the others with it; a store that is gone takes all.
      if (thrown instanceof Fault || batch.length === 1) for (const { reject } of batch) reject(thrown)
      else for (const waiting of batch) await this.#settle([waiting])
      return
    }
    const taken = batch.slice(0, written.taken)
    this.#waiting = [...batch.slice(written.taken), ...this.#waiting]
    if (written.events) {
      if (this.#crashPoint) for (const { change } of taken) this.#crashPoint(`committed:${change.label}`)
      this.tell(written.events)
    }
    for (const { outcome, resolve, reject } of taken) {
      if (outcome && 'result' in outcome)
        resolve(outcome.result as never) // what this change's own decide returned
      else reject(outcome?.thrown)
    }
  }
}

/** Decides a batch, in order; returns how many of it could be decided together. */
export function applyBatch(
  batch: readonly QueuedChange[],
  ledger: BatchOverlay,
  crashPoint: CrashPoint | undefined,
): number {
  for (const [index, waiting] of batch.entries()) {
    const { change } = waiting
    crashPoint?.(`begun:${change.label}`)
    try {
      const outcome = ledger.run(change, () => crashPoint?.(`decided:${change.label}`))
      if (outcome === 'wait') return index
      waiting.outcome = outcome
    } catch (thrown) {
      waiting.outcome = { thrown }
    }
  }
  return batch.length
}

export function reportWritten(batch: readonly QueuedChange[], crashPoint: CrashPoint | undefined): void {
  if (crashPoint) for (const { change } of batch) crashPoint(`written:${change.label}`)
}
