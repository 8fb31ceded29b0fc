/** Tests that the session loop loses nothing silently: turns whose process ends at the wrong moment, tool calls that the agent leaves open, and costs of work without a turn. The gateway is real. */
import type { AgentEvent, Call } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { AgentOutput, AgentProtocol } from '../src/index.ts'
import { ManualClock, RunnerFixture } from './runner-fixture.ts'
import { ask, ScriptedAgent, type ScriptedConnection } from './scripted-agent.ts'

let fixture: RunnerFixture
afterEach(() => fixture.close())

async function start(protocol: Partial<AgentProtocol> = {}) {
  fixture = await RunnerFixture.open()
  const agent = new ScriptedAgent(protocol)
  const runner = fixture.startRunner([agent.driver])
  const id = await fixture.startSession('scripted')
  return { agent, runner, id, connection: await agent.did('send go') }
}

const done: AgentOutput = { type: 'turnEnded', ending: 'done' }
const lost: AgentOutput = { type: 'exited', how: 'Agent was killed' }
const toolStarted = (block: string, agentPath: string[] = []): AgentEvent => ({
  ...{ type: 'tool.started', block, tool: 'Bash', input: {} },
  ...(agentPath.length > 0 ? { agentPath } : {}),
})
const backgroundCall = (id: string): AgentOutput => ({
  type: 'callOpened',
  call: { id, ask: ask(id), origin: 'background' },
})
/** Reports outputs without waiting between them, so that they arrive while the loop still handles the first. */
const emitAtOnce = (connection: ScriptedConnection, ...outputs: readonly AgentOutput[]) =>
  Promise.all(outputs.map(output => connection.emit(output)))
const write = (connection: ScriptedConnection, ...events: readonly AgentEvent[]) =>
  connection.emit({ type: 'events', events })
const finishedTools = () => fixture.eventsOf('tool.finished').map(({ block, ok }) => `${block} ${ok}`)
const waitForParked = () => fixture.waitForEvent('session.changed', event => event.value.state === 'parked')
const turnEndings = () => fixture.eventsOf('turn.finished').map(({ ending }) => ending)

describe('a turn that the agent starts by itself before the end of the last turn is written', () => {
  it('if the process dies right after the agent has started a turn by itself, the log gets the start and the end of that turn, even if the end of the previous turn is not written yet', async () => {
    const { agent, connection, id } = await start()
    await emitAtOnce(connection, done, { type: 'turnStarted' }, lost)
    expect((await fixture.waitForTurnEnd(2)).ending).toBe('failed')
    expect(turnEndings()).toEqual(['done', 'failed'])
    expect((await fixture.waitForEvent('error.raised')).message).toContain('Agent was killed in the middle of the turn')
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    await agent.did('send again', 2)
  })

  it('if the agent starts a turn by itself before the end of the last turn is written, that turn ends before the turn of a waiting message', async () => {
    const { agent, connection, id } = await start()
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    await fixture.waitForEvent('command.added', event => JSON.stringify(event.value).includes('second'))
    await emitAtOnce(connection, done, { type: 'turnStarted' }, lost)
    const next = await agent.did('send second', 2)
    expect(turnEndings()).toEqual(['done', 'failed'])
    await next.emit(done)
    await fixture.waitForTurnEnd(3)
  })

  it('if the agent starts a turn by itself before the end of the last turn is written, that turn is parked if it asks and its process dies, and the agent is told the answer', async () => {
    const { agent, connection } = await start()
    const call = { id: 'a', ask: ask('ls') }
    await emitAtOnce(connection, done, { type: 'turnStarted' }, { type: 'callOpened', call })
    const request = await fixture.waitForRequest('a')
    await connection.emit(lost)
    await waitForParked()
    await fixture.answer(request, { kind: 'deny', reason: 'no' })
    const told = await fixture.waitFor(() => agent.connections[1]?.sent[0]?.text)
    expect(told).toContain('Bash {"command":"ls"}')
    await agent.connections[1]?.emit(done)
    expect((await fixture.waitForTurnEnd(2)).ending).toBe('done')
  })

  it('if the agent starts a turn by itself before the end of the last turn is written, that turn is resumed by the next runner if it asks and its runner stops', async () => {
    fixture = await RunnerFixture.open()
    const agent = new ScriptedAgent()
    // The end of the first turn is not written before the request of its last call is open.
    const call: Call = (op, input, options) =>
      op === 'openRequest' && JSON.stringify(input).includes('"late"')
        ? new Promise(() => {})
        : fixture.asRunner(op, input, options)
    const runner = fixture.startRunner([agent.driver], { call })
    await fixture.startSession('scripted')
    const connection = await agent.did('send go')
    // The events so far are stored, so that no later event waits for the request that is never opened.
    await fixture.waitForEvent('session.changed', ({ value }) => value.process?.state === 'live')
    const late = { id: 'late', ask: ask('late') }
    const own = { id: 'own', ask: ask('ls') }
    await emitAtOnce(
      connection,
      ...[{ type: 'callOpened', call: late } as const, done, { type: 'turnStarted' } as const],
      { type: 'callOpened', call: own },
    )
    const request = await fixture.waitForRequest('own')
    await runner.stop()
    await waitForParked()
    expect(turnEndings()).toEqual(['done'])
    fixture.startRunner([agent.driver])
    await fixture.answer(request, { kind: 'deny', reason: 'no' })
    const told = await fixture.waitFor(() => agent.connections[1]?.sent[0]?.text)
    expect(told).toContain('Bash {"command":"ls"}')
  })
})

