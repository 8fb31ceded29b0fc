/** Group commit: changes wait in a queue, and each batch decides the queued changes one after another and writes them in one transaction. */
import type { Change, CrashPoint, StoredEvent } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import type { BatchOverlay } from './batch-overlay.ts'

/** Limits how many changes share one flush, so that the first change does not wait for thousands of others. */
const batchMax = 512
/** A batch takes no more changes once deciding has taken this much CPU time, because deciding many hard changes together would block the event loop. On a busy machine, the time on the clock would make batches small. */
const decidingMaxMs = 20

type Outcome = { readonly result: unknown } | { readonly thrown: unknown }

/** A queued change, with the callbacks that settle its caller's promise. */
export interface QueuedChange {
  readonly change: Change<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (thrown: unknown) => void
  outcome: Outcome | undefined
}

/** Applies a batch atomically and durably. */
export type WriteBatch = (batch: readonly QueuedChange[]) => Promise<BatchResult> | BatchResult
export interface BatchResult {
  /** How many changes of the batch were applied. The remaining changes go into the next batch. */
  readonly appliedCount: number
  /** The events written; null if there was nothing to write. */
  readonly events: readonly StoredEvent[] | null
}
export type CommitListener = (events: readonly StoredEvent[] | null) => void

export class GroupCommit {
  readonly #write: WriteBatch
  readonly #crashPoint: CrashPoint | undefined
  readonly #listeners = new Set<CommitListener>()
  #queue: QueuedChange[] = []
  #busy = false
  #closed = false
  #onIdle: (() => void)[] = []

  constructor(write: WriteBatch, crashPoint: CrashPoint | undefined) {
    this.#write = write
    this.#crashPoint = crashPoint
  }

  commit<T>(change: Change<T>): Promise<T> {
    if (this.#closed)
      return Promise.reject(
        new Fault('store_unavailable', `The store is closed; the change ${change.label} was not stored.`),
      )
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ change, resolve, reject, outcome: undefined })
      this.#schedule()
    })
  }

  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  notify(events: readonly StoredEvent[] | null): void {
    for (const listener of this.#listeners) {
      try {
        listener(events)
      } catch (bug) {
        // The commit must still be reported to its callers, so the bug is thrown in a later turn, where it ends the process.
        setImmediate(() => {
          throw bug
        })
      }
    }
  }

  get busy(): boolean {
    return this.#busy
  }

  /** Refuses further changes, and resolves when all queued changes are written. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#busy) await new Promise<void>(resolve => this.#onIdle.push(resolve))
  }

  /** Starts the next batch in the next turn of the event loop, so that all changes of this turn share a flush. */
  #schedule(): void {
    if (this.#busy) return
    this.#busy = true
    setImmediate(() => void this.#commitNextBatch())
  }

  async #commitNextBatch(): Promise<void> {
    const batch = this.#queue.length <= batchMax ? this.#queue : this.#queue.slice(0, batchMax)
    this.#queue = this.#queue.slice(batch.length)
    await this.#commitBatch(batch)
    this.#busy = false
    if (this.#queue.length > 0) this.#schedule()
    else for (const idle of this.#onIdle.splice(0)) idle()
  }

  async #commitBatch(batch: readonly QueuedChange[]): Promise<void> {
    let written: BatchResult
    try {
      const writing = this.#write(batch)
      written = writing instanceof Promise ? await writing : writing
    } catch (thrown) {
      // A Fault means that the store could not write, so every change fails. Any other error is assumed to come from one of the changes, so each change is retried in a batch of its own.
      if (thrown instanceof Fault || batch.length === 1) for (const { reject } of batch) reject(thrown)
      else for (const queued of batch) await this.#commitBatch([queued])
      return
    }
    const applied = batch.slice(0, written.appliedCount)
    this.#queue = [...batch.slice(written.appliedCount), ...this.#queue]
    if (written.events) {
      if (this.#crashPoint) for (const { change } of applied) this.#crashPoint(`committed:${change.label}`)
      this.notify(written.events)
    }
    for (const { outcome, resolve, reject } of applied) {
      if (outcome && 'result' in outcome)
        resolve(outcome.result as never) // `decide` of this change returned the result, so it has the type that the caller expects
      else reject(outcome?.thrown)
    }
  }
}

/** Decides the changes of a batch in order; returns how many could be decided together. */
export function applyBatch(
  batch: readonly QueuedChange[],
  overlay: BatchOverlay,
  crashPoint: CrashPoint | undefined,
): number {
  // A batch takes its first change in any case.
  const isLong = batch.length > 1 ? decidingTimer() : () => false
  for (const [index, queued] of batch.entries()) {
    const { change } = queued
    if (index > 0 && isLong()) return index
    crashPoint?.(`begun:${change.label}`)
    try {
      const outcome = overlay.apply(change, () => crashPoint?.(`decided:${change.label}`))
      if (outcome === 'nextBatch') return index
      queued.outcome = outcome
    } catch (thrown) {
      queued.outcome = { thrown }
    }
  }
  return batch.length
}

/** Returns a function that returns whether deciding has taken too much CPU time by now. Reading the clock is quicker than reading the CPU time, so the CPU time is read only once so much time has passed on the clock that the limit may be reached. */
function decidingTimer(): () => boolean {
  const usedBefore = cpuMs()
  let checkAt = performance.now() + decidingMaxMs
  return () => {
    const now = performance.now()
    if (now <= checkAt) return false
    const left = decidingMaxMs - (cpuMs() - usedBefore)
    checkAt = now + left
    return left < 0
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

export function reportWrittenPoints(batch: readonly QueuedChange[], crashPoint: CrashPoint | undefined): void {
  if (crashPoint) for (const { change } of batch) crashPoint(`written:${change.label}`)
}
