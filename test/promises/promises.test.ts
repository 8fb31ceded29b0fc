/** The promises by number, through the gateway, on every store; where several gateways share an archive, through two desks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Caller, callAs, type Gateway, openGateway, type Store, type StoredEvent } from '@holdpoint/engine'
import { type Ask, type Call, type DriverInfo, Fault, formatId, parseCursor, type Request } from '@holdpoint/protocol'
import { openMemory, openPostgres, openSqlite, verifyChain } from '@holdpoint/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../support/postgres.ts'

interface Archive {
  /** Opens it, or opens it again after `crash`. */
  open(): Promise<Store>
  drop(): Promise<void>
}
/** One held by hand where the store takes one, so that deadlines need no waiting. */
const clock = { at: Date.now(), now: () => clock.at }

async function memory(): Promise<Archive> {
  const store = await openMemory({ clock })
  return { open: async () => store, drop: async () => {} }
}
async function sqlite(): Promise<Archive> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-promises-'))
  return {
    open: () => openSqlite({ file: join(folder, 'holdpoint.db'), clock }),
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}
async function postgres(): Promise<Archive> {
  const { url, drop } = await freshDatabase()
  return { open: () => openPostgres({ url, clock, pollMs: 50 }), drop }
}
const archives: [string, () => Promise<Archive>, number][] = [
  ['memory', memory, 1],
  ['SQLite', sqlite, 1],
]
if (await hasPostgres()) archives.push(['PostgreSQL', postgres, 2])

const ada: Caller = { role: 'person', name: 'ada', token: 'tok_ada', via: 'page' }
const runnerCaller: Caller = { role: 'runner', name: 'runner', token: 'tok_runner', via: 'api' }
const steady: DriverInfo = { name: 'steady', title: '', capabilities: ['resumable'], modes: [], ready: true }
const runnerId = formatId('run', new Uint8Array(20))
const approval = (command = 'ls'): Ask => ({
  kind: 'approval',
  tool: 'Bash',
  input: { command },
  title: command,
  cwd: '/',
  editable: false,
})

