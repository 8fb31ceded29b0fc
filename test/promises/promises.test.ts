/** Tests the promises G1 to G6 through the gateway on every store, and with two gateways on PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Caller, callAs, type Gateway, openGateway, type Store, type StoredEvent } from '@holdpoint/engine'
import { type Ask, type Call, type DriverInfo, Fault, formatId, parseCursor, type Request } from '@holdpoint/protocol'
import { openMemory, openPostgres, openSqlite, verifyChain } from '@holdpoint/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../support/postgres.ts'

interface TestStore {
  /** Opens the store; called again after a restart. */
  open(): Promise<Store>
  drop(): Promise<void>
}
/** A manual clock, so that deadlines need no waiting. */
const clock = { at: Date.now(), now: () => clock.at, monotonic: () => clock.at }

async function memory(): Promise<TestStore> {
  const store = await openMemory({ clock })
  return { open: async () => store, drop: async () => {} }
}
async function sqlite(): Promise<TestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-promises-'))
  return {
    open: () => openSqlite({ file: join(folder, 'holdpoint.db'), clock }),
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}
async function postgres(): Promise<TestStore> {
  const { url, drop } = await freshDatabase()
  return { open: () => openPostgres({ url, clock, pollMs: 50 }), drop }
}
const testStores: [string, () => Promise<TestStore>, number][] = [
  ['memory', memory, 1],
  ['SQLite', sqlite, 1],
]
if (await hasPostgres()) testStores.push(['PostgreSQL', postgres, 2])

const ada: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok_ada', via: 'page' }
const resumable: DriverInfo = { name: 'resumable', title: '', capabilities: ['resumable'], modes: [], ready: true }
const runnerId = formatId('run', new Uint8Array(20))
const runnerCaller: Caller = { role: 'runner', id: runnerId, name: 'runner', token: 'tok_runner', via: 'api' }
const approval = (command = 'ls'): Ask => ({
  kind: 'approval',
  tool: 'Bash',
  input: { command },
  title: command,
  cwd: '/',
  editable: false,
})

