/** Fills pages that are limited in bytes as well as in number of items. The store is read a few rows at a time, so that rows beyond the page are not all loaded into memory and other work can continue. */
import { type Clock, limits } from '@holdpoint/protocol'
import type { Rows, Table } from './rows.ts'
import type { EventQuery, Query, Store, StoredEvent } from './store.ts'

/** A read that takes longer than this makes the next read smaller. Other work gets a turn of the event loop at least this often. */
const turnMs = 4

/** Decides how much to read at once, so that reading many large rows neither blocks the event loop nor fills the memory, and reading many small rows takes few reads. */
class ReadPace {
  readonly #max: number
  readonly #clock: Clock
  #limit = 2
  #turnStart: number
  #readStart = 0

  constructor(max: number, clock: Clock) {
    this.#max = max
    this.#clock = clock
    this.#turnStart = clock.monotonic()
  }

  /** Resolves with the number of rows to read next. */
  async next(): Promise<number> {
    if (this.isLong) await this.rest()
    this.#readStart = this.#clock.monotonic()
    return this.#limit
  }
  /** Whether this work has taken long, so that other work should run first. */
  get isLong(): boolean {
    return this.#clock.monotonic() - this.#turnStart > turnMs
  }
  async rest(): Promise<void> {
    await nextTurn()
    this.#turnStart = this.#clock.monotonic()
  }
  /** Must be called when the rows are read. */
  done(): void {
    const isSlow = this.#clock.monotonic() - this.#readStart > turnMs
    this.#limit = isSlow ? Math.max(1, this.#limit >> 1) : Math.min(this.#max, this.#limit * 2)
  }
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** A store to read, and the clock that measures how long the reads take. */
export interface ScanSource {
  readonly store: Store
  readonly clock: Clock
}

/** Yields rows one by one, in the order of the query. */
export async function* scan<K extends Table>(
  { store, clock }: ScanSource,
  table: K,
  query: Query,
): AsyncGenerator<Rows[K], void> {
  const pace = new ReadPace(limits.readAheadMax, clock)
  for (let from: Query = query; ; ) {
    const limit = await pace.next()
    const rows = await store.find(table, { ...from, limit })
    pace.done()
    for (const row of rows) {
      yield row
      if (pace.isLong) await pace.rest()
    }
    const last = rows.at(-1)
    if (!last || rows.length < limit) return
    from = { ...query, ...(query.newestFirst ? { beforeOrd: last.ord } : { afterOrd: last.ord }) }
  }
}

/** Selects events and their order. */
export type EventRange = Omit<EventQuery, 'limit'>

/** Returns the part of a range that follows the given event. */
export function remainingRange(range: EventRange, { seq }: StoredEvent): EventRange {
  return { ...range, ...(range.newestFirst ? { before: seq } : { after: seq }) }
}

/** Yields events one by one, oldest first, or newest first if `range.newestFirst` is set. */
export async function* scanEvents({ store, clock }: ScanSource, range: EventRange): AsyncGenerator<StoredEvent, void> {
  const pace = new ReadPace(limits.pageMax, clock)
  for (let remaining = range; ; ) {
    const limit = await pace.next()
    const events = await store.events({ ...remaining, limit })
    pace.done()
    for (const event of events) {
      yield event
      if (pace.isLong) await pace.rest()
    }
    const last = events.at(-1)
    if (!last || events.length < limit) return
    remaining = remainingRange(range, last)
  }
}

export interface PageMax {
  readonly items: number
  readonly bytes: number
}
export interface Page<T> {
  readonly items: readonly T[]
  readonly more: boolean
}

/** Takes as many items as fit, and always at least one, so that a reader makes progress even if a single item exceeds the limit. */
export async function fillPage<T>(
  rows: AsyncIterable<T> | Iterable<T>,
  max: PageMax,
  sizeOf: (row: T) => number = jsonBytes,
): Promise<Page<T>> {
  const items: T[] = []
  let bytes = 0
  for await (const row of rows) {
    bytes += sizeOf(row)
    if (items.length > 0 && (items.length >= max.items || bytes > max.bytes)) return { items, more: true }
    items.push(row)
  }
  return { items, more: false }
}

export function eventBytes({ text }: StoredEvent): number {
  return Buffer.byteLength(text)
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

export function chunksOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size))
}
