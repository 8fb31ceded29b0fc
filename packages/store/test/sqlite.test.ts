import { storeSuite } from './store-suite.ts'
import { sqlitePlace } from './stores.ts'

storeSuite('the SQLite store', sqlitePlace, true)
