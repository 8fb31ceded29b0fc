/** Tests the outcome of requests when their agent withdraws them, when their session is interrupted, ends or loses its agent, and when their deadline passes. */
import { type DeliveryState, limits, type Request } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkUsage } from '../../../test/support/usage-check.ts'
import { ChangeBuilder } from '../src/change-builder.ts'
import type { Change, Read } from '../src/index.ts'
import { resolveRequest } from '../src/request-transitions.ts'
import type { RequestRow } from '../src/rows.ts'
import { type AttachedAgent, approval, expectFault, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeEach(async () => {
  fixture = await openFixture()
})
const current = ({ id }: Request) => fixture.person('getRequest', { id })
const states = ['pending', 'waiting', 'handed', 'taken', 'unknown', 'undeliverable'] as const
/** Opens a request and brings it into each of the states in which a session can have requests. */
async function requestsIn(agent: AttachedAgent): Promise<Record<(typeof states)[number], Request>> {
  const found = {} as Record<(typeof states)[number], Request>
  for (const state of states) {
    const request = await agent.ask(state)
    found[state] = request
    if (state === 'pending') continue
    await fixture.allow(request)
    if (state !== 'waiting' && state !== 'undeliverable') await agent.report(request, 'handed')
    if (state !== 'waiting' && state !== 'handed') await agent.report(request, state)
  }
  return found
}
async function outcomes(requests: Record<string, Request>) {
  return Promise.all(
    Object.values(requests).map(async request => {
      const { resolution, delivery } = await current(request)
      return [resolution?.by ?? null, resolution?.reason ?? null, delivery.state, delivery.reason ?? null]
    }),
  )
}
type Outcome = readonly [by: string | null, reason: string | null, state: DeliveryState, deliveryReason: string | null]
const answered = (state: DeliveryState, reason: string | null = null): Outcome => ['person', null, state, reason]

describe('the open requests of a session', () => {
  const ways: readonly (readonly [string, string, (agent: AttachedAgent) => Promise<unknown>, readonly Outcome[]])[] = [
    [
      'is interrupted',
      'resumable',
      ({ session: { id } }) => fixture.person('interruptSession', { id }),
      [
        ['agent', 'interrupted', 'taken', null],
        answered('undeliverable', 'the turn was interrupted first'),
        answered('handed'),
      ],
    ],
    [
      'is ended by a person',
      'resumable',
      ({ session: { id } }) => fixture.person('endSession', { id }),
      [
        ['agent', 'session_ended', 'taken', null],
        answered('undeliverable', 'the session ended first'),
        answered('unknown', 'the session ended first'),
      ],
    ],
    [
      'is ended by its agent as done',
      'resumable',
      ({ session: { id }, fence }) => fixture.runner('detachSession', { id, fence, ending: { reason: 'done' } }),
      [
        ['agent', 'session_ended', 'taken', null],
        answered('undeliverable', 'the session ended first'),
        answered('taken'),
      ],
    ],
    [
      'cannot be resumed and loses its runner',
      'unresumable',
      () => fixture.announce(),
      [
        ['agent', 'lost', 'taken', null],
        answered('undeliverable', 'the agent was lost first'),
        answered('unknown', 'the agent was lost first'),
      ],
    ],
    [
      'can be resumed and loses its runner',
      'resumable',
      () => fixture.announce(),
      [
        [null, null, 'waiting', null],
        answered('waiting'),
        answered('unknown', 'the agent was lost after the answer was handed to it'),
      ],
    ],
    [
      'is parked',
      'resumable',
      ({ session: { id }, fence }) => fixture.runner('detachSession', { id, fence }),
      [
        [null, null, 'waiting', null],
        answered('waiting'),
        answered('unknown', 'the agent was lost after the answer was handed to it'),
      ],
    ],
  ]
  it.each(ways)(
    'the open requests of a session have the right outcome if the session %s',
    async (_, driver, way, expected) => {
      const agent = await fixture.startAttached(driver)
      const elsewhere = await fixture.startAttached('resumable', {}, 1)
      const untouched = await elsewhere.ask('k')
      const requests = await requestsIn(agent)
      await way(agent)
      expect(await outcomes(requests)).toEqual([
        ...expected,
        answered('taken'),
        answered('unknown'),
        answered('undeliverable'),
      ])
      expect(await current(untouched)).toMatchObject({ status: 'pending' })
      await checkUsage(fixture.store)
    },
  )

  it('the open requests of a session have the right outcome if the agent withdraws them', async () => {
    const agent = await fixture.startAttached()
    const requests = await requestsIn(agent)
    for (const { id } of Object.values(requests)) await fixture.runner('withdrawRequest', { id, fence: agent.fence })
    expect(await outcomes(requests)).toEqual([
      ['agent', 'withdrawn', 'taken', null],
      answered('undeliverable', 'the agent withdrew the request'),
      answered('handed'),
      answered('taken'),
      answered('unknown'),
      answered('undeliverable'),
    ])
    await checkUsage(fixture.store)
  })

  it('the open requests of a session get one event each when they are resolved and when their delivery changes', async () => {
    const agent = await fixture.startAttached()
    const [answered, withdrawn] = [await agent.ask('answered'), await agent.ask('withdrawn')]
    await fixture.allow(answered)
    await agent.report(answered, 'handed')
    await fixture.runner('withdrawRequest', { id: withdrawn.id, fence: agent.fence })
    await fixture.person('endSession', { id: agent.session.id })
    const at = fixture.clock.now()
    const events = (await fixture.store.events({ after: 0, limit: 100 })).map(({ body }) => body)
    expect(events.filter(body => body && 'request' in body)).toEqual([
      {
        type: 'request.resolved',
        request: answered.id,
        digest: answered.digest,
        resolution: expect.objectContaining({ at, by: 'person', person: 'ada', answer: { kind: 'allow' } }),
        delivery: { state: 'waiting', at },
      },
      { type: 'request.handed', request: answered.id, delivery: { state: 'handed', at } },
      {
        type: 'request.resolved',
        request: withdrawn.id,
        digest: withdrawn.digest,
        resolution: { at, by: 'agent', reason: 'withdrawn' },
        delivery: { state: 'taken', at },
      },
      {
        type: 'request.unknown',
        request: answered.id,
        delivery: { state: 'unknown', at, reason: 'the session ended first' },
      },
    ])
  })

  it('the open requests of a session lose their own drafts when they are resolved, and no others', async () => {
    const agent = await fixture.startAttached()
    const [one, two, three] = [await agent.ask('1'), await agent.ask('2'), await agent.ask('3')]
    const draft = async (request: Request) => (await fixture.person('getDraft', { id: request.id })).draft !== null
    for (const { id } of [one, two, three]) await fixture.person('putDraft', { id, draft: 'begun' })
    await fixture.runner('withdrawRequest', { id: one.id, fence: agent.fence })
    expect([await draft(one), await draft(two), await draft(three)]).toEqual([false, true, true])
    await fixture.allow(two)
    expect([await draft(two), await draft(three)]).toEqual([false, true])
    await fixture.person('interruptSession', { id: agent.session.id })
    expect(await draft(three)).toBe(false)
    expect(await fixture.store.find('draft', {})).toEqual([])
  })
})

describe('a deadline', () => {
  const jump = (ms: number) => fixture.clock.jump(ms)
  const ask = (agent: AttachedAgent, key: string, onDeadline: 'deny' | 'wait') =>
    agent.ask(key, approval(), { deadlineMs: limits.deadlineMinMs, onDeadline })

  it('a deadline that has passed denies the request before its agent can withdraw it (G1)', async () => {
    const agent = await fixture.startAttached()
    const request = await ask(agent, 'k', 'deny')
    await fixture.person('putDraft', { id: request.id, draft: 'begun' })
    jump(limits.deadlineMinMs)
    await fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence })
    expect(await current(request)).toMatchObject({
      resolution: { by: 'deadline', reason: 'nobody answered' },
      delivery: { state: 'undeliverable', reason: 'the agent withdrew the request' },
    })
    expect(await fixture.store.find('draft', {})).toEqual([])
    await checkUsage(fixture.store)
  })
  it('a deadline that passes after an answer changes nothing', async () => {
    const agent = await fixture.startAttached()
    const request = await ask(agent, 'k', 'deny')
    await fixture.allow(request)
    jump(limits.deadlineMinMs)
    await fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence })
    expect(await current(request)).toMatchObject({
      resolution: { by: 'person' },
      delivery: { state: 'undeliverable' },
    })
  })
  it('a deadline that has not passed, or that only marks the request, lets the agent withdraw the request', async () => {
    const agent = await fixture.startAttached()
    const [early, marked] = [await ask(agent, 'early', 'deny'), await ask(agent, 'marked', 'wait')]
    jump(limits.deadlineMinMs - 1)
    await fixture.runner('withdrawRequest', { id: early.id, fence: agent.fence })
    jump(1)
    await fixture.runner('withdrawRequest', { id: marked.id, fence: agent.fence })
    expect(await current(early)).toMatchObject({ overdue: false, resolution: { by: 'agent', reason: 'withdrawn' } })
    expect(await current(marked)).toMatchObject({ overdue: true, resolution: { by: 'agent', reason: 'withdrawn' } })
  })
  it('a deadline marks a request as overdue once, with one event', async () => {
    const agent = await fixture.startAttached()
    const request = await ask(agent, 'k', 'wait')
    await fixture.clock.advance(limits.deadlineMinMs * 5)
    await fixture.allow(request)
    expect((await fixture.eventTypes()).filter(type => type === 'request.overdue')).toHaveLength(1)
    expect(await current(request)).toMatchObject({ overdue: true, resolution: { by: 'person' } })
  })
  it('a deadline in a parked session makes the session need a runner, even if the session already needs a runner', async () => {
    const agent = await fixture.startAttached()
    await ask(agent, '1', 'deny')
    await agent.ask('2', approval(), { deadlineMs: limits.deadlineMinMs * 3, onDeadline: 'deny' })
    const { id } = agent.session
    const needsRunner = async () => (await fixture.store.get('session', id))?.needsRunner
    await fixture.runner('detachSession', { id, fence: agent.fence })
    expect(await needsRunner()).toBe(false)
    await fixture.clock.advance(limits.deadlineMinMs * 2)
    expect(await needsRunner()).toBe(true)
    await fixture.clock.advance(limits.deadlineMinMs * 2)
    expect(await needsRunner()).toBe(true)
    expect((await fixture.store.get('usage', id))?.waiting).toBe(2)
  })
  it('a deadline of a session with a runner does not make the session need another runner', async () => {
    const agent = await fixture.startAttached()
    await ask(agent, 'k', 'deny')
    await fixture.clock.advance(limits.deadlineMinMs * 2)
    expect(await fixture.store.get('session', agent.session.id)).toMatchObject({ state: 'idle', needsRunner: false })
  })
})

