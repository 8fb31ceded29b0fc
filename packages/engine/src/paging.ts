/** Fills pages that are limited in bytes as well as in number of items. The store is read a few rows at a time, so that rows beyond the page are not all loaded into memory. */
import { limits } from '@holdpoint/protocol'
import type { Rows, Table } from './rows.ts'
import type { EventQuery, Query, Store, StoredEvent } from './store.ts'

/** Yields rows one by one, in the order of the query. */
export async function* scan<K extends Table>(store: Store, table: K, query: Query): AsyncGenerator<Rows[K], void> {
  let from: Query = query
  for (;;) {
    const rows = await store.find(table, { ...from, limit: limits.readAheadMax })
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < limits.readAheadMax) return
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
export async function* scanEvents(store: Store, range: EventRange): AsyncGenerator<StoredEvent, void> {
  for (let remaining = range, limit: number = limits.readAheadMax; ; ) {
    const events = await store.events({ ...remaining, limit })
    yield* events
    const last = events.at(-1)
    if (!last || events.length < limit) return
    remaining = remainingRange(range, last)
    // Most events are small, and a client that was offline may have missed many, so read larger batches as long as events are small.
    const small = events.reduce((sum, event) => sum + event.text.length, 0) < limits.pageMaxBytes / 8
    limit = small ? Math.min(limit * 2, limits.pageMax) : limits.readAheadMax
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
