import { openMemory } from '../src/index.ts'
import { storeSuite } from './store-suite.ts'

storeSuite('the memory store', async () => ({ open: options => openMemory(options), remove: async () => {} }), false)
