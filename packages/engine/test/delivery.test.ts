/** Checks the reports of an agent about its answers: what is refused with which fault, and what is stored. */
import type { Answer, Input, Request } from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RequestRow } from '../src/index.ts'
import {
  type AttachedAgent,
  approval,
  expectFault,
  GatewayFixture,
  openFixture,
  runPendingWork,
  secretAsk,
} from './gateway-fixture.ts'
import { ManualClock } from './manual-clock.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})
type State = Input<'reportDelivery'>['state']
const report = ({ id }: Pick<Request, 'id'>, state: State, reason?: string) =>
  fixture.runner('reportDelivery', { id, state, fence: agent.fence, ...(reason === undefined ? {} : { reason }) })
const states = ['handed', 'taken', 'unknown', 'undeliverable'] as const
/** Resolves with the outcome of each report, for a request in the state that `prepare` sets up. */
async function replies(prepare: (request: Request) => Promise<unknown>): Promise<string[]> {
  return Promise.all(
    states.map(async state => {
      const request = await agent.ask(state)
      await prepare(request)
      return report(request, state).then(
        ({ delivery }) => delivery.state,
        (fault: { code: string }) => fault.code,
      )
    }),
  )
}
const hand = async (request: Request) => {
  await fixture.allow(request)
  await report(request, 'handed')
}

describe('a report about the delivery of an answer', () => {
  it.each<[string, (request: Request) => Promise<unknown>, string[]]>([
    ['pending', async () => {}, ['not_resolved', 'not_resolved', 'waiting', 'not_resolved']],
    ['waiting', request => fixture.allow(request), ['handed', 'already_resolved', 'waiting', 'undeliverable']],
    ['handed', hand, ['handed', 'taken', 'unknown', 'undeliverable']],
    [
      'taken',
      async request => {
        await hand(request)
        await report(request, 'taken')
      },
      ['already_resolved', 'taken', 'taken', 'already_resolved'],
    ],
    [
      'unknown',
      async request => {
        await hand(request)
        await report(request, 'unknown')
      },
      ['already_resolved', 'taken', 'unknown', 'already_resolved'],
    ],
    [
      'undeliverable',
      async request => {
        await fixture.allow(request)
        await report(request, 'undeliverable')
      },
      ['already_resolved', 'already_resolved', 'undeliverable', 'undeliverable'],
    ],
  ])(
    'a report about the delivery of an answer has the outcome in the transition table if the request is %s',
    async (_, prepare, expected) => {
      expect(await replies(prepare)).toEqual(expected)
    },
  )
  it('a report about the delivery of an answer is stored with its reason, if the caller gave a reason', async () => {
    const [one, two] = [await agent.ask('1'), await agent.ask('2')]
    for (const request of [one, two]) await fixture.allow(request)
    expect((await report(one, 'handed', 'over the socket')).delivery.reason).toBe('over the socket')
    expect((await report(one, 'undeliverable', 'the turn ended first')).delivery.reason).toBe('the turn ended first')
    expect((await report(two, 'handed')).delivery).toEqual({ state: 'handed', at: fixture.clock.now() })
    expect((await report(two, 'taken')).delivery).not.toHaveProperty('reason')
  })
  it('a late report about the delivery of an answer gets the current delivery state of the answer', async () => {
    const request = await agent.ask('k')
    await expect(report(request, 'taken')).rejects.toMatchObject({ code: 'not_resolved', detail: { id: request.id } })
    await hand(request)
    await report(request, 'taken')
    await expect(report(request, 'handed')).rejects.toMatchObject({
      code: 'already_resolved',
      message: `The answer to request ${request.id} is already taken`,
      detail: { request: { id: request.id, delivery: { state: 'taken' } } },
    })
  })
  it('a report about the delivery of an answer is refused for an unknown request and with a stale fence', async () => {
    const unknown = { id: `req_${'0'.repeat(20)}` as Request['id'] } // has the format of an id
    for (const state of states) await expectFault(report(unknown, state), 'not_found')
    await expectFault(fixture.runner('withdrawRequest', { ...unknown, fence: agent.fence }), 'not_found')
    await expectFault(fixture.runner('handOverRequest', { ...unknown, fence: agent.fence }), 'not_found')
    const request = await agent.ask('k')
    await fixture.allow(request)
    for (const fence of [agent.fence - 1, agent.fence + 1]) {
      await expectFault(fixture.runner('reportDelivery', { id: request.id, state: 'handed', fence }), 'fenced')
      await expectFault(fixture.runner('withdrawRequest', { id: request.id, fence }), 'fenced')
      await expectFault(fixture.runner('handOverRequest', { id: request.id, fence }), 'fenced')
    }
  })
})

