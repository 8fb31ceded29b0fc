/** Verifies the store in a PostgreSQL database while gateways use it. */
import { Fault } from '@holdpoint/protocol'
import { latestVersion, pendingMigrations, postgresMigrations } from './migrations.ts'
import { Database, describeUrl, postgresFault, type Transaction } from './postgres-connection.ts'
import { firstRow, postgresReads } from './postgres-reads.ts'
import { type StoreReport, type VerifyOptions, verifyStore } from './verify-store.ts'

/** Reads everything in one transaction, so that commits of gateways do not look like changes of single rows. */
export async function verifyPostgres({
  url,
  ...options
}: VerifyOptions & { readonly url: string }): Promise<StoreReport> {
  const location = describeUrl(url)
  const database = new Database(url, 1)
  try {
    const verified = await database.sql.begin('isolation level repeatable read read only', async tx => {
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`
      await requireCurrentSchema(tx, location)
      const now = async () =>
        (await firstRow(tx<{ now: number }[]>`SELECT (extract(epoch FROM now()) * 1000)::bigint AS now`)).now
      return verifyStore({ ...postgresReads(work => work(tx)), now }, options)
    })
    return verified as StoreReport // `begin` resolves with the result of its function
  } catch (error) {
    throw postgresFault(location, error)
  } finally {
    await database.close()
  }
}

async function requireCurrentSchema(tx: Transaction, location: string): Promise<void> {
  const [schema] = await tx<{ missing: boolean }[]>`SELECT to_regclass('holdpoint.meta') IS NULL AS missing`
  if (schema?.missing) throw new Fault('not_found', `${location} contains no Holdpoint data yet.`)
  const { version } = await firstRow(tx<{ version: number }[]>`SELECT version FROM holdpoint.meta`)
  if (pendingMigrations(postgresMigrations, version, location).length > 0)
    throw new Fault(
      'store_older',
      `${location} has schema ${version}, and this version of Holdpoint uses ${latestVersion}. Start a gateway once, which migrates it; then verify again.`,
    )
}
