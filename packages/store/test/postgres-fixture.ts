/** A fresh PostgreSQL database for each test of a suite, and the stores that the test opens in it. */
import type { Store } from '@holdpoint/engine'
import postgres from 'postgres'
import { afterEach, beforeEach } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/postgres.ts'
import { openPostgres, type PostgresOptions } from '../src/index.ts'

export interface PostgresFixture {
  readonly url: string
  /** A connection that no store uses. */
  readonly admin: postgres.Sql
  /** Opens a store, which is closed after the test. */
  open(over?: Partial<PostgresOptions>): Promise<Store>
}

export function usePostgres(): PostgresFixture {
  let database: TestDatabase
  let admin: postgres.Sql
  const opened: Store[] = []
  beforeEach(async () => {
    database = await freshDatabase()
    admin = postgres(database.url, { max: 1, onnotice: () => {} })
  })
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
    await admin.end()
    await database.drop()
  })
  return {
    get url() {
      return database.url
    },
    get admin() {
      return admin
    },
    open: async (over = {}) => {
      const store = await openPostgres({ url: database.url, ...over })
      opened.push(store)
      return store
    },
  }
}
