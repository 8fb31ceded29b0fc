/** The archive in memory: the reference that the other two are compared with, and the store of tests and embedders. */
import type { CrashPoint, EventQuery, Head, Query, Rows, Store, StoredEvent, Table } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { BatchOverlay, type CommittedRows, type Entry } from './batch-overlay.ts'
import { applyBatch, GroupCommit, type QueuedChange, reportWritten, type Written } from './group-commit.ts'
import { firstHead, newEpoch, purgedText } from './hash-chain.ts'
import {
  type Column,
  choices,
  inOrder,
  matches,
  type Shape,
  shapes,
  tableNames,
  type Value,
  type VersionedRow,
} from './row-codec.ts'

export interface MemoryOptions {
  readonly clock?: { now(): number }
  readonly crashPoint?: CrashPoint
  readonly epoch?: string
}

/** Rows by id, and by the values of the columns that lead an index. */
class Shelf {
  readonly #shape: Shape
  readonly #rows = new Map<string, VersionedRow>()
  readonly #byColumn: ReadonlyMap<Column, Map<Value, Set<string>>>

  constructor(shape: Shape) {
    this.#shape = shape
    const leading = shape.indexes.flatMap(index => index.slice(0, 1))
    this.#byColumn = new Map(leading.map(column => [column, new Map<Value, Set<string>>()]))
  }

  get(id: string): VersionedRow | undefined {
    return this.#rows.get(id)
  }

  set(id: string, next: VersionedRow | undefined): void {
    const last = this.#rows.get(id)
    for (const [column, ids] of this.#byColumn) {
      if (last) this.#forget(ids, column.of(last.row), id)
      if (!next) continue
      const value = column.of(next.row)
      const same = ids.get(value)
      if (same) same.add(id)
      else ids.set(value, new Set([id]))
    }
    if (next) this.#rows.set(id, next)
    else this.#rows.delete(id)
  }

  #forget(ids: Map<Value, Set<string>>, value: Value, id: string): void {
    const same = ids.get(value)
    same?.delete(id)
    if (same?.size === 0) ids.delete(value)
  }

  matching(query: Query): VersionedRow[] {
    const found: VersionedRow[] = []
    for (const kept of this.#candidates(query)) if (matches(this.#shape, kept.row, query)) found.push(kept)
    return found
  }

  *#candidates(query: Query): Iterable<VersionedRow> {
    for (const [column, ids] of this.#byColumn) {
      const wanted = query.where?.[column.name]
      const most = query.atMost?.[column.name]
      let values: Iterable<Value>
      if (wanted !== undefined) values = new Set(choices(wanted))
      else if (most !== undefined) values = [...ids.keys()].filter(value => value !== null && Number(value) <= most)
      else continue
      for (const value of values) for (const id of ids.get(value) ?? []) yield this.#rows.get(id) as VersionedRow // the index names rows that are there
      return
    }
    yield* this.#rows.values()
  }
}

export async function openMemory({ clock = Date, crashPoint, epoch = newEpoch() }: MemoryOptions = {}): Promise<Store> {
  const shelves = Object.fromEntries(tableNames.map(table => [table, new Shelf(shapes[table])])) as Record<Table, Shelf> // one per table
  let events: StoredEvent[] = []
  let head: Head = firstHead(epoch)

  function find(table: Table, query: Query, more = 0): VersionedRow[] {
    const found = shelves[table].matching(query).sort(inOrder(query))
    return query.limit === undefined ? found : found.slice(0, query.limit + more)
  }
  const base: CommittedRows = { get: (table, id) => shelves[table].get(id), find }

  function write(batch: readonly QueuedChange[]): Written {
    const ledger = new BatchOverlay(base, head, clock.now())
    const taken = applyBatch(batch, ledger, crashPoint)
    if (!ledger.wrote) return { taken, events: null }
    const rows = [...ledger.touched()].flatMap(([table, entries]) =>
      entries.map(([id, entry]) => ({ table, id, entry })),
    )
    for (const { table, id, entry } of rows) checkVersion(table, id, entry, shelves[table].get(id))
    reportWritten(batch.slice(0, taken), crashPoint)
    if (ledger.purge !== null) purge(ledger.purge)
    for (const { table, id, entry } of rows)
      shelves[table].set(id, entry.after && { row: entry.after, version: (entry.before?.version ?? 0) + 1 })
    for (const event of ledger.events) events.push(event)
    head = ledger.head
    return { taken, events: ledger.events }
  }

  function purge(session: string): void {
    shelves.session.set(session, undefined)
    for (const table of tableNames)
      if (shapes[table].byName.has('session'))
        for (const { row } of find(table, { where: { session } })) shelves[table].set(row.id, undefined)
    events = events.map(event =>
      event.session === session ? { ...event, text: purgedText, body: { type: 'purged' } } : event,
    )
  }

  const batches = new GroupCommit(write, crashPoint)
  return {
    kind: 'memory',
    commit: change => batches.commit(change),
    get: async (table, id) => shelves[table].get(id)?.row as Rows[typeof table] | undefined, // a shelf holds its own rows
    find: async (table, query) => find(table, query).map(kept => kept.row) as unknown as Rows[typeof table][], // likewise
    count: async (table, query) => shelves[table].matching(query).length,
    head: async () => head,
    now: async () => Math.max(clock.now(), head.at),
    events: async query => pageOf(events, query),
    epochAt: async seq => events[seq - 1]?.epoch,
    onCommit: listener => batches.onCommit(listener),
    backup: async () => {
      throw new Fault('unsupported', 'The memory store keeps nothing on disk and has no backup. Use a SQLite file.')
    },
    close: () => batches.close(),
  }
}

/** The event at place n stands at n - 1: nothing is ever taken out of the log. */
function pageOf(events: readonly StoredEvent[], query: EventQuery): StoredEvent[] {
  const { after = 0, before = events.length + 1, newestFirst = false, limit, session, types } = query
  const first = Math.max(after, 0) + 1
  const last = Math.min(before - 1, events.length)
  const page: StoredEvent[] = []
  for (let n = 0; n <= last - first && page.length < limit; n++) {
    const event = events[(newestFirst ? last - n : first + n) - 1] as StoredEvent // between the first and the last
    if (session !== undefined && event.session !== session) continue
    if (types === undefined || types.includes(event.type)) page.push(event)
  }
  return page
}

function checkVersion(table: Table, id: string, { before, after }: Entry, kept: VersionedRow | undefined): void {
  if (before?.version !== kept?.version && (before || after))
    throw new Error(`${table} ${id} is not as the decision saw it: name it in its reads`)
}
