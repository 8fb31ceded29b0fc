/** Tests gateways whose PostgreSQL cannot be reached, does not reply, loses events, or has another clock. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasPostgres } from '../../../test/support/postgres.ts'
import { openPostgresProxy } from '../../../test/support/postgres-proxy.ts'
import { openPostgres, type StoreLoss, verifyChain } from '../src/index.ts'
import { usePostgres } from './postgres-fixture.ts'
import * as sample from './samples.ts'
import { temporaryFolder } from './stores.ts'

if (await hasPostgres()) describe('a gateway on PostgreSQL', faultSuite)

function faultSuite(): void {
  const database = usePostgres()
  const { open } = database
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.remove())
  /** Removes the last events. After a failover, a standby that has not received them lacks them in the same way. */
  const loseEventsAfter = async (seq: number) => {
    await database.admin`DELETE FROM holdpoint.event WHERE seq > ${seq}`
    await database.admin`UPDATE holdpoint.head SET seq = ${seq}, hash = (SELECT hash FROM holdpoint.event WHERE seq = ${seq})`
  }
  /** Kills the connections of all stores, and resolves with the pids of their processes in the server. */
  const killConnections = () => database.admin<{ pid: number }[]>`
    SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'holdpoint' AND datname = current_database()`
  const countRunning = async (processes: readonly { readonly pid: number }[]) => {
    const pids = processes.map(({ pid }) => pid)
    return (await database.admin`SELECT pid FROM pg_stat_activity WHERE pid = ANY(${pids})`).length
  }

  it('F16: a gateway on PostgreSQL does not start if the database has lost events since its last note, unless the loss is accepted', async () => {
    const headFile = join(folder.path, 'pg.head')
    const store = await open({ headFile })
    for (let n = 0; n < 5; n++) await store.commit(sample.addMessage(`${n}`))
    await store.close()
    await loseEventsAfter(3)
    await expect(openPostgres({ url: database.url, headFile })).rejects.toMatchObject({
      code: 'store_lost',
      message: expect.stringMatching(/^PostgreSQL at .* last known event is 5 .* ends at event 3/),
    })
    const losses: StoreLoss[] = []
    await open({ headFile, onLoss: async (_store, loss) => void losses.push(loss) })
    expect(losses).toMatchObject([{ lastSeq: 5, seq: 3 }])
    await open({ headFile })
  })

  it('F16: a gateway on PostgreSQL accepts events that other gateways have added since the note', async () => {
    const headFile = join(folder.path, 'pg.head')
    const store = await open({ headFile })
    await store.commit(sample.addMessage('mine'))
    await store.close()
    const other = await open()
    await other.commit(sample.addMessage('another gateway’s'))
    expect((await (await open({ headFile })).head()).seq).toBe(2)
  })

  it('C11: a gateway on PostgreSQL stops writing after a failover to a standby that lacks acknowledged events', async () => {
    const store = await open()
    for (let n = 0; n < 5; n++) await store.commit(sample.addMessage(`${n}`))
    await loseEventsAfter(4)
    await expect(store.commit(sample.addMessage('on top'))).rejects.toMatchObject({ code: 'store_lost' })
  })

  it.each([
    ['the connection is lost during the commit', false],
    ['the idle connection was lost before', true],
  ])(
    'C11: a store notices lost events if %s, even if another gateway has written the same number of events since',
    async (_, isIdle) => {
      const [store, other] = [await open(), await open()]
      for (let n = 0; n < 5; n++) await store.commit(sample.addMessage(`${n}`))
      await loseEventsAfter(4)
      await other.commit(sample.addMessage('another history'))
      await other.commit(sample.addMessage('and more'))
      const killed = await killConnections()
      expect(killed.length).toBeGreaterThan(1)
      if (isIdle) await expect.poll(() => countRunning(killed)).toBe(0)
      await expect(store.commit(sample.addMessage('on top'))).rejects.toMatchObject({
        code: 'store_lost',
        message: expect.stringContaining('another history'),
      })
      expect(await verifyChain(other)).toEqual({ ok: true, events: 6 })
    },
  )

  it.each(['refuses connections', 'does not reply'] as const)(
    'C10: a gateway on PostgreSQL rejects reads and commits after a few seconds if the database %s, and works again afterwards',
    async how => {
      const proxy = await openPostgresProxy(database.url)
      const store = await open({ url: proxy.url })
      await store.commit(sample.openRequest(sample.request(1)))
      await proxy.interrupt(how)
      const outcomes = await Promise.allSettled([
        store.get('request', sample.requestId(1)),
        store.commit(sample.resolveRequest(sample.requestId(1), 'ada')),
        store.now(),
      ])
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
      await proxy.restore()
      expect((await store.get('request', sample.requestId(1)))?.status).toBe('pending')
      expect(await store.commit(sample.resolveRequest(sample.requestId(1), 'ada'))).toBe(true)
      expect(await store.commit(sample.resolveRequest(sample.requestId(1), 'bob'))).toBe(false)
      expect(await verifyChain(store)).toEqual({ ok: true, events: 2 })
      await store.close()
      proxy.close()
    },
  )

  it('C10: a gateway on PostgreSQL stores a change once or not at all if the database stops replying during the COMMIT', async () => {
    const proxy = await openPostgresProxy(database.url)
    const store = await open({ url: proxy.url })
    // Another gateway opens the request, because a connection sends the text of COMMIT only the first time.
    await (await open()).commit(sample.openRequest(sample.request(1)))
    proxy.muteAtCommit()
    await expect(store.commit(sample.resolveRequest(sample.requestId(1), 'ada'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('unknown whether this change was stored'),
    })
    await proxy.restore()
    // The caller repeats the change, and gets the right result in both cases.
    const repeated = await store.commit(sample.resolveRequest(sample.requestId(1), 'ada'))
    const types = (await sample.allEvents(store)).map(event => event.type)
    expect(types).toEqual(['request.opened', 'request.resolved'])
    expect((await store.get('request', sample.requestId(1)))?.resolution?.person).toBe('ada')
    expect(typeof repeated).toBe('boolean')
    await store.close()
    proxy.close()
  })

  it('T5: a gateway on PostgreSQL decides by the clock of the database, even if the clock of the machine is wrong', async () => {
    const now = Date.now
    const [behind, ahead] = [await open(), await open()]
    try {
      Date.now = () => now() - 300_000
      await behind.commit(sample.addMessage('five minutes behind'))
      const seenBehind = await behind.now()
      Date.now = () => now() + 300_000
      await ahead.commit(sample.addMessage('five minutes ahead'))
      const seenAhead = await ahead.now()
      Date.now = now
      expect(Math.abs(seenBehind - now())).toBeLessThan(60_000)
      expect(Math.abs(seenAhead - now())).toBeLessThan(60_000)
      const times = (await sample.allEvents(ahead)).map(event => event.at)
      expect(Math.abs((times[1] ?? 0) - (times[0] ?? 0))).toBeLessThan(60_000)
      expect([...behind.takeClockJumps(), ...ahead.takeClockJumps()]).toEqual([])
    } finally {
      Date.now = now
    }
  })
}
