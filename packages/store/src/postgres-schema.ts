/** Creates and migrates the tables in PostgreSQL, and starts a new epoch. */
import { emptyHead, newEpoch } from './hash-chain.ts'
import {
  latestVersion,
  pendingMigrations,
  postgresMigrations,
  type RowRewrite,
  replaceRow,
  type StoredRow,
} from './migrations.ts'
import { loadRows } from './postgres-batch.ts'
import { runStatement, runTransaction, type Sql, type Transaction } from './postgres-connection.ts'
import { postgresDialect } from './sql.ts'

/** Creates or migrates the tables. Gateways that start at the same time wait for each other on the advisory lock. */
export function migrate(sql: Sql, location: string): Promise<void> {
  return runTransaction(sql, async tx => {
    await tx`SELECT pg_advisory_xact_lock(7521946531)`
    // Create the schema only if it is missing, because this user may lack the right to create schemas.
    const [schema] = await tx<{ missing: boolean }[]>`SELECT to_regnamespace('holdpoint') IS NULL AS missing`
    if (schema?.missing) await tx`CREATE SCHEMA holdpoint`
    await tx`CREATE TABLE IF NOT EXISTS holdpoint.meta (version BIGINT NOT NULL)`
    const version = (await tx<{ version: number }[]>`SELECT version FROM holdpoint.meta`)[0]?.version ?? 0
    const pending = pendingMigrations(postgresMigrations, version, location)
    if (pending.length === 0) return
    for (const { statements } of pending) for (const statement of statements) await tx.unsafe(statement)
    for (const { rewrites = () => [] } of pending) for (const each of rewrites()) await rewriteRows(tx, each)
    await tx`DELETE FROM holdpoint.meta`
    await tx`INSERT INTO holdpoint.meta VALUES (${latestVersion})`
  })
}

export async function startEpoch(sql: Sql): Promise<void> {
  const { seq, hash, epoch, at, rulesSeq } = emptyHead(newEpoch())
  await sql`
    INSERT INTO holdpoint.head VALUES (1, ${seq}, ${hash}, ${epoch}, ${at}, ${rulesSeq}, 0)
    ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch`
}

/** The number of rows that a migration loads at a time, because all rows together may not fit into memory. */
const rewriteBatch = 200

async function rewriteRows(tx: Transaction, { table, rewrite }: RowRewrite): Promise<void> {
  const text = `SELECT id FROM holdpoint.${table} ORDER BY ord, id`
  const ids = await runStatement<{ id: string }>(tx, { text, params: [] })
  for (let i = 0; i < ids.length; i += rewriteBatch) {
    const batch = ids.slice(i, i + rewriteBatch).map(({ id }) => id)
    const rows = await loadRows(tx, table, new Set(batch))
    const statements = batch.flatMap(id => {
      const before = rows.get(id)
      if (!before) throw new Error(`${table} ${id} disappeared during a migration`)
      const after = rewrite(before.row as unknown as StoredRow) // every row is a plain object with an id and an ord
      return replaceRow(table, { id, version: before.version }, after, postgresDialect)
    })
    await Promise.all(statements.map(statement => runStatement(tx, statement)))
  }
}
