/** Temporary stores for tests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { freshDatabase, type TestDatabase } from '../../../test/support/postgres.ts'
import { openPostgres, openSqlite } from '../src/index.ts'
import type { StoreLocation } from './store-suite.ts'

export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'holdpoint-store-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export async function sqliteLocation(): Promise<StoreLocation> {
  const folder = temporaryFolder()
  const file = join(folder.path, 'holdpoint.db')
  return { open: options => openSqlite({ file, ...options }), remove: async () => folder.remove() }
}

/** One database for the whole test file, because dropping a schema is much faster than creating a database. The database is deleted with the server. */
let database: Promise<TestDatabase> | undefined

export async function postgresLocation(): Promise<StoreLocation> {
  database ??= freshDatabase()
  const { url } = await database
  const remove = async () => {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    await sql`DROP SCHEMA holdpoint CASCADE`
    await sql.end()
  }
  return { open: options => openPostgres({ url, ...options }), remove }
}