describe('the end or interrupt of a session', () => {
  it.each(['endSession', 'interruptSession'] as const)('%s reads only the rows that can change', async op => {
    const reads: Read[] = []
    const { store } = fixture
    const commit = <T>(change: Change<T>) => {
      if (change.label === op) reads.push(...change.reads.filter(read => 'query' in read))
      return store.commit(change)
    }
    await fixture.gateway.close()
    await fixture.open({ store: { ...store, commit } })
    const readsOf = async (agent: AttachedAgent) => {
      reads.length = 0
      const { id } = agent.session
      await fixture.person(op, { id })
      const queries = new Map(reads.flatMap(read => ('query' in read ? [[read.table, read.query.where]] : [])))
      queries.delete('command')
      return queries
    }
    expect(await readsOf(await fixture.startAttached())).toEqual(new Map())
    const answered = await fixture.startAttached()
    await fixture.allow(await answered.ask('k'))
    expect([...(await readsOf(answered)).keys()]).toEqual(['request'])
    const pending = await fixture.startAttached()
    await pending.ask('k')
    const session = pending.session.id
    const open = op === 'endSession' ? [1, 2, 3] : [1, 2]
    expect(await readsOf(pending)).toEqual(
      new Map<string, unknown>([
        ['request', { open, session }],
        ['draft', { session }],
      ]),
    )
  })
})

describe('a request that is resolved', () => {
  const resolveAgain = (request: Request) =>
    fixture.store.commit({
      label: 'resolve again',
      reads: [{ table: 'request', id: request.id }],
      decide: view => {
        const row = view.get('request', request.id) as RequestRow // every test opens the request first
        const resolution = { by: 'person', person: 'mallory', answer: { kind: 'allow' } } as const
        resolveRequest(new ChangeBuilder(view), row, 'answer', resolution, [])
        return { result: null }
      },
    })
  it('a request that is resolved cannot be resolved again, even by calling the resolving function directly (G1)', async () => {
    const agent = await fixture.startAttached()
    const requests = await requestsIn(agent)
    for (const state of states.slice(1))
      await expect(resolveAgain(requests[state]), state).rejects.toThrow(
        `answer cannot resolve a request that is ${state}`,
      )
    await expectFault(fixture.deny(requests.waiting), 'already_resolved')
  })
})
