/** Collects the writes of a batch on top of the committed rows, so that each change sees the changes before it and nothing is written until all changes are decided. */
import {
  type Change,
  type Head,
  MissingRead,
  type Query,
  type Read,
  type Rows,
  type StoredEvent,
  type Table,
  type View,
  type Writes,
} from '@holdpoint/engine'
import type { SessionId } from '@holdpoint/protocol'
import { linkEvent } from './hash-chain.ts'
import { matches, type Row, rowOrder, tableLayouts, type VersionedRow } from './row-codec.ts'

/** The committed rows that the changes of the batch read. */
export interface CommittedRows {
  get(table: Table, id: string): VersionedRow | undefined
  /** Returns up to `extra` rows beyond the query's limit, because the batch may have written that many rows of the table. Returns undefined if not enough rows are loaded. */
  find(table: Table, query: Query, extra: number): readonly VersionedRow[] | undefined
}

/** A row that the batch has read or written: its committed version, and the row after the changes applied so far. */
export interface Entry {
  readonly before: VersionedRow | undefined
  after: Row | undefined
  written: boolean
  /** Whether the batch deleted the row and put it again. Its fixed fields must then be written too. */
  replaced: boolean
}

/** A batch takes no more changes once its events are longer than this, so that writing a batch does not block the event loop for long. */
const batchEventCharsMax = 512 * 1024

/** Thrown inside `decide` if a query needs more rows than are loaded, so that the change waits for the next batch. */
const needsNextBatch = Symbol('needsNextBatch')

export class BatchOverlay {
  readonly now: number
  readonly events: StoredEvent[] = []
  purge: SessionId | null = null
  head: Head
  readonly #committed: CommittedRows
  readonly #entries = new Map<Table, Map<string, Entry>>()
  readonly #writtenCount = new Map<Table, number>()
  #appliedCount = 0
  #eventChars = 0
  #hasWrites = false

  constructor(committed: CommittedRows, head: Head, now: number) {
    this.#committed = committed
    this.now = Math.max(now, head.at)
    this.head = head
  }

  /** Whether there is anything to commit. */
  get hasWrites(): boolean {
    return this.#hasWrites
  }

  /** Decides a change and collects its writes. Returns `nextBatch` if the change has to wait for the next batch. If `decide` throws, nothing is collected. */
  apply<T>(change: Change<T>, onDecided: () => void): { readonly result: T } | 'nextBatch' {
    if (this.purge !== null || this.#eventChars > batchEventCharsMax) return 'nextBatch'
    try {
      for (const read of change.reads) if ('id' in read) this.#entry(read.table, read.id)
      const writes = change.decide(this.#view(change.reads))
      if (writes.purge !== undefined && this.#appliedCount > 0) return 'nextBatch'
      onDecided()
      this.#collect(writes)
      this.#appliedCount++
      return { result: writes.result }
    } catch (thrown) {
      if (thrown === needsNextBatch) return 'nextBatch'
      throw thrown
    }
  }

  /** The written rows, table by table. */
  *writtenRows(): Generator<readonly [Table, readonly (readonly [id: string, entry: Entry])[]]> {
    for (const table of this.#writtenCount.keys())
      yield [table, [...(this.#entries.get(table) ?? [])].filter(([, entry]) => entry.written)]
  }

  #view(reads: readonly Read[]): View {
    return {
      now: this.now,
      nextSeq: this.head.seq + 1,
      rulesSeq: this.head.rulesSeq,
      get: (table, id) => {
        if (!reads.some(read => 'id' in read && read.id === id && read.table === table))
          throw new MissingRead({ table, id })
        return this.#entry(table, id).after as Rows[typeof table] | undefined // each table contains only rows of its own type
      },
      find: (table, query) => {
        const key = queryKey(table, query)
        if (!reads.some(read => 'query' in read && read.table === table && queryKey(table, read.query) === key))
          throw new MissingRead({ table, query })
        return this.#find(table, query).map(({ row }) => row) as unknown as readonly Rows[typeof table][] // each table contains only rows of its own type
      },
    }
  }

  #entriesOf(table: Table): Map<string, Entry> {
    const known = this.#entries.get(table)
    if (known) return known
    const entries = new Map<string, Entry>()
    this.#entries.set(table, entries)
    return entries
  }

  #entry(table: Table, id: string): Entry {
    const entries = this.#entriesOf(table)
    return entries.get(id) ?? addEntry(entries, id, this.#committed.get(table, id))
  }

  #find(table: Table, query: Query): readonly VersionedRow[] {
    const writtenCount = this.#writtenCount.get(table) ?? 0
    const committed = this.#committed.find(table, query, writtenCount)
    if (!committed) throw needsNextBatch
    const entries = this.#entriesOf(table)
    for (const found of committed) if (!entries.has(found.row.id)) addEntry(entries, found.row.id, found)
    if (writtenCount === 0) return committed
    const found = committed.filter(({ row }) => !entries.get(row.id)?.written)
    for (const { after, written } of entries.values())
      if (written && after && matches(tableLayouts[table], after, query)) found.push({ row: after, version: 0 })
    return found.sort(rowOrder(query)).slice(0, query.limit)
  }

  #collect(writes: Writes): void {
    const { puts = [], deletes = [], events = [], purge } = writes
    let head = this.head
    // Do everything that can throw before the first write.
    for (const { table, id } of deletes)
      if (!this.#entries.get(table)?.has(id)) throw new Error(`decide() deletes ${table} ${id}, which it has not read`)
    const linked = events.map(({ session, body }) => {
      const event = linkEvent(head, this.now, session, body)
      head = { ...head, seq: event.seq, hash: event.hash }
      return event
    })
    for (const { table, row } of puts) this.#write(table, row.id, row)
    for (const { table, id } of deletes) this.#write(table, id, undefined)
    this.events.push(...linked)
    for (const { text } of linked) this.#eventChars += text.length
    if (puts.some(changesRules) || deletes.some(changesRules))
      head = { ...head, rulesSeq: Math.max(head.rulesSeq + 1, head.seq) }
    if (purge !== undefined) this.purge = purge
    if (puts.length + deletes.length + events.length > 0 || purge !== undefined) this.#hasWrites = true
    this.head = { ...head, at: this.now }
  }

  /** Collects the write of one row. A row that the change has not read counts as new, and its insert fails if the row exists. */
  #write(table: Table, id: string, after: Row | undefined): void {
    const entries = this.#entriesOf(table)
    const entry = entries.get(id) ?? addEntry(entries, id, undefined)
    if (!entry.written) this.#writtenCount.set(table, (this.#writtenCount.get(table) ?? 0) + 1)
    if (entry.before && !entry.after) entry.replaced = true
    entry.written = true
    entry.after = after
  }
}

/** Returns whether a write makes the cached rules and watchers of gateways stale. */
function changesRules({ table }: { readonly table: Table }): boolean {
  return table === 'rule' || table === 'watchfile'
}

function addEntry(entries: Map<string, Entry>, id: string, before: VersionedRow | undefined): Entry {
  const entry: Entry = { before, after: before?.row, written: false, replaced: false }
  entries.set(id, entry)
  return entry
}

export function queryKey(table: Table, query: Query): string {
  return `${table} ${JSON.stringify(query)}`
}
