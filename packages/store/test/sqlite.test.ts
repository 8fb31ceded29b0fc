import { sqlitePlace } from './places.ts'
import { storeSuite } from './store-suite.ts'

storeSuite('the SQLite store', sqlitePlace, true)
