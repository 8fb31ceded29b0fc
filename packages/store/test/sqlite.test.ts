import { storeSuite } from './store-suite.ts'
import { sqliteLocation } from './stores.ts'

storeSuite('the SQLite store', sqliteLocation, true)
