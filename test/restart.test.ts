/** Tests case C4: a restart with very many pending and overdue requests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Caller, callAs, openGateway, type Store } from '@holdpoint/engine'
import { openSqlite } from '@holdpoint/store'
import { expect, it } from 'vitest'

const owner: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok_ada', via: 'page' }
const pendingCount = 9000
const overdueCount = 1000
const perSession = 500

it('C4: after a restart with 10,000 pending requests, all of them are visible within 5 s of CPU time, and 1,000 overdue requests expire once, as “nobody answered”', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-restart-'))
  const file = join(folder, 'holdpoint.db')
  const time = { now: 1_800_000_000_000, elapsed: 0 }
  const clock = { now: () => time.now, monotonic: () => time.elapsed }
  const open = async () => {
    const store = await openSqlite({ file, clock })
    return { store, gateway: await openGateway({ store }) }
  }
  const first = await open()
  const person = callAs(first.gateway, owner)
  const ask = { kind: 'approval' as const, tool: 't', input: {}, title: 't', cwd: '/', editable: false }
  for (let done = 0; done < pendingCount + overdueCount; done += perSession) {
    const { id } = await person('startSession', { driver: 'external' })
    const deadline = done < overdueCount ? { deadlineMs: 60_000, onDeadline: 'deny' as const } : {}
    await Promise.all(
      Array.from({ length: perSession }, (_, n) => person('openRequest', { id, key: `k${n}`, ask, ...deadline })),
    )
  }
  await first.gateway.close()
  await first.store.close()

  time.now += 120_000
  const cpuBefore = process.cpuUsage()
  const second = await open()
  const call = callAs(second.gateway, owner)
  const pending = async () => (await call('listRequests', { status: 'pending', limit: 500 })).items.length
  expect(await pending()).toBe(500)
  while ((await resolutions(second.store)) < overdueCount) await new Promise(resolve => setTimeout(resolve, 50))
  const { user, system } = process.cpuUsage(cpuBefore)
  expect((user + system) / 1000, 'milliseconds of CPU time').toBeLessThan(5000)
  await new Promise(resolve => setTimeout(resolve, 1200))
  expect(await resolutions(second.store), 'each expires once').toBe(overdueCount)
  expect(await second.store.count('request', { where: { status: 'pending' } })).toBe(pendingCount)
  const expired = await second.store.find('request', { where: { status: 'resolved' }, limit: 5 })
  for (const { resolution } of expired) expect(resolution).toMatchObject({ by: 'deadline', reason: 'nobody answered' })
  await second.gateway.close()
  await second.store.close()
  rmSync(folder, { recursive: true })
})

async function resolutions(store: Store): Promise<number> {
  return (await store.events({ types: ['request.resolved'], limit: 20_000 })).length
}
