/** Checks each limit on open sessions and pending requests at its edge. The counts are set in the store, so that no test has to open thousands of requests. */
import { limits, type Session } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RequestRow, SessionRow, UsageRow } from '../src/index.ts'
import { jsonBytes } from '../src/paging.ts'
import { pendingCount } from '../src/usage.ts'
import { ada, approval, expectFault, type GatewayFixture, openFixture, robot } from './gateway-fixture.ts'

let fixture: GatewayFixture
let ofAgent: Session
let ofPerson: Session
beforeEach(async () => {
  fixture = await openFixture()
  ofAgent = await fixture.externalAgent('startSession', { driver: 'external' })
  ofPerson = await fixture.person('startSession', { driver: 'external' })
})
const ask = approval()
const bytes = jsonBytes(ask)
let asked = 0
const askIn = ({ id }: Session) =>
  (id === ofAgent.id ? fixture.externalAgent : fixture.person)('openRequest', { id, key: `k${asked++}`, ask })
const usageOf = async (id: string) => {
  const { sessions, pending, pendingBytes, waiting, handed } = (await fixture.store.get('usage', id)) as UsageRow // every test has opened something for this id
  return { sessions, pending, pendingBytes, waiting, handed }
}
const none = { sessions: 0, pending: 0, pendingBytes: 0, waiting: 0, handed: 0 }
/** Sets counts of a session or an account. */
function setUsage(id: string, session: Session['id'] | null, counts: Partial<UsageRow>): Promise<unknown> {
  return fixture.store.commit({
    label: 'set usage',
    reads: [{ table: 'usage', id }],
    decide: view => {
      const row: UsageRow = view.get('usage', id) ?? { id, ord: view.nextSeq, session, ...none }
      return { puts: [{ table: 'usage', row: { ...row, ...counts } }], result: null }
    },
  })
}

describe('another pending request', () => {
  const cases: readonly (readonly [string, 'agent' | 'person', 'session' | 'account', Partial<UsageRow>])[] = [
    ['requests in one session', 'agent', 'session', { pending: limits.pendingPerSessionMax }],
    ['bytes in one session', 'agent', 'session', { pendingBytes: limits.pendingBytesPerSessionMax - bytes + 1 }],
    ['requests of an agent', 'agent', 'account', { pending: limits.pendingPerAgentMax }],
    ['bytes of an agent', 'agent', 'account', { pendingBytes: limits.pendingBytesPerAgentMax - bytes + 1 }],
    ['requests of a person', 'person', 'account', { pending: limits.pendingPerPersonMax }],
    ['bytes of a person', 'person', 'account', { pendingBytes: limits.pendingBytesPerPersonMax - bytes + 1 }],
  ]
  it.each(cases)(
    'another pending request is refused at the limit on %s, and accepted below it',
    async (_, who, what, counts) => {
      const session = who === 'agent' ? ofAgent : ofPerson
      const account = who === 'agent' ? robot.token : ada.id
      const set = (more: Partial<UsageRow>) =>
        what === 'session' ? setUsage(session.id, session.id, more) : setUsage(account, null, more)
      await set(counts)
      await expect(askIn(session)).rejects.toMatchObject({
        code: 'too_many',
        message: expect.stringContaining('wait for answers before you ask again'),
      })
      const [field, count] = Object.entries(counts)[0] as [string, number] // every case has one count
      await set({ [field]: count - 1 })
      expect(await askIn(session)).toMatchObject({ status: 'pending' })
      await expectFault(askIn(session), 'too_many')
    },
  )
})

describe('another session', () => {
  it.each([
    ['an agent', robot.token, limits.sessionsPerAgentMax],
    ['a person', ada.id, limits.sessionsPerPersonMax],
  ])('another session of %s is refused at the limit and accepted below it', async (_, account, max) => {
    const start = () =>
      (account === robot.token ? fixture.externalAgent : fixture.person)('startSession', { driver: 'external' })
    await setUsage(account, null, { sessions: max - 1 })
    await start()
    await expect(start()).rejects.toMatchObject({
      code: 'too_many',
      message: expect.stringContaining(`${max} open sessions`),
    })
  })
})

describe('the counts of a session and its account', () => {
  it('the counts of a session and its account follow a request from its opening to the end of its delivery', async () => {
    const counts = async () => [await usageOf(ofAgent.id), await usageOf(robot.token)]
    const account = { ...none, sessions: 1 }
    const request = await askIn(ofAgent)
    expect(await counts()).toEqual([
      { ...none, pending: 1, pendingBytes: bytes },
      { ...account, pending: 1, pendingBytes: bytes },
    ])
    await fixture.deny(request)
    expect(await counts()).toEqual([{ ...none, waiting: 1 }, account])
    const report = (state: 'handed' | 'taken') => fixture.externalAgent('reportDelivery', { id: request.id, state })
    await report('handed')
    expect(await counts()).toEqual([{ ...none, handed: 1 }, account])
    await report('taken')
    expect(await counts()).toEqual([none, account])
    const dropped = await askIn(ofAgent)
    await fixture.allow(dropped)
    await fixture.externalAgent('reportDelivery', { id: dropped.id, state: 'undeliverable' })
    expect(await counts()).toEqual([none, account])
    await fixture.person('endSession', { id: ofAgent.id })
    expect(await counts()).toEqual([none, none])
  })
  it('requests of schema 3, which had no accounts and no sizes, are counted in a separate account', async () => {
    const request = await askIn(ofAgent)
    const rows = { session: await fixture.store.get('session', ofAgent.id), request }
    const { account: _a, ...session } = rows.session as SessionRow // the session was just started
    const { account: _b, bytes: _c, ...row } = (await fixture.store.get('request', request.id)) as RequestRow // the request was just opened
    await fixture.store.commit({
      label: 'as in schema 3',
      reads: [
        { table: 'session', id: session.id },
        { table: 'request', id: row.id },
      ],
      decide: () => ({
        puts: [
          { table: 'session', row: session },
          { table: 'request', row },
        ],
        result: null,
      }),
    })
    await setUsage('earlier', null, { sessions: 1, pending: 1 })
    await setUsage(ofAgent.id, ofAgent.id, { pendingBytes: 0 })
    await fixture.deny(request)
    expect(await usageOf('earlier')).toEqual({ ...none, sessions: 1 })
    expect(await usageOf(ofAgent.id)).toEqual({ ...none, waiting: 1 })
    await fixture.person('endSession', { id: ofAgent.id })
    expect(await usageOf('earlier')).toEqual(none)
  })
})

it('the number of pending requests is counted per session and for all sessions', async () => {
  await askIn(ofAgent)
  await askIn(ofPerson)
  await askIn(ofPerson)
  const never = await fixture.person('startSession', { driver: 'external' })
  expect(await pendingCount(fixture.store)).toBe(3)
  expect(await pendingCount(fixture.store, ofPerson.id)).toBe(2)
  expect(await pendingCount(fixture.store, never.id)).toBe(0)
  const { items } = await fixture.person('listSessions', {})
  expect(new Map(items.map(({ id, pending }) => [id, pending]))).toEqual(
    new Map([
      [never.id, 0],
      [ofPerson.id, 2],
      [ofAgent.id, 1],
    ]),
  )
})
