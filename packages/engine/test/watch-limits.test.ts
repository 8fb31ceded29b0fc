/** Tests limits of watchers: what is counted for a session, a day and a folder, and how people continue or change a limit. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, approval, expectFault } from './gateway-fixture.ts'
import { openMemoryFixture, ownFile, type WatchFixture } from './watch-fixture.ts'

let fixture: WatchFixture
beforeEach(async () => {
  fixture = await openMemoryFixture()
})
/** The sweep and the leases of runners are slow, because these tests let days pass. */
const slow = { settings: { sweepMs: 3600_000, runnerTtlMs: 1000 * 3600_000 } }
const limited = (limit: object) => ({ watch: [{ name: 'my-budget', on: 'before', do: { limit } }] })
const spend = (agent: AttachedAgent, cost: number, tokens = 0) =>
  agent.append({ type: 'turn.finished', ending: 'done', cost, usage: { inputTokens: tokens } })
let keys = 0
const isAsked = async (agent: AttachedAgent) =>
  (await fixture.check(agent, `k${keys++}`, 'ls')).watcher?.name === 'my-budget'

describe('a limit', () => {
  it('a cost limit asks when it is reached, and after an allow the agent works until the same amount is used again', async () => {
    await fixture.withFile(limited({ cost: 5 }))
    const agent = await fixture.agent()
    await spend(agent, 4)
    expect(await isAsked(agent)).toBe(false)
    await spend(agent, 1.5)
    expect(await isAsked(agent)).toBe(true)
    const request = await agent.ask('ask', approval('ls'))
    expect(request.watcher).toMatchObject({ name: 'my-budget' })
    await fixture.deny(request)
    expect(await isAsked(agent)).toBe(true)
    await fixture.allow(await agent.ask('ask again', approval('ls')))
    expect(await isAsked(agent)).toBe(false)
    await spend(agent, 5)
    expect(await isAsked(agent)).toBe(true)
  })
  it('a person can change a limit for one session, and the limit is listed with the variables of the session', async () => {
    await fixture.withFile(limited({ cost: 5 }))
    const agent = await fixture.agent()
    const { id } = agent.session
    await spend(agent, 6)
    expect(await isAsked(agent)).toBe(true)
    expect(await fixture.person('listVariables', { id })).toMatchObject({
      items: [{ name: 'limit_my_budget', value: 5, default: 5, setByAgent: false }],
    })
    await expectFault(fixture.person('setVariable', { id, name: 'limit_my_budget', value: 'a' }), 'bad_input')
    await expectFault(fixture.person('setVariable', { id, name: 'limit_my_budget', value: 0 }), 'bad_input', /than 0/)
    expect(await fixture.person('setVariable', { id, name: 'limit_my_budget', value: 7.5 })).toMatchObject({
      value: 7.5,
      changedBy: 'ada',
    })
    expect(await isAsked(agent)).toBe(false)
    await expectFault(
      fixture.runner('setAgentVariable', { id, fence: agent.fence, name: 'limit_my_budget', value: 100 }),
      'unsupported',
    )
    await spend(agent, 1.5)
    expect(await isAsked(agent)).toBe(true)
  })
  it('token and turn limits count what the session has used', async () => {
    await fixture.withFile({
      watch: [
        { name: 'my-budget', on: 'before', do: { limit: { tokens: 100 } } },
        { name: 'turns', on: 'before', do: { limit: { turns: 3 } } },
      ],
    })
    const agent = await fixture.agent()
    await spend(agent, 0, 60)
    expect(await isAsked(agent)).toBe(false)
    await spend(agent, 0, 60)
    expect(await isAsked(agent)).toBe(true)
    await spend(agent, 0)
    expect((await fixture.check(agent, 'last', 'ls')).reason).toMatch(/turns/)
  })
  it('a limit includes what a running turn has used so far, and does not count the turn again when it ends', async () => {
    await fixture.withFile(limited({ tokens: 100, per: 'day' }))
    const agent = await fixture.agent()
    const report = (inputTokens: number) =>
      agent.append({ type: 'session.changed', turnUsage: { inputTokens, outputTokens: 10 } })
    await report(40)
    await report(80)
    expect(await isAsked(agent)).toBe(false)
    expect(await isAsked(await fixture.agent())).toBe(false)
    await report(95)
    expect(await isAsked(agent)).toBe(true)
    await spend(agent, 0, 99)
    expect(await isAsked(agent)).toBe(false)
    expect(await fixture.store.find('spent', {})).toMatchObject([{ tokens: 99, turns: 1 }])
    await spend(agent, 0, 1)
    expect(await isAsked(await fixture.agent())).toBe(true)
  })
  it('a negative usage that an agent reports for a turn is refused, so that it cannot lower the total', async () => {
    const agent = await fixture.withFile(limited({ tokens: 100, per: 'day' })).then(() => fixture.agent())
    await expectFault(spend(agent, 0, -1000), 'bad_input')
    const reported = { type: 'session.changed', turnUsage: { outputTokens: -1 } } as const
    await expectFault(agent.append(reported), 'bad_input')
  })
  it('a cost limit counts the cost of a running turn if its agent reports it', async () => {
    await fixture.withFile(limited({ cost: 5 }))
    const agent = await fixture.agent()
    await agent.append({ type: 'session.changed', turnUsage: { cost: 4.99 } })
    expect(await isAsked(agent)).toBe(false)
    await agent.append({ type: 'session.changed', turnUsage: { cost: 5 } })
    expect(await isAsked(agent)).toBe(true)
    expect((await fixture.person('getSession', { id: agent.session.id })).cost).toBeNull()
  })
  it('a limit counts turns and tokens from the moment at which its file exists, and the cost from the start of the session', async () => {
    await fixture.withFile({})
    const agent = await fixture.agent()
    await spend(agent, 4, 90)
    const limits = [{ cost: 5 }, { tokens: 100 }, { turns: 2 }]
    const watch = limits.map((limit, index) => ({ name: `limit-${index}`, on: 'before', do: { limit } }))
    fixture.files.write(ownFile, { watch })
    // A new session reads the file again.
    await fixture.agent()
    await spend(agent, 1, 90)
    const { reason } = await fixture.check(agent, 'k', 'ls')
    expect(reason).toBe(
      'This session has used 5.00 of 5.00 US dollars. If you allow this, the agent continues up to 10.00.',
    )
    await spend(agent, 0, 10)
    expect((await fixture.check(agent, 'l', 'ls')).reason).toMatch(/100 of 100 tokens.*\n.*2 of 2 turns/)
  })
  it('a limit of minutes counts the time of turns without the time in which people were asked', async () => {
    await fixture.withFile(limited({ minutes: 10 }), slow)
    const agent = await fixture.agent()
    await agent.append({ type: 'session.changed', state: 'working' })
    expect(await isAsked(agent)).toBe(false)
    await fixture.clock.advance(4 * 60_000)
    const request = await agent.ask('wait', approval('ls'))
    await fixture.clock.advance(30 * 60_000)
    await fixture.allow(request)
    expect(await isAsked(agent)).toBe(false)
    await fixture.clock.advance(5 * 60_000)
    expect(await isAsked(agent)).toBe(false)
    await fixture.clock.advance(60_000)
    expect(await isAsked(agent)).toBe(true)
  })
  it('a limit per day counts all sessions of a day, and starts again on the next day', async () => {
    await fixture.withFile(limited({ cost: 5, per: 'day' }), slow)
    const first = await fixture.agent()
    const second = await fixture.agent({ cwd: '/home/ada' })
    await spend(first, 3)
    await spend(second, 2)
    expect(await isAsked(first)).toBe(true)
    expect(await isAsked(second)).toBe(true)
    await fixture.clock.advance(24 * 3600_000)
    expect(await isAsked(await fixture.agent())).toBe(false)
  })
  it('a person can raise a limit per day before or after it asks, and the new limit is valid for that day', async () => {
    await fixture.withFile(limited({ cost: 5, per: 'day' }), slow)
    const agent = await fixture.agent()
    const { id } = agent.session
    const limit = async () => (await fixture.person('listVariables', { id })).items[0]?.value
    await fixture.person('setVariable', { id, name: 'limit_my_budget', value: 10 })
    await spend(agent, 6)
    expect(await isAsked(agent)).toBe(false)
    expect(await limit()).toBe(10)
    await fixture.clock.advance(24 * 3600_000)
    expect(await limit()).toBe(5)
    await spend(agent, 6)
    expect(await isAsked(agent)).toBe(true)
    await fixture.person('setVariable', { id, name: 'limit_my_budget', value: 7 })
    expect(await isAsked(agent)).toBe(false)
    await fixture.allow(await agent.ask('ask', approval('ls')))
    await spend(agent, 1.5)
    expect(await isAsked(agent)).toBe(true)
    await fixture.clock.advance(24 * 3600_000)
    await spend(agent, 5)
    const request = await agent.ask('ask on the next day', approval('ls'))
    await fixture.allow(request)
    // What was allowed on an earlier day does not count beside the new allow.
    expect(await limit()).toBe(10)
  })
  it('a limit per folder counts all sessions in the same folder', async () => {
    await fixture.withFile(limited({ cost: 5, per: 'folder' }))
    const first = await fixture.agent()
    await spend(first, 5)
    expect(await isAsked(await fixture.agent())).toBe(true)
    expect(await isAsked(await fixture.agent({ cwd: '/home/ada' }))).toBe(false)
  })
  it('the usage of a day is counted only while a watcher has a limit per day', async () => {
    await fixture.withFile(limited({ cost: 5 }))
    await spend(await fixture.agent(), 5)
    expect(await fixture.store.find('spent', {})).toEqual([])
  })
})
