/** The queries that read rows and events from PostgreSQL. */
import type { Rows, Store } from '@holdpoint/engine'
import { type EventRecord, toStoredEvent } from './hash-chain.ts'
import { type RowRecord, toHead, toVersionedRow } from './postgres-batch.ts'
import { runStatement, type Sql, type Transaction } from './postgres-connection.ts'
import { countRows, postgresDialect, selectEvents, selectRows } from './sql.ts'

type Reads = Pick<Store, 'get' | 'find' | 'count' | 'head' | 'events' | 'epochAt' | 'bodyHashAt'>

/** Returns the reads of a store. `read` runs a query, on any connection or in one transaction. */
export function postgresReads(read: <T>(work: (sql: Sql | Transaction) => Promise<T>) => Promise<T>): Reads {
  const rowsOf = async <T>(rows: PromiseLike<readonly RowRecord[]>) =>
    (await rows).map(record => toVersionedRow(record).row) as unknown as T[] // each table contains only rows of its own type
  const ofEvent = (column: 'epoch' | 'body_hash', seq: number) =>
    read(async sql => {
      const text = `SELECT ${column} AS value FROM holdpoint.event WHERE seq = $1`
      return (await runStatement<{ value: string }>(sql, { text, params: [seq] }))[0]?.value
    })
  return {
    get: (table, id) =>
      read(async sql => {
        const text = `SELECT id, ord, version, fixed, body FROM holdpoint.${table} WHERE id = $1`
        return (await rowsOf<Rows[typeof table]>(runStatement(sql, { text, params: [id] })))[0]
      }),
    find: (table, query) =>
      read(sql => rowsOf<Rows[typeof table]>(runStatement(sql, selectRows(table, query, postgresDialect)))),
    count: (table, query) =>
      read(
        async sql =>
          (await firstRow(runStatement<{ count: number }>(sql, countRows(table, query, postgresDialect)))).count,
      ),
    head: () =>
      read(async sql =>
        toHead(await firstRow(sql`SELECT seq, hash, epoch, at, rules_seq, commits FROM holdpoint.head`)),
      ),
    events: query =>
      read(async sql =>
        (await runStatement<EventRecord>(sql, selectEvents(query, postgresDialect))).map(toStoredEvent),
      ),
    epochAt: seq => ofEvent('epoch', seq),
    bodyHashAt: seq => ofEvent('body_hash', seq),
  }
}

export async function firstRow<T>(rows: PromiseLike<readonly T[]>): Promise<T> {
  const [row] = await rows
  if (!row) throw new Error('a query that always returns a row returned none')
  return row
}

export async function hashAt(sql: Sql | Transaction, seq: number): Promise<string | undefined> {
  const [event] = await sql<{ hash: string }[]>`SELECT hash FROM holdpoint.event WHERE seq = ${seq}`
  return event?.hash
}
