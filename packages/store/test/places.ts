/** Temporary places for archives. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '../../../test/support/postgres.ts'
import { openPostgres, openSqlite } from '../src/index.ts'
import type { Place } from './store-suite.ts'

export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'holdpoint-store-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export async function sqlitePlace(): Promise<Place> {
  const folder = temporaryFolder()
  const file = join(folder.path, 'holdpoint.db')
  return { open: options => openSqlite({ file, ...options }), remove: async () => folder.remove() }
}

export async function postgresPlace(): Promise<Place> {
  const { url, drop } = await freshDatabase()
  return { open: options => openPostgres({ url, ...options }), remove: drop }
}
