/** The in-memory store, for tests and for programs that embed the gateway. Tests compare the other stores with this one. */
import type { CrashPoint, EventQuery, Head, KeyStore, Query, Rows, Store, StoredEvent, Table } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { BatchOverlay, type CommittedRows, type Entry } from './batch-overlay.ts'
import { applyBatch, type BatchResult, GroupCommit, type QueuedChange, reportWrittenPoints } from './group-commit.ts'
import { emptyHead, newEpoch, purgedText } from './hash-chain.ts'
import {
  type Column,
  type ColumnValue,
  matches,
  rowOrder,
  type TableLayout,
  tableLayouts,
  tableNames,
  toValueList,
  type VersionedRow,
} from './row-codec.ts'
import { machineTime, readClocks, StoreClock, type TimeSource } from './store-clock.ts'

export interface MemoryOptions {
  readonly clock?: TimeSource
  readonly crashPoint?: CrashPoint
  readonly epoch?: string
}

/** The rows of one table by id, and by the first column of each index. */
class IndexedTable {
  readonly #layout: TableLayout
  readonly #rows = new Map<string, VersionedRow>()
  readonly #byColumn: ReadonlyMap<Column, Map<ColumnValue, Set<string>>>

  constructor(layout: TableLayout) {
    this.#layout = layout
    const leading = layout.indexes.flatMap(index => index.slice(0, 1))
    this.#byColumn = new Map(leading.map(column => [column, new Map<ColumnValue, Set<string>>()]))
  }

  get(id: string): VersionedRow | undefined {
    return this.#rows.get(id)
  }

  set(id: string, next: VersionedRow | undefined): void {
    const previous = this.#rows.get(id)
    for (const [column, ids] of this.#byColumn) {
      if (previous) this.#removeFromIndex(ids, column.of(previous.row), id)
      if (!next) continue
      const value = column.of(next.row)
      const same = ids.get(value)
      if (same) same.add(id)
      else ids.set(value, new Set([id]))
    }
    if (next) this.#rows.set(id, next)
    else this.#rows.delete(id)
  }