it('withdrawals and delivery reports commit changes under the names at which the crash tests kill the gateway', async () => {
  const points: string[] = []
  const clock = new ManualClock()
  const store = await openMemory({ clock, epoch: 'e1', crashPoint: point => points.push(point) })
  const crashing = await new GatewayFixture(clock, store).open()
  const attached = await crashing.startAttached()
  await crashing.runner('withdrawRequest', { id: (await attached.ask('a')).id, fence: attached.fence })
  const request = await attached.ask('b')
  await crashing.allow(request)
  await attached.report(request, 'handed')
  await attached.report(request, 'taken')
  for (const label of ['withdraw', 'handed', 'taken']) expect(points).toContain(`committed:${label}`)
  await crashing.gateway.close()
})

it('withdrawals and delivery reports list everything that they read in advance, so that each change is decided once', async () => {
  const commits = vi.spyOn(fixture.store, 'commit')
  const labels = () => commits.mock.calls.map(([{ label }]) => label)
  const withdrawn = await agent.ask('a')
  await fixture.person('putDraft', { id: withdrawn.id, draft: 'begun' })
  const request = await agent.ask('b')
  await fixture.allow(request)
  commits.mockClear()
  await fixture.runner('withdrawRequest', { id: withdrawn.id, fence: agent.fence })
  await report(request, 'handed')
  await report(request, 'taken')
  expect(labels()).toEqual(['withdraw', 'handed', 'taken'])
  commits.mockRestore()
})

describe('a withdrawal', () => {
  it('a withdrawal returns the resolved request, and the same reply to a repeated call with its idempotency key', async () => {
    const request = await agent.ask('k')
    await fixture.person('putDraft', { id: request.id, draft: 'begun' })
    const withdraw = () =>
      fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence }, { idempotencyKey: 'w' })
    const withdrawn = await withdraw()
    expect(withdrawn).toMatchObject({ id: request.id, status: 'resolved', resolution: { reason: 'withdrawn' } })
    expect(await fixture.store.find('draft', {})).toEqual([])
    const { seq } = await fixture.store.head()
    expect(await withdraw()).toEqual(withdrawn)
    expect((await fixture.store.head()).seq).toBe(seq)
  })
  it('a withdrawal is refused if the session of the request has ended', async () => {
    const request = await agent.ask('k')
    await fixture.person('endSession', { id: agent.session.id })
    await expectFault(fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence }), 'session_ended')
  })
})

describe('an answer whose session has ended', () => {
  it('after its session has ended, an answer that was handed can still be reported as taken', async () => {
    const request = await agent.ask('k')
    await hand(request)
    await fixture.person('endSession', { id: agent.session.id })
    expect((await report(request, 'taken')).delivery.state).toBe('taken')
  })
  it('after its session has ended, an answer that was not handed stays unhanded, and the agent gets its delivery state', async () => {
    const request = await agent.ask('k')
    await fixture.deny(request)
    await fixture.person('endSession', { id: agent.session.id })
    const refused = { code: 'already_resolved', message: expect.stringContaining('already undeliverable') }
    await expect(report(request, 'handed')).rejects.toMatchObject(refused)
    await expect(fixture.runner('handOverRequest', { id: request.id, fence: agent.fence })).rejects.toMatchObject(
      refused,
    )
  })
})

