/** What a batch has decided so far, over what is committed: each change sees those before it, and nothing is written until all are decided. */
import type { Change, Head, Query, Read, Rows, StoredEvent, Table, View, Writes } from '@holdpoint/engine'
import type { SessionId } from '@holdpoint/protocol'
import { linkEvent } from './hash-chain.ts'
import { inOrder, matches, type Row, shapes, type VersionedRow } from './row-codec.ts'

/** What is committed, as far as the reads of the batch name it. */
export interface CommittedRows {
  get(table: Table, id: string): VersionedRow | undefined
  /** `more` rows beyond the query's limit: so many may drop out of it. Undefined where the base does not hold that many. */
  find(table: Table, query: Query, more: number): readonly VersionedRow[] | undefined
}

/** A row of the batch: as committed, and as it is to be. */
export interface Entry {
  readonly before: VersionedRow | undefined
  after: Row | undefined
  touched: boolean
  /** Deleted and put again within the batch: another row under the same id, whose fixed members are new. */
  anew: boolean
}

/** Thrown where a change can only be decided in a batch of its own. */
const later = Symbol('later')

export class BatchOverlay {
  readonly now: number
  readonly events: StoredEvent[] = []
  purge: SessionId | null = null
  head: Head
  readonly #base: CommittedRows
  readonly #entries = new Map<Table, Map<string, Entry>>()
  readonly #touched = new Map<Table, number>()
  #begun = 0
  #wrote = false

  constructor(base: CommittedRows, head: Head, clock: number) {
    this.#base = base
    this.now = Math.max(clock, head.at)
    this.head = head
  }

  /** Whether there is anything to commit. */
  get wrote(): boolean {
    return this.#wrote
  }

  /** Decides and notes down what is to be written; `wait` where it has to be asked again in the next batch. Throws what `decide` throws, and has then noted nothing. */
  run<T>(change: Change<T>, decided: () => void): { readonly result: T } | 'wait' {
    if (this.purge !== null) return 'wait'
    try {
      for (const read of change.reads) if ('id' in read) this.#entry(read.table, read.id)
      const writes = change.decide(this.#view(change.reads))
      if (writes.purge !== undefined && this.#begun > 0) return 'wait'
      decided()
      this.#note(writes)
      this.#begun++
      return { result: writes.result }
    } catch (thrown) {
      if (thrown === later) return 'wait'
      throw thrown
    }
  }

  /** Rows that were written, table by table. */
  *touched(): Generator<readonly [Table, readonly (readonly [id: string, entry: Entry])[]]> {
    for (const table of this.#touched.keys())
      yield [table, [...(this.#entries.get(table) ?? [])].filter(([, entry]) => entry.touched)]
  }

  #view(reads: readonly Read[]): View {
    return {
      now: this.now,
      nextSeq: this.head.seq + 1,
      rulesAt: this.head.rulesAt,
      get: (table, id) => {
        if (!reads.some(read => 'id' in read && read.id === id && read.table === table))
          throw new Error(`a decision gets ${table} ${id}, which its reads do not name`)
        return this.#entry(table, id).after as Rows[typeof table] | undefined // a table holds its own rows
      },
      find: (table, query) => {
        const key = keyOf(table, query)
        if (!reads.some(read => 'query' in read && keyOf(read.table, read.query) === key))
          throw new Error(`a decision finds ${key}, which its reads do not name`)
        return this.#find(table, query).map(kept => kept.row) as unknown as readonly Rows[typeof table][] // likewise
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
    return entries.get(id) ?? enter(entries, id, this.#base.get(table, id))
  }

  #find(table: Table, query: Query): readonly VersionedRow[] {
    const touched = this.#touched.get(table) ?? 0
    const committed = this.#base.find(table, query, touched)
    if (!committed) throw later
    const entries = this.#entriesOf(table)
    for (const kept of committed) if (!entries.has(kept.row.id)) enter(entries, kept.row.id, kept)
    if (touched === 0) return committed
    const found = committed.filter(kept => !entries.get(kept.row.id)?.touched)
    for (const { after, touched } of entries.values())
      if (touched && after && matches(shapes[table], after, query)) found.push({ row: after, version: 0 })
    return found.sort(inOrder(query)).slice(0, query.limit)
  }

  #note(writes: Writes): void {
    const { puts = [], dels = [], events = [], purge } = writes
    let head = this.head
    // Whatever can throw stands before the first note.
    for (const { table, id } of dels)
      if (!this.#entries.get(table)?.has(id))
        throw new Error(`a decision deletes ${table} ${id}, which it has not read`)
    const linked = events.map(({ session, body }) => {
      const event = linkEvent(head, this.now, session, body)
      head = { ...head, seq: event.seq, hash: event.hash }
      return event
    })
    for (const { table, row } of puts) this.#touch(table, row.id, row)
    for (const { table, id } of dels) this.#touch(table, id, undefined)
    this.events.push(...linked)
    if (puts.some(put => put.table === 'rule') || dels.some(del => del.table === 'rule'))
      head = { ...head, rulesAt: Math.max(head.rulesAt + 1, head.seq) }
    if (purge !== undefined) this.purge = purge
    if (puts.length + dels.length + events.length > 0 || purge !== undefined) this.#wrote = true
    this.head = { ...head, at: this.now }
  }

  /** A row that no read named is new: the insert fails where it is not. */
  #touch(table: Table, id: string, after: Row | undefined): void {
    const entries = this.#entriesOf(table)
    const entry = entries.get(id) ?? enter(entries, id, undefined)
    if (!entry.touched) this.#touched.set(table, (this.#touched.get(table) ?? 0) + 1)
    if (entry.before && !entry.after) entry.anew = true
    entry.touched = true
    entry.after = after
  }
}

function enter(entries: Map<string, Entry>, id: string, before: VersionedRow | undefined): Entry {
  const entry: Entry = { before, after: before?.row, touched: false, anew: false }
  entries.set(id, entry)
  return entry
}

export function keyOf(table: Table, query: Query): string {
  return `${table} ${JSON.stringify(query)}`
}