describe.each(archives)('on %s', (_name, make, gateways) => {
  let archive: Archive
  let stores: Store[]
  let desks: Gateway[]
  /** The gateway that the agent's side talks to, and the last one: the same where there is one gateway. */
  let runner: Call
  let person: Call

  async function openAll() {
    stores = []
    desks = []
    for (let i = 0; i < gateways; i++) {
      const store = await archive.open()
      stores.push(store)
      desks.push(await openGateway({ store, settings: { sweepMs: 20 } }))
    }
    runner = callAs(desks[0] as Gateway, runnerCaller)
    person = callAs(desks.at(-1) as Gateway, ada)
  }
  async function closeAll() {
    for (const gateway of desks) await gateway.close()
    // The memory store is its own disk: closing it would lose it.
    for (const store of stores) if (store.kind !== 'memory') await store.close()
  }
  beforeEach(async () => {
    archive = await make()
    await openAll()
  })
  afterEach(async () => {
    await closeAll()
    await archive.drop()
  })

  async function drive() {
    const { incarnation } = await runner('announceRunner', { id: runnerId, name: 'r', drivers: [steady] })
    const { items } = await person('listSessions', {})
    const id = items[0]?.id ?? (await person('startSession', { driver: 'steady' })).id
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

  it('G1 one resolution: many answer, one wins, every other is told who and what', async () => {
    const agent = await drive()
    for (let round = 0; round < 8; round++) {
      const request = await agent.ask(`k${round}`)
      const people = Array.from({ length: 16 }, (_, i) => {
        const caller: Caller = { role: 'person', name: `p${i}`, token: `tok_${i}`, via: 'api' }
        return answer(request, i % 2 ? 'allow' : 'deny', callAs(desks[i % gateways] as Gateway, caller))
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

  it('G1 at or after its deadline only the deadline can win, and an equal answer by the same person is no error', async () => {
    const agent = await drive()
    const [late, early] = [await agent.ask('late', approval(), 1000), await agent.ask('early', approval(), 1000)]
    await answer(early, 'allow')
    clock.at += 1000
    const [first, second] = await Promise.allSettled(desks.map(gateway => answer(late, 'allow', callAs(gateway, ada))))
    for (const result of [first, second]) if (result) expect(result.status).toBe('rejected')
    expect((await person('getRequest', { id: late.id })).resolution).toMatchObject({ by: 'deadline' })
    expect(await answer(early, 'allow')).toMatchObject({ resolution: { person: 'ada' } })
  })

  it('G2 state and event commit together: whoever hears of the event finds the state, and a failed change leaves neither', async () => {
    const agent = await drive()
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
    for (const one of stores) expect(await verifyChain(one)).toMatchObject({ ok: true })
  })

  it('G3 no gap: every watcher sees every event once and in order, whichever gateway wrote it', async () => {
    const agent = await drive()
    const watches = await Promise.all(
      desks.flatMap(gateway =>
        [0, 1].map(async () => {
          const seen: number[] = []
          const watch = await gateway.subscribe(
            ada,
            {},
            { frame: ({ cursor }) => cursor && seen.push(parseCursor(cursor).seq) },
          )
          return { from: parseCursor(watch.hello.cursor).seq, seen }
        }),
      ),
    )
    const calls = desks.map(gateway => callAs(gateway, runnerCaller))
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const items = [{ type: 'message.added' as const, block: `b${i}`, text: `${i}` }]
        return (calls[i % calls.length] as Call)('appendEvents', { id: agent.id, items, fence: agent.fence })
      }),
    )
    const { seq } = await (stores[0] as Store).head()
    for (const { from, seen } of watches) {
      await expect.poll(() => seen.at(-1), { timeout: 5000 }).toBe(seq)
      expect(seen).toEqual(Array.from({ length: seq - from }, (_, i) => from + 1 + i))
    }
  })

  it('G3 a cursor resumes after a restart, and one of another log is told so', async () => {
    await drive()
    const before = await (desks[0] as Gateway).subscribe(ada, {}, { frame: () => {} })
    await closeAll()
    await openAll()
    const frame = () => {}
    const quiet = await (desks[0] as Gateway).subscribe(ada, { after: before.hello.cursor }, { frame })
    expect(quiet.hello.resume).toBe('ok')
    const again = await (desks[0] as Gateway).subscribe(ada, { after: quiet.hello.cursor }, { frame })
    expect(again.hello.resume).toBe('ok')
    await person('addRule', { effect: 'deny', tool: 'X' })
    await expect
      .poll(
        async () =>
          (await (desks[0] as Gateway).subscribe(ada, { after: quiet.hello.cursor }, { frame })).missed.length,
      )
      .toBe(1)
    const foreign = await (desks[0] as Gateway).subscribe(ada, { after: 'elsewhere-1' }, { frame })
    expect(foreign.hello.resume).toBe('gap')
  })

  it('G4 asking twice is asking once, also at the same moment and after a restart', async () => {
    const agent = await drive()
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        callAs(desks[i % gateways] as Gateway, runnerCaller)('openRequest', {
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
    const again = await drive()
    expect(await again.ask('k')).toMatchObject({ id: asked[0]?.id, resolution: { by: 'person' } })
    await expect(again.ask('k', approval('other'))).rejects.toMatchObject({ code: 'key_conflict' })
    expect((await log()).filter(event => event.type === 'request.opened')).toHaveLength(1)
  })

  it('G5 acknowledged means kept, and delivered or accounted for; an allow is never handed twice', async () => {
    const agent = await drive()
    const requests = new Map<string, Request>()
    for (const key of ['waiting', 'handed', 'taken', 'denied']) {
      const request = await agent.ask(key)
      requests.set(key, await answer(request, key === 'denied' ? 'deny' : 'allow'))
      if (key !== 'waiting') await agent.report(request, 'handed')
      if (key === 'taken') await agent.report(request, 'taken')
    }
    await closeAll()
    await openAll()
    for (const [, said] of requests)
      expect((await person('getRequest', { id: said.id })).resolution).toEqual(said.resolution)
    const next = await drive()
    const of = (key: string) => requests.get(key) as Request
    const deliveries = await Promise.all([...requests.values()].map(({ id }) => person('getRequest', { id })))
    expect(deliveries.map(request => request.delivery.state)).toEqual(['waiting', 'unknown', 'taken', 'unknown'])
    const handed = await Promise.allSettled(
      desks.map(gateway =>
        callAs(gateway, runnerCaller)('reportDelivery', { id: of('handed').id, state: 'handed', fence: next.fence }),
      ),
    )
    expect(handed.every(result => result.status === 'rejected')).toBe(true)
    await expect(next.report(of('taken'), 'handed')).rejects.toBeInstanceOf(Fault)
    expect(await next.report(of('denied'), 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    expect(await next.report(of('waiting'), 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    await expect(
      callAs(desks.at(-1) as Gateway, runnerCaller)('reportDelivery', {
        id: of('waiting').id,
        state: 'taken',
        fence: agent.fence,
      }),
    ).rejects.toMatchObject({ code: 'fenced' })
  })

  it('G6 nothing is allowed by absence: not by time, not by the loss of anyone', async () => {
    const agent = await drive()
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
    const said = []
    for (const { id } of [late, withdrawn, interrupted, open])
      said.push((await person('getRequest', { id })).resolution)
    expect(said.map(resolution => [resolution?.by, resolution?.reason, resolution?.answer])).toEqual([
      ['deadline', 'nobody answered', undefined],
      ['agent', 'withdrawn', undefined],
      ['agent', 'interrupted', undefined],
      ['agent', 'session_ended', undefined],
    ])
    const allowed = (await log()).filter(event => JSON.stringify(event.body).includes('"allow"'))
    expect(allowed).toEqual([])
  })
})