  #removeFromIndex(ids: Map<ColumnValue, Set<string>>, value: ColumnValue, id: string): void {
    const same = ids.get(value)
    same?.delete(id)
    if (same?.size === 0) ids.delete(value)
  }

  matching(query: Query): VersionedRow[] {
    const found: VersionedRow[] = []
    for (const candidate of this.#candidates(query))
      if (matches(this.#layout, candidate.row, query)) found.push(candidate)
    return found
  }

  *#candidates(query: Query): Iterable<VersionedRow> {
    for (const [column, ids] of this.#byColumn) {
      const equal = query.where?.[column.name]
      const max = query.atMost?.[column.name]
      let values: Iterable<ColumnValue>
      if (equal !== undefined) values = new Set(toValueList(equal))
      else if (max !== undefined) values = [...ids.keys()].filter(value => value !== null && Number(value) <= max)
      else continue
      for (const value of values) for (const id of ids.get(value) ?? []) yield this.#rows.get(id) as VersionedRow // the index only contains ids of existing rows
      return
    }
    yield* this.#rows.values()
  }
}

export async function openMemory({
  clock = machineTime(),
  crashPoint,
  epoch = newEpoch(),
}: MemoryOptions = {}): Promise<Store> {
  const tables = Object.fromEntries(tableNames.map(table => [table, new IndexedTable(tableLayouts[table])])) as Record<
    Table,
    IndexedTable
  > // `tableNames` contains every table
  let events: StoredEvent[] = []
  let head: Head = emptyHead(epoch)
  const storeClock = new StoreClock(head.at)
  const now = () => storeClock.read(readClocks(clock))

  function find(table: Table, query: Query, extra = 0): VersionedRow[] {
    const found = tables[table].matching(query).sort(rowOrder(query))
    return query.limit === undefined ? found : found.slice(0, query.limit + extra)
  }
  const committed: CommittedRows = { get: (table, id) => tables[table].get(id), find }

  function write(batch: readonly QueuedChange[]): BatchResult {
    const overlay = new BatchOverlay(committed, head, now())
    const appliedCount = applyBatch(batch, overlay, crashPoint)
    if (!overlay.hasWrites) return { appliedCount, events: null }
    const rows = [...overlay.writtenRows()].flatMap(([table, entries]) =>
      entries.map(([id, entry]) => ({ table, id, entry })),
    )
    for (const { table, id, entry } of rows) checkVersion(table, id, entry, tables[table].get(id))
    reportWrittenPoints(batch.slice(0, appliedCount), crashPoint)
    if (overlay.purge !== null) purge(overlay.purge)
    for (const { table, id, entry } of rows)
      tables[table].set(id, entry.after && { row: entry.after, version: (entry.before?.version ?? 0) + 1 })
    for (const event of overlay.events) events.push(event)
    head = overlay.head
    return { appliedCount, events: overlay.events }
  }

  function purge(session: string): void {
    tables.session.set(session, undefined)
    for (const table of tableNames)
      if (tableLayouts[table].byName.has('session'))
        for (const { row } of find(table, { where: { session } })) tables[table].set(row.id, undefined)
    events = events.map(event =>
      event.session === session ? { ...event, text: purgedText, body: { type: 'purged' } } : event,
    )
  }

  const groupCommit = new GroupCommit(write, crashPoint)
  return {
    kind: 'memory',
    commit: change => groupCommit.commit(change),
    get: async (table, id) => tables[table].get(id)?.row as Rows[typeof table] | undefined, // each table contains only rows of its own type
    find: async (table, query) => find(table, query).map(({ row }) => row) as unknown as Rows[typeof table][], // each table contains only rows of its own type
    count: async (table, query) => tables[table].matching(query).length,
    head: async () => head,
    now: async () => now(),
    takeClockJumps: () => storeClock.takeJumps(),
    events: async query => filterEvents(events, query),
    epochAt: async seq => events[seq - 1]?.epoch,
    bodyHashAt: async seq => events[seq - 1]?.bodyHash,
    keys: new MemoryKeys(clock),
    onCommit: listener => groupCommit.onCommit(listener),
    backup: async () => {
      throw new Fault('unsupported', 'The memory store has nothing on disk to back up. Use a SQLite file.')
    },
    close: () => groupCommit.close(),
  }
}

class MemoryKeys implements KeyStore {
  readonly #clock: TimeSource
  readonly #keys = new Map<string, { readonly key: string; readonly at: number }>()

  constructor(clock: TimeSource) {
    this.#clock = clock
  }

  async put(id: string, key: string): Promise<void> {
    this.#keys.set(id, { key, at: this.#clock.monotonic() })
  }
  async get(id: string): Promise<string | undefined> {
    return this.#keys.get(id)?.key
  }
  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#keys.delete(id)
  }
  async list(ageMs: number): Promise<readonly string[]> {
    const now = this.#clock.monotonic()
    return [...this.#keys].filter(([, { at }]) => now - at >= ageMs).map(([id]) => id)
  }
  async share(): Promise<void> {}
}

/** Selects events by their index. The event with seq n has index n - 1, because the log never loses an event. */
function filterEvents(events: readonly StoredEvent[], query: EventQuery): StoredEvent[] {
  const { after = 0, before = events.length + 1, newestFirst = false, limit, session, types } = query
  const first = Math.max(after, 0) + 1
  const last = Math.min(before - 1, events.length)
  const page: StoredEvent[] = []
  for (let n = 0; n <= last - first && page.length < limit; n++) {
    const event = events[(newestFirst ? last - n : first + n) - 1] as StoredEvent // the seq is between `first` and `last`
    if (session !== undefined && event.session !== session) continue
    if (types === undefined || types.includes(event.type)) page.push(event)
  }
  return page
}

function checkVersion(table: Table, id: string, { before, after }: Entry, current: VersionedRow | undefined): void {
  if (before?.version !== current?.version && (before || after))
    throw new Error(`${table} ${id} exists but decide() did not read it; add it to the reads of the change`)
}
