/** Tests the shared session loop with an agent that does exactly what the test tells it. The gateway is real. */
import type { Ask } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { AgentConnection, AgentProtocol, ConnectionOptions } from '../src/index.ts'
import { ManualClock, RunnerFixture } from './runner-fixture.ts'
import { ask, ScriptedAgent, type ScriptedConnection } from './scripted-agent.ts'

let fixture: RunnerFixture
afterEach(() => fixture.close())

async function start(protocol: Partial<AgentProtocol> = {}, clock?: ManualClock) {
  fixture = await RunnerFixture.open(clock ? { clock } : {})
  const agent = new ScriptedAgent(protocol, clock)
  const runner = fixture.startRunner([agent.driver])
  const id = await fixture.startSession('scripted')
  return { agent, runner, id, connection: await agent.did('send go') }
}

describe('a turn of the session loop', () => {
  it('a turn of the session loop has its text, tool calls, cost and usage in the log, and messages wait for their turn', async () => {
    const { agent, connection, id } = await start()
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    await connection.emit({ type: 'turnStarted' })
    await connection.emit({ type: 'text', text: 'Hel' })
    await connection.emit({ type: 'text', text: 'lo' })
    await connection.emit({
      type: 'events',
      events: [{ type: 'tool.started', block: 'b1', tool: 'Bash', input: {} }],
    })
    await connection.emit({ type: 'events', events: [{ type: 'tool.finished', block: 'b1', ok: true }] })
    await connection.emit({ type: 'text', text: 'Bye' })
    expect(connection.sent).toHaveLength(1)
    await connection.emit({ type: 'turnEnded', ending: 'done', cost: 0.5, usage: { inputTokens: 1 } })
    expect(await fixture.waitForTurnEnd()).toMatchObject({ ending: 'done', cost: 0.5, usage: { inputTokens: 1 } })
    expect(fixture.agentTexts()).toEqual(['Hello', 'Bye'])
    const types = fixture.events.map(({ type }) => type)
    expect(types.indexOf('message.added')).toBeLessThan(types.indexOf('tool.started'))
    await agent.did('send second')
    expect((await fixture.asPerson('getSession', { id })).conversationId).toBe('conversation-1')
  })

  it('a turn of the session loop fails with an explanation if the process is lost, and the next message starts another process', async () => {
    const { agent, connection, id } = await start()
    await connection.emit({ type: 'exited', how: 'Agent exited with code 1', lastOutput: 'out of memory' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('failed')
    const { message } = await fixture.waitForEvent('error.raised')
    expect(message).toBe(
      'Agent exited with code 1 in the middle of the turn; send a message to continue. Its last output: out of memory',
    )
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    const next = await agent.did('send again', 2)
    expect(next.options.conversationId).toBe('conversation-1')
  })

  it('a turn of the session loop that the agent starts by itself is shown as working', async () => {
    const { connection, id } = await start()
    await connection.emit({ type: 'turnEnded', ending: 'done' })
    await fixture.waitForTurnEnd()
    await connection.emit({ type: 'turnStarted' })
    await fixture.waitForEvent('session.changed', event => event.value.state === 'working')
    await connection.emit({ type: 'turnEnded', ending: 'done' })
    await fixture.waitForTurnEnd(2)
    await fixture.waitFor(() => (fixture.events.at(-1)?.type === 'session.changed' ? true : undefined))
    expect((await fixture.asPerson('getSession', { id })).state).toBe('idle')
  })
})

describe('a call of the session loop', () => {
  it('a call of the session loop waits for its answer, which is handed and then taken', async () => {
    const { agent, connection } = await start()
    await connection.open('call-0')
    await fixture.answer(await fixture.waitForRequest('call-0'), { kind: 'allow' })
    await agent.did('answer call-0 answer')
    expect(connection.answers[0]).toMatchObject({ kind: 'answer', input: { command: 'call-0' }, key: 'call-0' })
    await fixture.waitForEvent('request.handed')
    expect(fixture.eventsOf('request.taken')).toEqual([])
    await connection.emit({ type: 'callTaken', id: 'call-0' })
    expect(fixture.eventsOf('request.taken')).toHaveLength(1)
  })

  it('a call of the session loop can be answered before an earlier call', async () => {
    const { agent, connection } = await start()
    await connection.open('a')
    await connection.open('b')
    const [a, b] = [await fixture.waitForRequest('a'), await fixture.waitForRequest('b')]
    await fixture.answer(b, { kind: 'deny', reason: 'no' })
    await agent.did('answer b answer')
    await fixture.answer(a, { kind: 'allow' })
    await agent.did('answer a answer')
    expect(connection.answers.map(({ call }) => call)).toEqual(['b', 'a'])
  })

  it('a call of the session loop that the agent withdraws, because it was answered elsewhere, withdraws its request', async () => {
    const { connection } = await start()
    await connection.open('a')
    await fixture.waitForRequest('a')
    await connection.emit({ type: 'callAborted', id: 'a' })
    expect((await fixture.waitForEvent('request.resolved')).resolution).toMatchObject({ reason: 'withdrawn' })
    expect(connection.answers).toEqual([])
  })

  it('a call of the session loop that the agent repeats with the same id keeps its request and gets the same answer again', async () => {
    const { agent, connection } = await start()
    await connection.open('a')
    await connection.open('a')
    await fixture.answer(await fixture.waitForRequest('a'), { kind: 'allow' })
    await agent.did('answer a answer')
    await connection.open('a')
    await agent.did('answer a answer', 1, 2)
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
    expect(fixture.eventsOf('request.handed')).toHaveLength(1)
  })

  it('a call of the session loop that still waits when the turn ends is withdrawn', async () => {
    const { connection } = await start()
    await connection.open('a')
    await fixture.waitForRequest('a')
    await connection.emit({ type: 'turnEnded', ending: 'done' })
    await fixture.waitForTurnEnd()
    expect((await fixture.waitForEvent('request.resolved')).resolution).toMatchObject({ reason: 'withdrawn' })
  })

  it('a call of the session loop whose denial ends the turn shows the turn as canceled, and the agent reads the reason with the next message', async () => {
    const { agent, connection, id } = await start()
    connection.effects = { turnEnding: 'cancelled', tellAgent: 'The person said: no' }
    await connection.open('a')
    await fixture.answer(await fixture.waitForRequest('a'), { kind: 'deny', reason: 'no' })
    await agent.did('answer a answer')
    await connection.emit({ type: 'callTaken', id: 'a' })
    await connection.emit({ type: 'turnEnded', ending: 'done' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('cancelled')
    await fixture.asPerson('sendMessage', { id, text: 'go on' })
    await agent.did('send The person said: no\n\ngo on')
  })

  it('a call of the session loop whose ask is not valid opens no request, and the agent is told why', async () => {
    const { agent, connection } = await start()
    const call = { id: 'a', ask: { ...ask('a'), tool: '' } as Ask }
    await connection.emit({ type: 'callOpened', call })
    await agent.did('answer a notAsked')
    expect(fixture.eventsOf('request.opened')).toEqual([])
  })
})

describe('an interrupt in the session loop', () => {
  it('an interrupt in the session loop answers the waiting calls before the agent is interrupted, and ends the turn as interrupted', async () => {
    const { agent, connection, id } = await start()
    await connection.open('a')
    await fixture.waitForRequest('a')
    await fixture.asPerson('interruptSession', { id })
    await agent.did('interrupt')
    expect(connection.answers.map(({ call, kind }) => `${call} ${kind}`)).toEqual(['a agent'])
    await connection.open('late')
    await agent.did('answer late agent')
    await connection.emit({ type: 'turnEnded', ending: 'failed', reason: 'aborted' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
  })

  it('an interrupt in the session loop ends the process of an agent that does not stop in time', async () => {
    const clock = new ManualClock()
    const { agent, id } = await start({}, clock)
    await fixture.asPerson('interruptSession', { id })
    await agent.did('interrupt')
    await clock.advance(5000)
    await agent.did('close stopped')
    expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
  })

  it.each([{}, { turnEnding: 'cancelled' as const }])(
    'a denial that stops the turn in the session loop ends the process of an agent that does not stop in time, with the effects %j',
    async effects => {
      const clock = new ManualClock()
      const { agent, connection } = await start({}, clock)
      connection.effects = effects
      await connection.open('a')
      await fixture.answer(await fixture.waitForRequest('a'), { kind: 'deny', interrupt: true })
      await agent.did('answer a answer')
      await clock.advance(10_000)
      await agent.did('close stopped')
      expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
    },
  )

  it('a denial in the session loop that only ends the turn does not end the process', async () => {
    const clock = new ManualClock()
    const { agent, connection } = await start({}, clock)
    connection.effects = { turnEnding: 'cancelled' }
    await connection.open('a')
    await fixture.answer(await fixture.waitForRequest('a'), { kind: 'deny' })
    await agent.did('answer a answer')
    await clock.advance(10_000)
    await connection.emit({ type: 'turnEnded', ending: 'done' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('cancelled')
    expect(connection.log).not.toContain('close stopped')
  })
})

describe('a process that dies while calls wait', () => {
  it('a process that dies while calls wait leaves the session parked, the answer resumes the session, and an equal call gets the answer once', async () => {
    const { agent, connection, id } = await start()
    await connection.open('a', 'ls')
    const request = await fixture.waitForRequest('a')
    await connection.emit({ type: 'exited', how: 'Agent was killed' })
    await fixture.waitForEvent('session.changed', event => event.value.state === 'parked')
    expect((await fixture.asPerson('getRequest', { id: request.id })).status).toBe('pending')
    await fixture.answer(request, { kind: 'allow' })
    const told = await fixture.waitFor(() => agent.connections[1]?.sent[0]?.text)
    expect(told).toContain('Bash {"command":"ls"}: allowed; make exactly the same call again to run it')
    const next = agent.connections[1] as ScriptedConnection
    await next.open('b', 'ls')
    await agent.did('answer b answer', 2)
    expect(next.answers[0]).toMatchObject({ key: 'a', input: { command: 'ls' } })
    await next.emit({ type: 'callTaken', id: 'b' })
    await next.open('c', 'ls')
    await fixture.waitForRequest('c', id)
  })

  it('a process that dies while calls wait ends the session as lost and resolves its request if the agent cannot resume', async () => {
    const { connection, id } = await start({ keepsAfterLoss: 'nothing' })
    await connection.open('a')
    const request = await fixture.waitForRequest('a')
    await connection.emit({ type: 'exited', how: 'Agent was killed' })
    await fixture.waitForEvent('session.ended')
    expect((await fixture.asPerson('getSession', { id })).ending).toMatchObject({ reason: 'lost' })
    expect((await fixture.asPerson('getRequest', { id: request.id })).resolution).toMatchObject({ by: 'agent' })
  })

  it('a process that dies while calls wait is continued if the agent asks again under the same id after the runner restarts', async () => {
    const { agent, connection, runner } = await start({ keepsAfterLoss: 'calls' })
    await connection.open('a')
    const request = await fixture.waitForRequest('a')
    runner.kill()
    fixture.startRunner([agent.driver])
    await fixture.answer(request, { kind: 'allow' })
    const next = await fixture.waitFor(() => agent.connections[1])
    expect(next.options.resume).toEqual({ call: null })
    await next.open('a')
    await agent.did('answer a answer', 2)
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
  })
})

describe('parking in the session loop', () => {
  it('parking in the session loop ends the process of a call that waits too long and can be asked again', async () => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    const agent = new ScriptedAgent({ keepsAfterLoss: 'calls' }, clock)
    fixture.startRunner([agent.driver])
    const id = await fixture.startSession('scripted', { parkAfterMs: 1000 })
    const connection = await agent.did('send go')
    connection.parking = { prepare: async () => {}, whyNot: () => null }
    await connection.open('a')
    await fixture.waitForRequest('a')
    await clock.advance(2000)
    await agent.did('close parked')
    await fixture.waitForEvent('session.changed', event => event.value.state === 'parked')
    expect((await fixture.asPerson('getSession', { id })).process).toMatchObject({ state: 'parked' })
  })

  it('parking in the session loop keeps the process of an agent that cannot ask again, and says why', async () => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    const agent = new ScriptedAgent({}, clock)
    fixture.startRunner([agent.driver])
    const id = await fixture.startSession('scripted', { parkAfterMs: 1000 })
    const connection = await agent.did('send go')
    await connection.open('a')
    await fixture.waitForRequest('a')
    await clock.advance(3000)
    await fixture.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    const { process, state } = await fixture.asPerson('getSession', { id })
    expect(process).toMatchObject({ state: 'live', note: 'this agent cannot ask again after a restart' })
    expect(state).toBe('working')
  })

  it('parking in the session loop ends an idle process, and a message starts another one', async () => {
    const clock = new ManualClock()
    const { agent, connection, id } = await start({}, clock)
    await connection.emit({ type: 'turnEnded', ending: 'done' })
    await fixture.waitForTurnEnd()
    await fixture.waitForEvent('command.done')
    await clock.advance(16 * 60_000, 60_000)
    await agent.did('close idle')
    await fixture.waitForEvent('session.changed', event => event.value.state === 'parked')
    await fixture.asPerson('sendMessage', { id, text: 'hello' })
    await agent.did('send hello', 2)
  })
})

describe('a change of mode in the session loop', () => {
  it('a change of mode in the session loop reaches the agent, and a refusal is reported with the current mode', async () => {
    const { agent, id } = await start()
    await fixture.asPerson('patchSession', { id, mode: 'plan' })
    await agent.did('mode plan')
    await fixture.asPerson('patchSession', { id, mode: 'forbidden' })
    await agent.did('mode forbidden')
    const done = await fixture.waitForEvent('command.done', event => event.outcome?.ok === false)
    expect(done.outcome?.reason).toBe('Agent refused the change: not today')
    expect(fixture.eventsOf('error.raised')).toMatchObject([
      { code: 'refused', message: 'Agent refused the change: not today' },
    ])
    await fixture.waitFor(() => {
      const last = fixture.eventsOf('session.changed').at(-1)
      return last?.value.mode === 'plan' ? last : undefined
    })
  })
})

describe('an agent that does not become ready', () => {
  it('an agent that does not become ready is stopped after a minute, and the turn fails', async () => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    let closed = false
    const silent = (options: ConnectionOptions): AgentConnection => ({
      send: () => {},
      answer: async () => ({}),
      interrupt: async () => {},
      changeSettings: async () => {},
      close: () => {
        closed = true
        return options.emit({ type: 'exited', how: 'Agent was closed' })
      },
    })
    const agent = new ScriptedAgent({ connect: silent, startHint: 'run `agent` in a terminal' }, clock)
    fixture.startRunner([agent.driver])
    await fixture.startSession('scripted')
    await fixture.waitForEvent('command.taken')
    await clock.advance(62_000)
    expect((await fixture.waitForTurnEnd()).ending).toBe('failed')
    expect((await fixture.waitForEvent('error.raised')).message).toBe(
      'Agent did not respond within a minute after it was started; run `agent` in a terminal',
    )
    expect(closed).toBe(true)
  })
})
