/** L7: refused attempts are in the log and in the audit log, a limited number per credential and minute. */
import { type Event, limits, type OperationName, type Token } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Caller, callAs } from '../src/index.ts'
import {
  approval,
  bob,
  expectFault,
  type GatewayFixture,
  openFixture,
  robot,
  runnerCaller,
  stranger,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeEach(async () => {
  fixture = await openFixture()
})
type Refused = Extract<Event, { type: 'attempt.refused' }>
/** The refused attempts as the audit log lists them. */
async function refused(): Promise<readonly Refused[]> {
  const { items } = await fixture.person('listAudit', { include: 'notices' })
  return items.flatMap(entry =>
    entry.kind === 'notice' && entry.event.type === 'attempt.refused' ? [entry.event as Refused] : [],
  )
}
const tryTo = (caller: Caller, op: OperationName, input: object) =>
  expectFault(fixture.gateway.dispatchUnparsed(caller, op, input), 'forbidden')

describe('a refused attempt', () => {
  it('A7: an agent’s attempt to answer is recorded with the request, the credential and how the call arrived', async () => {
    const session = await fixture.externalAgent('startSession', { driver: 'external' })
    const request = await fixture.externalAgent('openRequest', { id: session.id, key: 'k', ask: approval() })
    await tryTo(robot, 'answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
    await tryTo(robot, 'answerRequests', { items: [] })
    expect(await refused()).toMatchObject([
      {
        what: 'answerRequest',
        code: 'forbidden',
        by: 'robot',
        role: 'agent',
        token: robot.token,
        via: 'api',
        request: request.id,
      },
      { what: 'answerRequests', code: 'forbidden', by: 'robot' },
    ])
    expect((await fixture.person('getRequest', { id: request.id })).status).toBe('pending')
  })
  it('L7: a refused call or stream is recorded for every role', async () => {
    await tryTo(bob, 'backup', { file: '/tmp/x' })
    await tryTo(runnerCaller, 'listTokens', {})
    await expectFault(fixture.gateway.subscribe(runnerCaller, {}, { frame: () => {} }), 'forbidden')
    await fixture.person('listTokens', {})
    expect((await refused()).map(({ by, what }) => [by, what])).toEqual([
      ['bob', 'backup'],
      [runnerCaller.name, 'listTokens'],
      [runnerCaller.name, 'subscribe'],
    ])
  })
  it('L7: an answer that only the owner may give is recorded when another person gives it, alone or in a batch', async () => {
    const agent = await fixture.startAttached()
    const request = await agent.ask('k')
    const answer = { id: request.id, digest: request.digest, answer: { kind: 'allow', mode: 'plan' } } as const
    await tryTo(bob, 'answerRequest', answer)
    await callAs(fixture.gateway, bob)('answerRequests', { items: [answer] })
    expect(await refused()).toMatchObject([
      { what: 'answerRequest', request: request.id },
      { what: 'answerRequests', request: request.id },
    ])
  })
  it('L7: the use of a revoked credential is recorded, but not the use of an unknown token', async () => {
    const { id, secret } = await fixture.person('addToken', { role: 'agent', name: 'ci' })
    await fixture.person('removeToken', { id })
    expect(await fixture.gateway.authenticate({ kind: 'bearer', secret }, 'api')).toBeNull()
    expect(await fixture.gateway.authenticate({ kind: 'bearer', secret: 'nonsense' }, 'api')).toBeNull()
    expect(await refused()).toMatchObject([{ what: 'authenticate', code: 'unauthenticated', by: 'ci', token: id }])
  })
  it('L7: a call is recorded as refused if its credential is revoked while the call runs', async () => {
    const { id, secret } = await fixture.person('addToken', { role: 'person', name: 'eve' })
    const eve = (await fixture.gateway.authenticate({ kind: 'bearer', secret }, 'api')) as Caller // the token was just added
    await fixture.person('removeToken', { id: id as Token['id'] })
    await expectFault(callAs(fixture.gateway, eve)('addRule', { effect: 'deny', tool: 'X' }), 'unauthenticated')
    expect(await refused()).toMatchObject([{ what: 'addRule', code: 'unauthenticated', by: 'eve' }])
  })
  it('a call with an id that does not exist or belongs to another agent is not recorded', async () => {
    const session = await fixture.externalAgent('startSession', { driver: 'external' })
    await expectFault(fixture.otherAgent('getSession', { id: session.id }), 'not_found')
    expect(await refused()).toEqual([])
  })
})

describe('many refused attempts', () => {
  const flood = async (caller: Caller, count: number) => {
    for (let i = 0; i < count; i++) await tryTo(caller, 'listTokens', {})
  }
  it('L7: refused attempts get a few entries per credential and minute, and then one entry with the number of omitted attempts', async () => {
    await flood(robot, 40)
    await flood(stranger, 2)
    expect((await refused()).map(({ by }) => by)).toEqual([
      ...Array(limits.refusedAttemptsMax).fill('robot'),
      'stranger',
      'stranger',
    ])
    await fixture.clock.advance(61_000)
    const [last] = (await refused()).slice(limits.refusedAttemptsMax + 2)
    expect(last).toMatchObject({ by: 'robot', omitted: 40 - limits.refusedAttemptsMax })
    expect(await refused()).toHaveLength(limits.refusedAttemptsMax + 3)
    await flood(robot, 1)
    expect(await refused()).toHaveLength(limits.refusedAttemptsMax + 4)
  })
  it('L7: the entries about refused attempts are limited in total', async () => {
    for (let i = 0; i < limits.refusedAttemptsTotalMax + 50; i++)
      await fixture.gateway.recordRefusal({ what: 'signIn', code: 'too_many', by: `10.0.0.${i}` })
    const entries = async () => (await fixture.store.events({ limit: 500, types: ['attempt.refused'] })).length
    expect(await entries()).toBe(limits.refusedAttemptsTotalMax)
  })
  it('attempts are refused even if the store cannot be written', async () => {
    const { commit } = fixture.store
    fixture.store.commit = () => Promise.reject(new Error('the disk is full'))
    await tryTo(robot, 'listTokens', {})
    fixture.store.commit = commit
    expect(await refused()).toEqual([])
  })
})
