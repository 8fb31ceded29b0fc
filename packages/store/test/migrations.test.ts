/** Pins the tables as released. If a test in this file fails, the tables have changed, and existing stores need a new migration. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  latestVersion,
  type Migration,
  pendingMigrations,
  postgresMigrations,
  sqliteMigrations,
} from '../src/migrations.ts'

it('migrations are numbered without gaps, and both dialects have the same numbers', () => {
  const versions = sqliteMigrations.map(migration => migration.version)
  expect(versions).toEqual(versions.map((_, n) => latestVersion - versions.length + 1 + n))
  expect(postgresMigrations.map(migration => migration.version)).toEqual(versions)
})

it('the released migrations are unchanged', () => {
  const pin = (migrations: readonly Migration[]) =>
    migrations.map(({ statements }) => createHash('sha256').update(statements.join(';\n')).digest('hex').slice(0, 16))
  expect({ sqlite: pin(sqliteMigrations), postgres: pin(postgresMigrations) }).toEqual({
    sqlite: ['4c1afd3efefb0194'],
    postgres: ['d97c0186a185f5f6'],
  })
})

it('a store gets exactly the migrations that are newer than its version', () => {
  const all: readonly Migration[] = [3, 4, 5].map(version => ({ version, statements: [] }))
  const versionsFrom = (version: number) => pendingMigrations(all, version, 'a.db').map(migration => migration.version)
  expect(versionsFrom(0)).toEqual([3, 4, 5])
  expect(versionsFrom(4)).toEqual([5])
  expect(versionsFrom(5)).toEqual([])
})
