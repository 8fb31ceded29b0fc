import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqlite } from '../src/index.ts'
import * as sample from './samples.ts'
import { storeSuite } from './store-suite.ts'
import { sqliteLocation, temporaryFolder } from './stores.ts'

storeSuite('the SQLite store', sqliteLocation, true)

it('the SQLite store returns a new request as it was stored, even if the caller later changes the ask object', async () => {
  const folder = temporaryFolder()
  const store = await openSqlite({ file: join(folder.path, 'holdpoint.db') })
  try {
    const input = { command: 'npm test' }
    const { ask } = sample.request(1)
    const row = sample.request(1, { ask: { ...ask, input } as typeof ask })
    await store.commit(sample.openRequest(row))
    input.command = 'rm -rf .'
    expect(await store.get('request', row.id)).toEqual(sample.request(1))
  } finally {
    await store.close()
    folder.remove()
  }
})
