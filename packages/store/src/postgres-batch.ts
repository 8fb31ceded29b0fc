/** One batch in PostgreSQL: what its decisions read, loaded in a few queries, and what they write, in a few more. */
import type { Head, Query, Read, Table } from '@holdpoint/engine'
import { type BatchOverlay, type CommittedRows, type Entry, keyOf } from './batch-overlay.ts'
import type { QueuedChange } from './group-commit.ts'
import { purgedText } from './hash-chain.ts'
import { run, type Transaction } from './postgres-connection.ts'
import { encodeBody, encodeFixed, type Row, readRow, type Shape, shapes, type VersionedRow } from './row-codec.ts'
import { postgresDialect, purgeSession, quote, type Statement, selectRows } from './sql.ts'

/** Rows loaded beyond a query's limit: so many may drop out of it while the batch is decided. */
const spareRows = 64

export interface RowRecord {
  readonly id: string
  readonly ord: number
  readonly version: number
  readonly fixed: string | null
  readonly body: string
}
export function toVersionedRow({ id, ord, version, fixed, body }: RowRecord): VersionedRow {
  return { row: readRow(id, ord, fixed, body), version }
}

export interface Locked {
  readonly head: Head
  /** Counts the batches of all gateways. */
  readonly commits: number
  /** The transaction's own id: what became of it can be asked later. */
  readonly xact: string
  readonly databaseNow: number
  readonly base: CommittedRows
}

interface HeadRecord {
  readonly seq: number
  readonly hash: string
  readonly epoch: string
  readonly at: number
  readonly rules_at: number
  readonly commits: number
}
export function headOf({ seq, hash, epoch, at, rules_at }: HeadRecord): Head {
  return { seq, hash, epoch, at, rulesAt: rules_at }
}

