/** Checks the limits on open sessions and pending requests of each credential, and that no operation has to read the requests of a session to count them. */
import { limits, type Request, type Session } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkUsage } from '../../../test/support/usage-check.ts'
import type { Change, Read } from '../src/index.ts'
import {
  type AttachedAgent,
  ada,
  approval,
  bob,
  expectFault,
  type GatewayFixture,
  openFixture,
  robot,
  runPendingWork,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeEach(async () => {
  fixture = await openFixture()
})
const startExternal = (call = fixture.externalAgent) => call('startSession', { driver: 'external' })
const askIn = (session: Pick<Session, 'id'>, key: string, size = 0) =>
  fixture.externalAgent('openRequest', {
    id: session.id,
    key,
    ask: approval('ls', { input: { command: 'ls', text: 'x'.repeat(size) } }),
  })

describe('the pending requests of an agent', () => {
  it('X10: an agent’s pending requests are limited in all its sessions together, and other credentials can still ask', async () => {
    const [one, two] = [await startExternal(), await startExternal()]
    const half = limits.pendingPerAgentMax / 2
    const asked = await Promise.all(Array.from({ length: half }, (_, i) => askIn(one, `k${i}`)))
    await Promise.all(Array.from({ length: half }, (_, i) => askIn(two, `k${i}`)))
    await expect(askIn(two, 'more')).rejects.toMatchObject({
      code: 'too_many',
      message: expect.stringMatching(/have 500 pending requests; wait for answers before you ask again/),
    })
    expect(await askIn(one, 'k0')).toMatchObject({ status: 'pending' })
    const other = await startExternal(fixture.otherAgent)
    await fixture.otherAgent('openRequest', { id: other.id, key: 'k', ask: approval() })
    await (await fixture.startAttached()).ask('k')
    await fixture.deny(asked[0] as Request) // `half` is more than zero
    expect(await askIn(two, 'more')).toMatchObject({ status: 'pending' })
    await expectFault(askIn(one, 'even more'), 'too_many')
    await checkUsage(fixture.store)
  })

  it('X10: an agent’s pending requests are limited in size', async () => {
    const sessions = [await startExternal(), await startExternal(), await startExternal()]
    const size = 900 * 1024
    let count = 0
    for (let full = false; !full; count++)
      await askIn(sessions[count % 3] as Session, `k${count}`, size).catch(() => {
        full = true
      })
    expect(count).toBe(Math.floor(limits.pendingBytesPerAgentMax / (size + 200)) + 1)
    await checkUsage(fixture.store)
  })

  it('requests no longer count towards the limit of an agent when they are withdrawn, expire, or their session ends', async () => {
    const session = await startExternal()
    const [first] = await Promise.all(
      Array.from({ length: limits.pendingPerAgentMax }, (_, i) =>
        fixture.externalAgent('openRequest', { id: session.id, key: `k${i}`, ask: approval(), deadlineMs: 60_000 }),
      ),
    )
    await fixture.externalAgent('withdrawRequest', { id: (first as Request).id })
    await askIn(session, 'after a withdrawal')
    await expectFault(askIn(session, 'full'), 'too_many')
    for (let i = 0; i < 5; i++) await fixture.clock.advance(30_000)
    await runPendingWork()
    await checkUsage(fixture.store)
    expect((await fixture.person('getSession', { id: session.id })).pending).toBe(1)
    await fixture.person('endSession', { id: session.id })
    await checkUsage(fixture.store)
  })
})

describe('the open sessions of a credential', () => {
  it('F12: the open sessions of an agent are limited, until some end', async () => {
    const sessions = await Promise.all(Array.from({ length: limits.sessionsPerAgentMax }, () => startExternal()))
    await expect(startExternal()).rejects.toMatchObject({
      code: 'too_many',
      message: expect.stringContaining('end some before you start another'),
    })
    await startExternal(fixture.otherAgent)
    await startExternal(fixture.person)
    const { id } = sessions[0] as Session // the limit is more than zero
    await fixture.externalAgent('detachSession', { id, ending: { reason: 'done' } })
    await startExternal()
    await checkUsage(fixture.store)
  })

  it('a session that a person opens for an agent counts for that agent', async () => {
    await fixture.gateway.ensureToken('secret', 'agent', 'named')
    const token = (await fixture.person('listTokens', {})).items.find(known => known.name === 'named')
    const named = await fixture.person('startSession', { driver: 'external', options: { agent: token?.id ?? '' } })
    expect(await fixture.store.get('usage', token?.id ?? '')).toMatchObject({ sessions: 1 })
    await fixture.person('endSession', { id: named.id })
    expect(await fixture.store.get('usage', token?.id ?? '')).toMatchObject({ sessions: 0 })
  })

  it('a session counts again when a message reopens it', async () => {
    const agent = await fixture.startAttached()
    const sessionsOf = async () => (await fixture.store.get('usage', ada.id))?.sessions
    await fixture.person('endSession', { id: agent.session.id })
    expect(await sessionsOf()).toBe(0)
    await fixture.person('sendMessage', { id: agent.session.id, text: 'again' })
    expect(await sessionsOf()).toBe(1)
    await fixture.person('endSession', { id: agent.session.id })
    await fixture.person('deleteSession', { id: agent.session.id })
    await checkUsage(fixture.store)
  })
})

describe('the number of pending requests', () => {
  it('the number of pending requests is the same in every view of a session', async () => {
    const agent = await fixture.startAttached()
    const { id } = agent.session
    for (let i = 0; i < 3; i++) await agent.ask(`k${i}`)
    await fixture.deny(await agent.ask('k0'))
    expect((await fixture.person('getSession', { id })).pending).toBe(2)
    expect((await fixture.person('listSessions', {})).items[0]?.pending).toBe(2)
    expect((await fixture.subscribe()).subscription.hello).toMatchObject({ pending: 2, sessions: [{ pending: 2 }] })
    expect((await fixture.subscribe({ session: id }, bob)).subscription.hello.pending).toBe(2)
    expect((await fixture.person('patchSession', { id, title: 'other' })).pending).toBe(2)
    const external = await startExternal()
    await askIn(external, 'k')
    expect((await fixture.subscribe({ session: external.id }, robot)).subscription.hello.pending).toBe(1)
    expect((await fixture.subscribe()).subscription.hello.pending).toBe(3)
  })
})

describe('an operation on a session with many requests', () => {
  /** The reads of each change of an operation, per attempt to decide it. */
  let decided: { readonly label: string; readonly reads: readonly Read[] }[]
  let agent: AttachedAgent
  beforeEach(async () => {
    decided = []
    const { store } = fixture
    const recording = {
      ...store,
      commit: <T>(change: Change<T>) => {
        decided.push(change)
        return store.commit(change)
      },
    }
    await fixture.gateway.close()
    await fixture.open({ store: recording })
    agent = await fixture.startAttached()
    decided = []
  })
  const isManyRows = (read: Read) => 'query' in read && (read.table === 'request' || read.table === 'draft')

  it('an operation on a session with many requests reads no other requests and is decided once, if it opens, answers or delivers a request, or appends events', async () => {
    for (let i = 0; i < 5; i++) await agent.ask(`pending ${i}`)
    for (let i = 0; i < 5; i++) await fixture.deny(await agent.ask(`undelivered ${i}`))
    const external = await startExternal()
    decided = []
    const request = await agent.ask('k')
    await fixture.allow(request)
    await agent.report(request, 'handed')
    await agent.report(request, 'taken')
    await agent.append({ type: 'message.added', block: 'b', text: 'hello' })
    await askIn(external, 'k')
    await fixture.person('sendMessage', { id: agent.session.id, text: 'hello' })
    expect(decided.map(({ label }) => label)).toEqual([
      'open',
      'answer',
      'handed',
      'taken',
      'appendEvents',
      'open',
      'sendMessage',
    ])
    const queries = decided.flatMap(({ reads }) => reads.filter(isManyRows))
    // The drafts of the answered request are the only rows that are searched for.
    expect(queries).toEqual([{ table: 'draft', query: { where: { request: request.id } } }])
  })

  it.each(['endSession', 'interruptSession'] as const)(
    'an operation on a session with many requests resolves at most 500 requests per change, if it is %s',
    async op => {
      for (let i = 0; i < 7; i++) {
        const requests = await Promise.all(Array.from({ length: 100 }, (_, n) => agent.ask(`undelivered ${i} ${n}`)))
        for (const request of requests) await fixture.deny(request)
      }
      const pending = await Promise.all(Array.from({ length: 600 }, (_, i) => agent.ask(`pending ${i}`)))
      decided = []
      await fixture.person(op, { id: agent.session.id })
      expect(decided.filter(({ label }) => label === 'resolveSome').length).toBeGreaterThanOrEqual(2)
      const types = (await fixture.store.events({ after: 0, limit: 10_000 })).map(event => event.type)
      expect(types.filter(type => type === 'request.undeliverable')).toHaveLength(700)
      expect(await fixture.person('getRequest', { id: (pending[0] as Request).id })).toMatchObject({
        status: 'resolved',
        resolution: { by: 'agent' },
      })
      expect((await fixture.person('getSession', { id: agent.session.id })).pending).toBe(0)
      await checkUsage(fixture.store)
    },
  )

  it('an operation on a session with many requests reads only handed requests if it parks or attaches the session', async () => {
    for (let i = 0; i < 5; i++) await agent.ask(`pending ${i}`)
    for (let i = 0; i < 5; i++) await fixture.deny(await agent.ask(`undelivered ${i}`))
    const handed = await agent.ask('handed')
    await fixture.allow(handed)
    await agent.report(handed, 'handed')
    decided = []
    await fixture.runner('detachSession', { id: agent.session.id, fence: agent.fence })
    await fixture.attach(agent.session.id)
    const queries = decided.flatMap(({ reads }) => reads.filter(isManyRows))
    expect(queries).toEqual([{ table: 'request', query: { where: { open: [3], session: agent.session.id } } }])
    expect(await fixture.person('getRequest', { id: handed.id })).toMatchObject({ delivery: { state: 'unknown' } })
  })
})
