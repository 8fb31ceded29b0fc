import { hasPostgres } from '../../../test/support/postgres.ts'
import { storeSuite } from './store-suite.ts'
import { postgresLocation } from './stores.ts'

if (await hasPostgres()) storeSuite('the PostgreSQL store', postgresLocation, true)
