/** Tests case C8, a power loss: if only a prefix of the write-ahead log is left, it contains every acknowledged commit before the cut, and no partial commit. */
import { copyFileSync, mkdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqlite, verifyChain } from '../src/index.ts'
import * as sample from './samples.ts'
import { temporaryFolder } from './stores.ts'

it('C8: every acknowledged commit survives a cut of the write-ahead log at any later byte', async () => {
  const folder = temporaryFolder()
  const file = join(folder.path, 'holdpoint.db')
  const store = await openSqlite({ file, headFile: null })
  /** The length of the write-ahead log when each commit was acknowledged. */
  const acknowledgedAt: number[] = []
  for (let n = 1; n <= 12; n++) {
    if (n % 3 === 0) await store.commit(sample.resolveRequest(sample.requestId(n - 1), 'ada'))
    else await store.commit(sample.openRequest(sample.request(n)))
    acknowledgedAt.push(statSync(`${file}-wal`).size)
  }
  const copies = join(folder.path, 'crashed')
  mkdirSync(copies)
  for (const suffix of ['', '-wal']) copyFileSync(file + suffix, join(copies, `full.db${suffix}`))
  await store.close()
  const last = acknowledgedAt.at(-1) ?? 0
  const first = (acknowledgedAt[0] ?? 0) - 5000
  let cuts = 0
  for (let cut = first; cut <= last; cut += 3989) {
    const copy = join(copies, `cut-${cut}.db`)
    copyFileSync(join(copies, 'full.db'), copy)
    copyFileSync(join(copies, 'full.db-wal'), `${copy}-wal`)
    truncateSync(`${copy}-wal`, cut)
    const restarted = await openSqlite({ file: copy, headFile: null })
    const { seq } = await restarted.head()
    expect(seq, `after a cut at byte ${cut}`).toBe(acknowledgedAt.filter(size => size <= cut).length)
    expect(await verifyChain(restarted)).toEqual({ ok: true, events: seq })
    const resolved = (await restarted.events({ limit: 100, types: ['request.resolved'] })).length
    expect(await restarted.count('request', { where: { status: 'resolved' } })).toBe(resolved)
    await restarted.close()
    cuts++
  }
  expect(cuts).toBeGreaterThan(20)
  folder.remove()
})
