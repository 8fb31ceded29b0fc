/** Runs one batch in PostgreSQL: locks the head of the log, loads everything that the changes read in a few queries, and writes the result in a few statements. */
import type { Head, Query, Read, Table } from '@holdpoint/engine'
import { type BatchOverlay, type CommittedRows, type Entry, queryKey } from './batch-overlay.ts'
import type { QueuedChange } from './group-commit.ts'
import { purgedText } from './hash-chain.ts'
import { runStatement, type Transaction } from './postgres-connection.ts'
import {
  decodeRow,
  encodeBody,
  encodeFixed,
  type Row,
  type TableLayout,
  tableLayouts,
  type VersionedRow,
} from './row-codec.ts'
import { postgresDialect, purgeSession, quoteColumn, type Statement, selectRows } from './sql.ts'

/** Number of rows loaded beyond a query's limit, because changes of the batch may remove rows from the query's result. */
const spareRows = 64

export interface RowRecord {
  readonly id: string
  readonly ord: number
  readonly version: number
  readonly fixed: string | null
  readonly body: string
}
export function toVersionedRow({ id, ord, version, fixed, body }: RowRecord): VersionedRow {
  return { row: decodeRow(id, ord, fixed, body), version }
}

export interface LockedBatch {
  readonly head: Head
  /** The number of batches committed by all gateways. */
  readonly commits: number
  /** The id of the transaction. With this id, the database can later tell whether the transaction was committed. */
  readonly xact: string
  readonly databaseNow: number
  readonly committed: CommittedRows
}

interface HeadRecord {
  readonly seq: number
  readonly hash: string
  readonly epoch: string
  readonly at: number
  readonly rules_seq: number
  readonly commits: number
}
export function toHead({ seq, hash, epoch, at, rules_seq }: HeadRecord): Head {
  return { seq, hash, epoch, at, rulesSeq: rules_seq }
}