describe('a request of background work', () => {
  it('a request of background work stays open if the process dies before the next message is sent, and the message is sent after the answer', async () => {
    fixture = await RunnerFixture.open()
    const agent = new ScriptedAgent({ planResume: () => ({ kind: 'message' }) })
    let isSecond = false
    const call: Call = async (op, input, options) => {
      const output = await fixture.asRunner(op, input, options)
      if (op === 'takeCommand' && isSecond) await agent.connections[0]?.emit(lost)
      return output
    }
    fixture.startRunner([agent.driver], { call })
    const id = await fixture.startSession('scripted')
    const connection = await agent.did('send go')
    await connection.emit({ type: 'backgroundChanged', tasks: 1 })
    await emitAtOnce(connection, done, backgroundCall('a'))
    const request = await fixture.waitForRequest('a')
    await fixture.waitForEvent('command.done')
    isSecond = true
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    await waitForParked()
    expect((await fixture.asPerson('getRequest', { id: request.id })).status).toBe('pending')
    await fixture.answer(request, { kind: 'allow' })
    const next = await agent.did('send second', 2)
    await next.open('b', 'a')
    await agent.did('answer b answer', 2)
    expect(next.answers[0]).toMatchObject({ key: 'a', answer: { kind: 'allow' } })
    expect(connection.sent.map(({ text }) => text)).toEqual(['go'])
  })

  it('a turn that consists only of a request of background work ends when a person interrupts it, although the main agent reports no end', async () => {
    const { agent, connection, id } = await start()
    await connection.emit({ type: 'backgroundChanged', tasks: 1 })
    await emitAtOnce(connection, done, backgroundCall('a'))
    await fixture.waitForRequest('a')
    await fixture.waitForTurnEnd()
    await fixture.asPerson('interruptSession', { id })
    await agent.did('answer a agent')
    await connection.emit({ type: 'callTaken', id: 'a' })
    expect((await fixture.waitForTurnEnd(2)).ending).toBe('interrupted')
    expect(connection.log).not.toContain('close stopped')
  })
})