describe('an answer that was handed', () => {
  it('G5: an allow that was handed and whose outcome is unknown is not handed again', async () => {
    const request = await agent.ask('k')
    await hand(request)
    await report(request, 'unknown')
    await expect(report(request, 'handed')).rejects.toMatchObject({
      code: 'already_resolved',
      message: expect.stringContaining('an allow is never handed twice'),
    })
  })
  it('a handed answer that says that nobody answered is handed again', async () => {
    const { id } = await fixture.externalAgent('startSession', { driver: 'external' })
    const request = await fixture.externalAgent('openRequest', { id, key: 'k', ask: approval(), deadlineMs: 1000 })
    await fixture.clock.advance(1500)
    for (let i = 0; i < 2; i++)
      expect(await fixture.externalAgent('handOverRequest', { id: request.id })).toMatchObject({ outcome: 'nobody' })
  })

  it('F11c: an answer that was handed is not handed to a caller who sends no fence or another fence', async () => {
    const { id } = await fixture.externalAgent('startSession', { driver: 'external' })
    const { fence } = await fixture.externalAgent('attachSession', { id })
    const request = await fixture.externalAgent('openRequest', { id, key: 'k', ask: approval() })
    await fixture.allow(request)
    const handed = { id: request.id, state: 'handed' } as const
    await fixture.externalAgent('reportDelivery', { ...handed, fence })
    await fixture.externalAgent('reportDelivery', { ...handed, fence })
    await expectFault(fixture.externalAgent('reportDelivery', handed), 'already_resolved')
    await expectFault(fixture.externalAgent('handOverRequest', { id: request.id, fence }), 'already_resolved')
  })
  it('an answer that was handed is handed again to any caller if it is not an allow', async () => {
    const { id } = await fixture.externalAgent('startSession', { driver: 'external' })
    const request = await fixture.externalAgent('openRequest', { id, key: 'k', ask: approval() })
    await fixture.deny(request)
    for (let i = 0; i < 2; i++)
      expect(await fixture.externalAgent('handOverRequest', { id: request.id })).toMatchObject({ outcome: 'deny' })
    await fixture.externalAgent('attachSession', { id })
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ delivery: { state: 'unknown' } })
    expect(await fixture.externalAgent('handOverRequest', { id: request.id })).toMatchObject({ outcome: 'deny' })
    expect((await fixture.eventTypes()).filter(type => type === 'request.handed')).toHaveLength(2)
  })
  it('an answer that was handed is not handed again after its session has ended', async () => {
    const { id } = await fixture.externalAgent('startSession', { driver: 'external' })
    const request = await fixture.externalAgent('openRequest', { id, key: 'k', ask: approval() })
    await fixture.deny(request)
    await fixture.externalAgent('handOverRequest', { id: request.id })
    await fixture.person('endSession', { id })
    await expectFault(fixture.externalAgent('handOverRequest', { id: request.id }), 'session_ended')
  })
})

it('an answer that arrives while the agent asks for it is checked before it is handed', async () => {
  const { id } = await fixture.externalAgent('startSession', { driver: 'external' })
  const request = await fixture.externalAgent('openRequest', { id, key: 'k', ask: approval() })
  // The hand-over reads the pending request, and both changes are then committed in this order.
  const commit = fixture.store.commit.bind(fixture.store)
  let release = () => {}
  const answered = new Promise<void>(resolve => {
    release = resolve
  })
  await fixture.gateway.close()
  await fixture.open({
    store: {
      ...fixture.store,
      commit: async change => {
        if (change.label === 'handed') await answered
        return commit(change)
      },
    },
  })
  const handing = fixture.externalAgent('reportDelivery', { id: request.id, state: 'handed' })
  await runPendingWork()
  await fixture.allow(request)
  release()
  await expectFault(handing, 'not_resolved')
  expect(await fixture.externalAgent('handOverRequest', { id: request.id })).toMatchObject({ outcome: 'allow' })
})

describe('an answer whose secret cannot be decrypted', () => {
  it('an answer whose secret cannot be decrypted is undeliverable, and the agent is told to ask again', async () => {
    const request = await agent.ask('k', secretAsk)
    await fixture.person('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: '1234' }] },
    })
    const row = await fixture.store.get('request', request.id)
    await fixture.store.keys.delete([row?.sealed?.key ?? ''])
    await expect(report(request, 'handed')).rejects.toMatchObject({ code: 'gone', detail: { id: request.id } })
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({
      delivery: { state: 'undeliverable', reason: 'the secret in the answer is no longer available' },
    })
    await expectFault(report(request, 'handed'), 'already_resolved')
  })
  it('an answer whose secret cannot be decrypted is refused and stays unknown, if it was handed before', async () => {
    const request = await agent.ask('k', secretAsk)
    await fixture.person('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: '1234' }] },
    })
    await report(request, 'handed')
    await report(request, 'unknown')
    const row = await fixture.store.get('request', request.id)
    await fixture.store.keys.delete([row?.sealed?.key ?? ''])
    await expectFault(report(request, 'handed'), 'gone')
    expect((await fixture.person('getRequest', { id: request.id })).delivery.state).toBe('unknown')
  })
})

it('a secret in a row of schema 3, which contains it in the answer itself, is masked once the agent has it', async () => {
  const request = await agent.ask('k', secretAsk)
  const answer: Answer = { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: '1234' }] }
  await fixture.person('answerRequest', {
    id: request.id,
    digest: request.digest,
    answer,
  })
  await fixture.store.commit({
    label: 'as in schema 3',
    reads: [{ table: 'request', id: request.id }],
    decide: view => {
      const { sealed: _, resolvedSeq: __, ...row } = view.get('request', request.id) as RequestRow // the request was just opened
      const resolution = { ...row.resolution, answer } as RequestRow['resolution'] // the row is resolved
      return { puts: [{ table: 'request', row: { ...row, resolution } }], result: null }
    },
  })
  expect((await report(request, 'handed')).resolution?.answer).toEqual(answer)
  await report(request, 'taken')
  expect(JSON.stringify(await fixture.store.get('request', request.id))).not.toContain('1234')
})