describe.each(testStores)('promises on %s', (_name, make, gatewayCount) => {
  let testStore: TestStore
  let stores: Store[]
  let gateways: Gateway[]
  /** Calls the first gateway. */
  let runner: Call
  /** Calls the last gateway. */
  let person: Call

  async function openAll() {
    stores = []
    gateways = []
    for (let i = 0; i < gatewayCount; i++) {
      const store = await testStore.open()
      stores.push(store)
      gateways.push(await openGateway({ store, settings: { sweepMs: 20 } }))
    }
    runner = callAs(gateways[0] as Gateway, runnerCaller)
    person = callAs(gateways.at(-1) as Gateway, ada)
  }
  async function closeAll() {
    for (const gateway of gateways) await gateway.close()
    // Closing the memory store would lose its data.
    for (const store of stores) if (store.kind !== 'memory') await store.close()
  }
  beforeEach(async () => {
    testStore = await make()
    await openAll()
  })
  afterEach(async () => {
    await closeAll()
    await testStore.drop()
  })

  /** Attaches the session, and starts one first if there is none. */
  async function attachAgent() {
    const { incarnation } = await runner('announceRunner', { id: runnerId, name: 'r', drivers: [resumable] })
    const { items } = await person('listSessions', {})
    const id = items[0]?.id ?? (await person('startSession', { driver: 'resumable' })).id
    const { fence } = await runner('attachSession', { id, runner: runnerId, incarnation })
    return {
      id,
      fence,
      ask: (key: string, ask = approval(), deadlineMs?: number) =>
        runner('openRequest', { id, key, ask, fence, ...(deadlineMs ? { deadlineMs } : {}) }),
      report: (request: Request, state: 'handed' | 'taken') =>
        runner('reportDelivery', { id: request.id, state, fence }),
    }
  }
  const answer = (request: Request, kind: 'allow' | 'deny', call = person) =>
    call('answerRequest', { id: request.id, digest: request.digest, answer: { kind } })
  async function log(store = stores[0] as Store): Promise<StoredEvent[]> {
    const events: StoredEvent[] = []
    for (;;) {
      const page = await store.events({ after: events.length, limit: 500 })
      if (page.length === 0) return events
      events.push(...page)
    }
  }

  it('G1: one of many concurrent answers wins, and the other people are told who won and with which answer', async () => {
    const agent = await attachAgent()
    for (let round = 0; round < 8; round++) {
      const request = await agent.ask(`k${round}`)
      const people = Array.from({ length: 16 }, (_, i) => {
        const caller: Caller = { role: 'person', id: `per_${i}`, name: `p${i}`, token: `tok_${i}`, via: 'api' }
        return answer(request, i % 2 ? 'allow' : 'deny', callAs(gateways[i % gatewayCount] as Gateway, caller))
      })
      const results = await Promise.allSettled(people)
      const won = results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
      const lost = results.flatMap(result => (result.status === 'rejected' ? [result.reason as Fault] : []))
      expect(won).toHaveLength(1)
      for (const fault of lost) {
        expect(fault).toMatchObject({ name: 'Fault', code: 'already_resolved' })
        expect((fault.detail as { request: Request }).request.resolution).toEqual(won[0]?.resolution)
      }
      expect((await person('getRequest', { id: request.id })).resolution).toEqual(won[0]?.resolution)
    }
    expect((await log()).filter(event => event.type === 'request.resolved')).toHaveLength(8)
  })

  it('G1: after the deadline only the deadline can resolve a request, and repeating the same answer is not an error', async () => {
    const agent = await attachAgent()
    const [late, early] = [await agent.ask('late', approval(), 1000), await agent.ask('early', approval(), 1000)]
    await answer(early, 'allow')
    clock.at += 1000
    const [first, second] = await Promise.allSettled(
      gateways.map(gateway => answer(late, 'allow', callAs(gateway, ada))),
    )
    for (const result of [first, second]) if (result) expect(result.status).toBe('rejected')
    expect((await person('getRequest', { id: late.id })).resolution).toMatchObject({ by: 'deadline' })
    expect(await answer(early, 'allow')).toMatchObject({ resolution: { person: 'ada' } })
  })

  it('G2: state and event are committed together, and a failed change stores neither', async () => {
    const agent = await attachAgent()
    const request = await agent.ask('k')
    const found: Promise<unknown>[] = []
    const store = stores.at(-1) as Store
    store.onCommit(events => {
      for (const event of events ?? [])
        if (event.type === 'request.resolved') found.push(store.get('request', request.id).then(row => row?.status))
    })
    const before = await log()
    await expect(
      store.commit({
        label: 'broken',
        reads: [{ table: 'request', id: request.id }],
        decide: () => {
          throw new Error('broken')
        },
      }),
    ).rejects.toThrow('broken')
    expect(await log()).toEqual(before)
    await answer(request, 'allow')
    expect(await Promise.all(found)).toEqual(['resolved'])
    for (const each of stores) expect(await verifyChain(each)).toMatchObject({ ok: true })
  })

  it('G3: every subscriber gets every event once and in order, whichever gateway wrote it', async () => {
    const agent = await attachAgent()
    const subscribers = await Promise.all(
      gateways.flatMap(gateway =>
        [0, 1].map(async () => {
          const received: number[] = []
          const subscription = await gateway.subscribe(
            ada,
            {},
            { frame: ({ cursor }) => cursor && received.push(parseCursor(cursor).seq) },
          )
          return { from: parseCursor(subscription.hello.cursor).seq, received }
        }),
      ),
    )
    const calls = gateways.map(gateway => callAs(gateway, runnerCaller))
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const items = [{ type: 'message.added' as const, block: `b${i}`, text: `${i}` }]
        return (calls[i % calls.length] as Call)('appendEvents', { id: agent.id, items, fence: agent.fence })
      }),
    )
    const { seq } = await (stores[0] as Store).head()
    for (const { from, received } of subscribers) {
      await expect.poll(() => received.at(-1)).toBe(seq)
      expect(received).toEqual(Array.from({ length: seq - from }, (_, i) => from + 1 + i))
    }
  })

  it('G3: a subscription resumes from its cursor after a restart, and starts with a snapshot if the cursor belongs to another log', async () => {
    await attachAgent()
    const before = await (gateways[0] as Gateway).subscribe(ada, {}, { frame: () => {} })
    await closeAll()
    await openAll()
    const frame = () => {}
    const resumed = await (gateways[0] as Gateway).subscribe(ada, { after: before.hello.cursor }, { frame })
    expect(resumed.hello.resume).toBe('ok')
    const again = await (gateways[0] as Gateway).subscribe(ada, { after: resumed.hello.cursor }, { frame })
    expect(again.hello.resume).toBe('ok')
    await person('addRule', { effect: 'deny', tool: 'X' })
    await expect
      .poll(
        async () =>
          (await (gateways[0] as Gateway).subscribe(ada, { after: resumed.hello.cursor }, { frame })).missed.length,
      )
      .toBe(1)
    const foreign = await (gateways[0] as Gateway).subscribe(ada, { after: 'elsewhere-1' }, { frame })
    expect(foreign.hello.resume).toBe('gap')
  })

  it('G4: asking twice opens one request, even concurrently or after a restart', async () => {
    const agent = await attachAgent()
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        callAs(gateways[i % gatewayCount] as Gateway, runnerCaller)('openRequest', {
          id: agent.id,
          key: 'k',
          ask: approval(),
          fence: agent.fence,
        }),
      ),
    )
    expect(new Set(asked.map(request => request.id)).size).toBe(1)
    await answer(asked[0] as Request, 'deny')
    await closeAll()
    await openAll()
    const again = await attachAgent()
    expect(await again.ask('k')).toMatchObject({ id: asked[0]?.id, resolution: { by: 'person' } })
    await expect(again.ask('k', approval('other'))).rejects.toMatchObject({ code: 'key_conflict' })
    expect((await log()).filter(event => event.type === 'request.opened')).toHaveLength(1)
  })

  it('G5: an acknowledged answer survives a restart, and an allow is never handed twice', async () => {
    const agent = await attachAgent()
    const requests = new Map<string, Request>()
    for (const key of ['waiting', 'handed', 'taken', 'denied']) {
      const request = await agent.ask(key)
      requests.set(key, await answer(request, key === 'denied' ? 'deny' : 'allow'))
      if (key !== 'waiting') await agent.report(request, 'handed')
      if (key === 'taken') await agent.report(request, 'taken')
    }
    await closeAll()
    await openAll()
    for (const [, answered] of requests)
      expect((await person('getRequest', { id: answered.id })).resolution).toEqual(answered.resolution)
    const next = await attachAgent()
    const of = (key: string) => requests.get(key) as Request
    const deliveries = await Promise.all([...requests.values()].map(({ id }) => person('getRequest', { id })))
    expect(deliveries.map(request => request.delivery.state)).toEqual(['waiting', 'unknown', 'taken', 'unknown'])
    const handed = await Promise.allSettled(
      gateways.map(gateway =>
        callAs(gateway, runnerCaller)('reportDelivery', { id: of('handed').id, state: 'handed', fence: next.fence }),
      ),
    )
    expect(handed.every(result => result.status === 'rejected')).toBe(true)
    await expect(next.report(of('taken'), 'handed')).rejects.toBeInstanceOf(Fault)
    expect(await next.report(of('denied'), 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    expect(await next.report(of('waiting'), 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    await expect(
      callAs(gateways.at(-1) as Gateway, runnerCaller)('reportDelivery', {
        id: of('waiting').id,
        state: 'taken',
        fence: agent.fence,
      }),
    ).rejects.toMatchObject({ code: 'fenced' })
  })

  it('G6: a deadline, withdrawal, interrupt, lost runner or end never allows a request', async () => {
    const agent = await attachAgent()
    const withdrawn = await agent.ask('withdrawn')
    await runner('withdrawRequest', { id: withdrawn.id, fence: agent.fence })
    const interrupted = await agent.ask('interrupted')
    await person('interruptSession', { id: agent.id })
    const late = await agent.ask('late', approval(), 1000)
    const open = await agent.ask('open')
    clock.at += 1000
    await expect.poll(async () => (await person('getRequest', { id: late.id })).status).toBe('resolved')
    await person('retireRunner', { id: runnerId })
    expect(await person('getRequest', { id: open.id })).toMatchObject({ status: 'pending' })
    await person('endSession', { id: agent.id })
    const resolutions = []
    for (const { id } of [late, withdrawn, interrupted, open])
      resolutions.push((await person('getRequest', { id })).resolution)
    expect(resolutions.map(resolution => [resolution?.by, resolution?.reason, resolution?.answer])).toEqual([
      ['deadline', 'nobody answered', undefined],
      ['agent', 'withdrawn', undefined],
      ['agent', 'interrupted', undefined],
      ['agent', 'session_ended', undefined],
    ])
    const allowed = (await log()).filter(event => JSON.stringify(event.body).includes('"allow"'))
    expect(allowed).toEqual([])
  })
})
