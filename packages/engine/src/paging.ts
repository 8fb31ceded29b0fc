/** Pages bounded by bytes as well as by number. The archive is read a few rows at a time, so what does not fit is never in memory. */
import { limits } from '@holdpoint/protocol'
import type { Rows, Table } from './rows.ts'
import type { EventQuery, Query, Store, StoredEvent } from './store.ts'

/** Rows in the order of the query, one by one. */
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

/** Which events, and in which order. */
export type EventRange = Omit<EventQuery, 'limit'>

/** What of a range is left behind this event. */
export function remainingRange(range: EventRange, { seq }: StoredEvent): EventRange {
  return { ...range, ...(range.newestFirst ? { before: seq } : { after: seq }) }
}

/** Events in the order of the range, one by one. */
export async function* scanEvents(store: Store, range: EventRange): AsyncGenerator<StoredEvent, void> {
  for (let left = range, limit: number = limits.readAheadMax; ; ) {
    const events = await store.events({ ...left, limit })
    yield* events
    const last = events.at(-1)
    if (!last || events.length < limit) return
    left = remainingRange(range, last)
    // Events are small as a rule, and a reader that was away has missed many: fewer and larger reads, until large ones come.
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

/** As many as fit, and always the first: a reader comes on, however large one item is. */
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