/** Waits for the head of the log: whoever holds it appends alone, so places become visible in their order (G3). Each read behind it sees all that was committed before. */
export async function lockAndLoad(tx: Transaction, batch: readonly QueuedChange[]): Promise<Locked> {
  const ids = new Map<Table, Set<string>>()
  const queries = new Map<string, { readonly table: Table; readonly query: Query }>()
  for (const read of batch.flatMap((waiting): readonly Read[] => waiting.change.reads)) {
    if ('id' in read) ids.set(read.table, (ids.get(read.table) ?? new Set<string>()).add(read.id))
    else queries.set(keyOf(read.table, read.query), read)
  }
  const locking = tx<(HeadRecord & { xact: string })[]>`
    SELECT seq, hash, epoch, at, rules_at, commits, pg_current_xact_id()::text AS xact FROM holdpoint.head FOR UPDATE`
  const telling = tx<{ now: number }[]>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`
  const [[head], [clock], byId, found] = await Promise.all([
    // Sent first, and so done first: the others must not look before the lock is ours.
    locking.execute(),
    telling.execute(),
    Promise.all([...ids].map(async ([table, wanted]) => [table, await loadRows(tx, table, wanted)] as const)),
    Promise.all([...queries].map(async ([key, read]) => [key, await loadQuery(tx, read.table, read.query)] as const)),
  ])
  if (!head || !clock) throw new Error('the head of the log is missing')
  const rows = new Map(byId)
  const results = new Map(found)
  const base: CommittedRows = {
    get: (table, id) => rows.get(table)?.get(id),
    find: (table, query, more) => {
      const result = results.get(keyOf(table, query)) ?? []
      const cut = query.limit !== undefined && result.length >= query.limit + spareRows
      if (cut && more > spareRows) return undefined
      return query.limit === undefined ? result : result.slice(0, query.limit + more)
    },
  }
  return { head: headOf(head), commits: head.commits, xact: head.xact, databaseNow: clock.now, base }
}

async function loadRows(tx: Transaction, table: Table, ids: ReadonlySet<string>): Promise<Map<string, VersionedRow>> {
  const text = `SELECT id, ord, version, fixed, body FROM holdpoint.${table} WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))`
  const records = await run<RowRecord>(tx, { text, params: [JSON.stringify([...ids])] })
  return new Map(records.map(record => [record.id, toVersionedRow(record)]))
}

async function loadQuery(tx: Transaction, table: Table, query: Query): Promise<VersionedRow[]> {
  return (await run<RowRecord>(tx, selectRows(table, query, postgresDialect, spareRows))).map(toVersionedRow)
}

/** Sends everything at once and then looks whether each conditional write found what it named. */
export async function writeBatch(
  tx: Transaction,
  ledger: BatchOverlay,
  commits: number,
  signed: string,
): Promise<void> {
  const { seq, hash, at, rulesAt } = ledger.head
  const bulk: { readonly statement: Statement; readonly count?: number }[] = []
  if (ledger.purge !== null) {
    const before = seq - ledger.events.length + 1
    for (const statement of purgeSession(ledger.purge, before, purgedText, postgresDialect)) bulk.push({ statement })
  }
  for (const [table, entries] of ledger.touched()) bulk.push(...writesOf(shapes[table], entries))
  if (ledger.events.length > 0) bulk.push({ statement: insertEvents(ledger), count: ledger.events.length })
  bulk.push({
    statement: {
      text: 'UPDATE holdpoint.head SET seq = $1, hash = $2, at = $3, rules_at = $4, commits = $5::bigint + 1 WHERE commits = $5',
      params: [seq, hash, at, rulesAt, commits],
    },
    count: 1,
  })
  bulk.push({ statement: { text: "SELECT pg_notify('holdpoint', $1)", params: [`${signed} ${commits + 1}`] } })
  const done = await Promise.all(bulk.map(({ statement }) => run(tx, statement)))
  for (const [index, { statement, count }] of bulk.entries())
    if (count !== undefined && done[index]?.count !== count)
      throw new Error(`a write met ${done[index]?.count} rows instead of ${count}: ${statement.text}`)
}

type Entries = readonly (readonly [id: string, entry: Entry])[]

/** One conditional write decides: each row names the version that the decision saw. */
function writesOf(shape: Shape, entries: Entries): { readonly statement: Statement; readonly count: number }[] {
  const inserts: object[] = []
  const updates: object[] = []
  const deletes: object[] = []
  for (const [id, { before, after, anew }] of entries) {
    if (before && after && !anew) updates.push({ ...valuesOf(shape, id, after), version: before.version })
    else if (before) deletes.push({ id, version: before.version })
    if (after && (!before || anew))
      inserts.push({ ...valuesOf(shape, id, after), version: 1, fixed: encodeFixed(shape, after) })
  }
  const { table, columns } = shape
  const own = columns.map(quote)
  const typed = columns.map(column => `${quote(column)} ${column.type === 'int' ? 'bigint' : 'text'}`)
  const given = `json_to_recordset($1::text::json) AS n(${['id text', 'ord bigint', 'version bigint', ...typed, 'fixed text', 'body text'].join(', ')})`
  const all = ['id', 'ord', ...own, 'version', 'fixed', 'body'].join(', ')
  const set = ['ord', ...own, 'body'].map(column => `${column} = n.${column}`).join(', ')
  const seen = 't.id = n.id AND t.version = n.version'
  return [
    { rows: deletes, text: `DELETE FROM holdpoint.${table} t USING ${given} WHERE ${seen}` },
    {
      rows: updates,
      text: `UPDATE holdpoint.${table} t SET ${set}, version = t.version + 1 FROM ${given} WHERE ${seen}`,
    },
    { rows: inserts, text: `INSERT INTO holdpoint.${table} (${all}) SELECT ${all} FROM ${given}` },
  ]
    .filter(({ rows }) => rows.length > 0)
    .map(({ rows, text }) => ({ statement: { text, params: [JSON.stringify(rows)] }, count: rows.length }))
}

function valuesOf(shape: Shape, id: string, row: Row): object {
  const values = Object.fromEntries(shape.columns.map(column => [column.sql, column.of(row)]))
  return { id, ord: row.ord, ...values, body: encodeBody(shape, row) }
}

function insertEvents(ledger: BatchOverlay): Statement {
  const rows = ledger.events.map(({ seq, epoch, at, session, type, text, bodyHash, hash }) => {
    return { seq, epoch, at, session, type, text, body_hash: bodyHash, hash }
  })
  const columns = 'seq, epoch, at, session, type, text, body_hash, hash'
  const typed = 'seq bigint, epoch text, at bigint, session text, type text, text text, body_hash text, hash text'
  return {
    text: `INSERT INTO holdpoint.event (${columns}) SELECT ${columns} FROM json_to_recordset($1::text::json) AS n(${typed})`,
    params: [JSON.stringify(rows)],
  }
}