/** Locks the head of the log, then loads the reads of the batch. Only the holder of the lock appends events, so seqs become visible in order (G3), and reads after the lock see everything that was committed before. */
export async function lockAndLoad(tx: Transaction, batch: readonly QueuedChange[]): Promise<LockedBatch> {
  const ids = new Map<Table, Set<string>>()
  const queries = new Map<string, { readonly table: Table; readonly query: Query }>()
  for (const read of batch.flatMap((queued): readonly Read[] => queued.change.reads)) {
    if ('id' in read) ids.set(read.table, (ids.get(read.table) ?? new Set<string>()).add(read.id))
    else queries.set(queryKey(read.table, read.query), read)
  }
  const locking = tx<(HeadRecord & { xact: string })[]>`
    SELECT seq, hash, epoch, at, rules_seq, commits, pg_current_xact_id()::text AS xact FROM holdpoint.head FOR UPDATE`
  const readingClock = tx<{ now: number }[]>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`
  const [[head], [clock], byId, found] = await Promise.all([
    // Send this query first, because the other queries must run after the lock is taken.
    locking.execute(),
    readingClock.execute(),
    Promise.all([...ids].map(async ([table, rowIds]) => [table, await loadRows(tx, table, rowIds)] as const)),
    Promise.all([...queries].map(async ([key, read]) => [key, await loadQuery(tx, read.table, read.query)] as const)),
  ])
  if (!head || !clock) throw new Error('the head of the log is missing')
  const rows = new Map(byId)
  const results = new Map(found)
  const committed: CommittedRows = {
    get: (table, id) => rows.get(table)?.get(id),
    find: (table, query, extra) => {
      const result = results.get(queryKey(table, query)) ?? []
      const truncated = query.limit !== undefined && result.length >= query.limit + spareRows
      if (truncated && extra > spareRows) return undefined
      return query.limit === undefined ? result : result.slice(0, query.limit + extra)
    },
  }
  return { head: toHead(head), commits: head.commits, xact: head.xact, databaseNow: clock.now, committed }
}

export async function loadRows(
  tx: Transaction,
  table: Table,
  ids: ReadonlySet<string>,
): Promise<Map<string, VersionedRow>> {
  const text = `SELECT id, ord, version, fixed, body FROM holdpoint.${table} WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))`
  const records = await runStatement<RowRecord>(tx, { text, params: [JSON.stringify([...ids])] })
  return new Map(records.map(record => [record.id, toVersionedRow(record)]))
}

async function loadQuery(tx: Transaction, table: Table, query: Query): Promise<VersionedRow[]> {
  return (await runStatement<RowRecord>(tx, selectRows(table, query, postgresDialect, spareRows))).map(toVersionedRow)
}

/** Sends all statements at once, then checks that each conditional write changed the expected number of rows. */
export async function writeBatch(
  tx: Transaction,
  overlay: BatchOverlay,
  commits: number,
  gatewayId: string,
): Promise<void> {
  const { seq, hash, at, rulesSeq } = overlay.head
  const statements: { readonly statement: Statement; readonly count?: number }[] = []
  if (overlay.purge !== null) {
    const before = seq - overlay.events.length + 1
    for (const statement of purgeSession(overlay.purge, before, purgedText, postgresDialect))
      statements.push({ statement })
  }
  for (const [table, entries] of overlay.writtenRows()) statements.push(...rowStatements(tableLayouts[table], entries))
  if (overlay.events.length > 0) statements.push({ statement: insertEvents(overlay), count: overlay.events.length })
  statements.push({
    statement: {
      text: 'UPDATE holdpoint.head SET seq = $1, hash = $2, at = $3, rules_seq = $4, commits = $5::bigint + 1 WHERE commits = $5',
      params: [seq, hash, at, rulesSeq, commits],
    },
    count: 1,
  })
  statements.push({ statement: { text: "SELECT pg_notify('holdpoint', $1)", params: [`${gatewayId} ${commits + 1}`] } })
  const done = await Promise.all(statements.map(({ statement }) => runStatement(tx, statement)))
  for (const [index, { statement, count }] of statements.entries())
    if (count !== undefined && done[index]?.count !== count)
      throw new Error(`a write changed ${done[index]?.count} rows instead of ${count}: ${statement.text}`)
}

type Entries = readonly (readonly [id: string, entry: Entry])[]

/** Returns the statements that write rows. An update or a delete affects a row only if the row still has the version that `decide` saw. */
function rowStatements(
  layout: TableLayout,
  entries: Entries,
): { readonly statement: Statement; readonly count: number }[] {
  const inserts: object[] = []
  const updates: object[] = []
  const deletes: object[] = []
  for (const [id, { before, after, replaced }] of entries) {
    if (before && after && !replaced) updates.push({ ...columnValues(layout, id, after), version: before.version })
    else if (before) deletes.push({ id, version: before.version })
    if (after && (!before || replaced))
      inserts.push({ ...columnValues(layout, id, after), version: 1, fixed: encodeFixed(layout, after) })
  }
  const { table, columns } = layout
  const names = columns.map(quoteColumn)
  const typedNames = columns.map(column => `${quoteColumn(column)} ${column.type === 'int' ? 'bigint' : 'text'}`)
  const input = `json_to_recordset($1::text::json) AS n(${['id text', 'ord bigint', 'version bigint', ...typedNames, 'fixed text', 'body text'].join(', ')})`
  const allNames = ['id', 'ord', ...names, 'version', 'fixed', 'body'].join(', ')
  const assignments = ['ord', ...names, 'body'].map(column => `${column} = n.${column}`).join(', ')
  const sameVersion = 't.id = n.id AND t.version = n.version'
  return [
    { rows: deletes, text: `DELETE FROM holdpoint.${table} t USING ${input} WHERE ${sameVersion}` },
    {
      rows: updates,
      text: `UPDATE holdpoint.${table} t SET ${assignments}, version = t.version + 1 FROM ${input} WHERE ${sameVersion}`,
    },
    { rows: inserts, text: `INSERT INTO holdpoint.${table} (${allNames}) SELECT ${allNames} FROM ${input}` },
  ]
    .filter(({ rows }) => rows.length > 0)
    .map(({ rows, text }) => ({ statement: { text, params: [JSON.stringify(rows)] }, count: rows.length }))
}

function columnValues(layout: TableLayout, id: string, row: Row): object {
  const values = Object.fromEntries(layout.columns.map(column => [column.sql, column.of(row)]))
  return { id, ord: row.ord, ...values, body: encodeBody(layout, row) }
}

function insertEvents(overlay: BatchOverlay): Statement {
  const rows = overlay.events.map(({ seq, epoch, at, session, type, text, bodyHash, hash }) => {
    return { seq, epoch, at, session, type, text, body_hash: bodyHash, hash }
  })
  const columns = 'seq, epoch, at, session, type, text, body_hash, hash'
  const typed = 'seq bigint, epoch text, at bigint, session text, type text, text text, body_hash text, hash text'
  return {
    text: `INSERT INTO holdpoint.event (${columns}) SELECT ${columns} FROM json_to_recordset($1::text::json) AS n(${typed})`,
    params: [JSON.stringify(rows)],
  }
}
