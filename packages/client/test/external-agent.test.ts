import { type Answer, type Ask, type Call, externalInfo, type SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock, RunnerFixture } from '../../drivers/test/runner-fixture.ts'
import { connectAgent } from '../src/index.ts'

const ask: Ask = { kind: 'approval', tool: 'Deploy', input: { to: 'prod' }, title: 'Deploy', cwd: '', editable: false }

describe('an external agent', () => {
  let fixture: RunnerFixture
  afterEach(() => fixture.close())

  it('an external agent starts a session, appends events, asks and ends the session', async () => {
    fixture = await RunnerFixture.open()
    const agent = await connectAgent({ call: fixture.asAgent, title: 'CI' })
    await agent.say('about to deploy')
    const asking = agent.ask(ask, { key: 'deploy' })
    const request = await fixture.waitForRequest('deploy', agent.id)
    expect(fixture.agentTexts()).toEqual(['about to deploy'])
    await fixture.answer(request, { kind: 'allow' })
    const settled = await asking
    expect(settled).toMatchObject({ kind: 'answer', input: { to: 'prod' } })
    await settled.taken()
    await agent.end()
    const session = await fixture.asPerson('getSession', { id: agent.id })
    expect(session).toMatchObject({ title: 'CI', state: 'ended', ending: { reason: 'done' } })
  })

  it('an external agent asks for approval in one call, runs the approved input, and reports the answer as taken with its next call', async () => {
    fixture = await RunnerFixture.open()
    const agent = await connectAgent({ call: fixture.asAgent, cwd: '/srv' })
    const asking = agent.approval('Deploy?', { tool: 'Deploy', input: { to: 'prod' }, editable: true, key: 'deploy' })
    const request = await fixture.waitForRequest('deploy')
    expect(request.ask).toMatchObject({ title: 'Deploy?', cwd: '/srv', input: { to: 'prod' } })
    await fixture.answer(request, { kind: 'allow', input: { to: 'staging' } })
    expect(await asking).toEqual({ allowed: true, input: { to: 'staging' } })
    const delivery = async () => (await fixture.asPerson('getRequest', { id: request.id })).delivery.state
    expect(await delivery()).toBe('handed')
    await agent.say('deployed')
    expect(await delivery()).toBe('taken')
    const again = await connectAgent({ call: fixture.asAgent, session: agent.id })
    expect(
      await again.approval('Deploy?', { tool: 'Deploy', input: { to: 'prod' }, editable: true, key: 'deploy' }),
      'an allow that was taken does not run a second time',
    ).toEqual({ allowed: false, reason: expect.stringContaining('Check before running it again') })
  })

  it.each([
    ['has ended', async (id: SessionId) => void (await fixture.asPerson('endSession', { id }))],
    [
      'belongs to another agent',
      async (id: SessionId) => void (await connectAgent({ call: fixture.asAgent, session: id })),
    ],
  ])('an external agent stops renewing its lease once its session %s', async (_, lose) => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    let renewals = 0
    const counting: Call = (op, input, options) => {
      if (op === 'renewSession') renewals++
      return fixture.asAgent(op, input, options)
    }
    const agent = await connectAgent({ call: counting, clock })
    await lose(agent.id)
    await clock.advance(10 * 60_000, 10_000)
    expect(renewals).toBe(1)
  })

  it('an external agent gets the reason of a denial from its approval', async () => {
    fixture = await RunnerFixture.open()
    const agent = await connectAgent({ call: fixture.asAgent })
    const asking = agent.approval('Deploy?', { key: 'deploy' })
    const request = await fixture.waitForRequest('deploy')
    await fixture.answer(request, { kind: 'deny', reason: 'freeze' })
    expect(await asking).toEqual({ allowed: false, reason: 'freeze' })
    expect((await fixture.asPerson('getRequest', { id: request.id })).delivery.state).toBe('taken')
  })

  it('an external agent gets comments on lines with a denial and with an allow, and a question that the person asks back', async () => {
    fixture = await RunnerFixture.open()
    const agent = await connectAgent({ call: fixture.asAgent })
    const comments = [{ line: 1, quote: 'make all', text: 'Only make docs.' }]
    const asking = async (key: string, answer: Answer) => {
      const approval = agent.approval('Build?', { tool: 'Bash', input: { command: 'make all' }, key })
      await fixture.answer(await fixture.waitForRequest(key), answer)
      return approval
    }
    const text = 'The person commented on these lines:\n\nLine 1 of the command:\n> make all\nOnly make docs.'
    expect(await asking('a', { kind: 'deny', comments })).toEqual({ allowed: false, reason: text })
    expect(await asking('b', { kind: 'allow', comments })).toMatchObject({ allowed: true, note: text })
    expect(await asking('c', { kind: 'deny', reason: 'Why all?', askBack: true })).toEqual({
      allowed: false,
      reason: expect.stringContaining('asks you this first:\n\nWhy all?'),
      question: 'Why all?',
    })
  })

  it('an external agent reattaches its session after a crash and asks again with the same key', async () => {
    fixture = await RunnerFixture.open()
    const first = await connectAgent({ call: fixture.asAgent })
    void first.ask(ask, { key: 'deploy' }).catch(() => {})
    const request = await fixture.waitForRequest('deploy')
    await fixture.answer(request, { kind: 'deny', reason: 'freeze' })
    await fixture.waitForEvent('request.handed')
    const second = await connectAgent({ call: fixture.asAgent, session: first.id })
    expect(await second.ask(ask, { key: 'deploy' })).toMatchObject({ kind: 'answer', answer: { reason: 'freeze' } })
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
  })

  it('an external agent can withdraw its pending request', async () => {
    fixture = await RunnerFixture.open()
    const agent = await connectAgent({ call: fixture.asAgent })
    const asking = agent.ask(ask, { key: 'deploy' })
    await fixture.waitForRequest('deploy')
    agent.withdraw('deploy')
    expect(await asking).toMatchObject({ kind: 'agent', reason: 'withdrawn' })
  })

  it('an external agent that works without calling stays connected until its process ends', async () => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    const process = new AbortController()
    const { id } = await connectAgent({ call: fixture.asAgent, clock, signal: process.signal })
    const states = () => fixture.eventsOf('session.changed').map(({ value }) => value.state)
    await clock.advance(300_000)
    expect(states()).not.toContain('disconnected')
    process.abort()
    await clock.advance(40_000)
    expect(await fixture.asPerson('getSession', { id })).toMatchObject({ state: 'disconnected' })
  })

  it('an external agent has a driver that the gateway lists even if there is no runner', async () => {
    fixture = await RunnerFixture.open()
    const { items } = await fixture.asPerson('listDrivers', {})
    expect(items).toContainEqual({ ...externalInfo, runner: null })
  })
})
