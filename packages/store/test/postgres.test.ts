import { hasPostgres } from '../../../test/support/postgres.ts'
import { postgresPlace } from './places.ts'
import { storeSuite } from './store-suite.ts'

if (await hasPostgres()) storeSuite('the PostgreSQL store', postgresPlace, true)