describe('a tool call that the agent does not finish', () => {
  it('a tool call that the agent does not finish is finished in the log when its turn ends', async () => {
    const { connection } = await start()
    await write(connection, toolStarted('b1'), toolStarted('b2', ['helper']), toolStarted('b3'))
    await write(connection, { type: 'tool.finished', block: 'b1', ok: true })
    await connection.emit({ ...done, events: [{ type: 'tool.finished', block: 'b3', ok: true }] })
    await fixture.waitForTurnEnd()
    expect(finishedTools().sort()).toEqual(['b1 true', 'b2 false', 'b3 true'])
    const [open] = fixture.eventsOf('tool.finished').filter(({ ok }) => !ok)
    expect(open).toMatchObject({ output: 'The agent did not finish this call', agentPath: ['helper'] })
    const types = fixture.events.map(({ type }) => type)
    expect(types.lastIndexOf('tool.finished')).toBeLessThan(types.indexOf('turn.finished'))
  })

  it('a tool call that the agent does not finish is finished in the log when its process is lost, even between turns', async () => {
    const { agent, connection, id } = await start()
    await write(connection, toolStarted('b1'))
    await connection.emit(lost)
    await fixture.waitForTurnEnd()
    expect(finishedTools()).toEqual(['b1 false'])
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    const next = await agent.did('send again', 2)
    await next.emit({ type: 'backgroundChanged', tasks: 1 })
    await write(next, toolStarted('b2'))
    await next.emit(done)
    await fixture.waitForTurnEnd(2)
    await fixture.waitFor(() => fixture.eventsOf('command.done')[1])
    expect(finishedTools()).toEqual(['b1 false'])
    await next.emit(lost)
    await fixture.waitForEvent('error.raised', ({ message }) => message.includes('in the background'))
    expect(finishedTools()).toEqual(['b1 false', 'b2 false'])
  })

  it('a tool call that the agent does not finish stays open in the log while its request waits, and is finished after the next process has ended the turn', async () => {
    const { agent, connection } = await start()
    await write(connection, toolStarted('b1'))
    await connection.open('a')
    const request = await fixture.waitForRequest('a')
    await connection.emit(lost)
    await waitForParked()
    expect(finishedTools()).toEqual([])
    await fixture.answer(request, { kind: 'deny', reason: 'no' })
    await fixture.waitFor(() => agent.connections[1]?.sent[0])
    await agent.connections[1]?.emit(done)
    await fixture.waitForTurnEnd()
    expect(finishedTools()).toEqual(['b1 false'])
  })
})

describe('the cost of work that belongs to no turn', () => {
  it('the cost of work that belongs to no turn is reported with the next turn', async () => {
    const { connection } = await start()
    await connection.emit({ ...done, cost: 0.25, messages: [] })
    await connection.emit({ ...done, cost: 0.5 })
    expect((await fixture.waitForTurnEnd()).cost).toBe(0.75)
  })
})

describe('a connection that throws while it sends a message', () => {
  it('a connection that throws while it sends a message ends its process, and the failure is in the log of the session', async () => {
    const { agent, connection, id } = await start()
    await connection.emit(done)
    await fixture.waitForTurnEnd()
    connection.send = () => {
      throw new Error('The pipe is broken')
    }
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    await agent.did('close stopped')
    expect((await fixture.waitForEvent('error.raised')).message).toContain('The pipe is broken')
  })
})

it.each<[string, () => Promise<void>]>([
  ['fails', () => Promise.reject(new Error('The connection was lost'))],
  ['never ends', () => new Promise(() => {})],
])(
  'an agent that must read the reason of a denial reads it with its next message if the attempt to tell the reason at once %s',
  async (_, tell) => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    const agent = new ScriptedAgent({}, clock)
    fixture.startRunner([agent.driver])
    const id = await fixture.startSession('scripted')
    const connection = await agent.did('send go')
    connection.tell = tell
    connection.effects = { tellAgent: 'Not on a Friday.' }
    await connection.open('a')
    await fixture.answer(await fixture.waitForRequest('a'), { kind: 'deny' })
    await agent.did('answer a answer')
    await connection.emit({ type: 'callTaken', id: 'a' })
    const ended = connection.emit(done)
    await clock.advance(10_000)
    await ended
    expect((await fixture.waitForTurnEnd()).ending).toBe('done')
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    await agent.did('send Not on a Friday.\n\nagain')
  },
)
