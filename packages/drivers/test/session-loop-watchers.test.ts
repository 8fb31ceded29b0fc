/** Tests what the session loop does with the replies of watchers. The gateway is real, except for the replies to `reportMoment`, which each test chooses. */
import { type Call, Fault, type Input, type MomentReply } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { RunnerFixture } from './runner-fixture.ts'
import { ScriptedAgent } from './scripted-agent.ts'

let fixture: RunnerFixture
afterEach(() => fixture.close())

type Reported = Input<'reportMoment'>
type Reply = (moment: Reported, nth: number, kill: () => void) => MomentReply

async function start(reply: Reply) {
  fixture = await RunnerFixture.open()
  const agent = new ScriptedAgent()
  const reported: Reported[] = []
  const call = (async (op, input, options) => {
    if (op !== 'reportMoment') return fixture.asRunner(op, input, options)
    const moment = input as Reported // the input of this operation
    reported.push(moment)
    return reply(moment, reported.length, () => runner.kill())
  }) as Call
  const startRunner = () => fixture.startRunner([agent.driver], { call })
  const runner = startRunner()
  const id = await fixture.startSession('scripted')
  return { agent, id, startRunner, reported }
}
const watcher = { name: 'no-friday', file: '/rules.json', version: 1 }
const refuseGo: Reply = ({ text }) => (text === 'go' ? { say: [], deny: 'It is Friday.', watcher } : { say: [] })

describe('the session loop with watchers', () => {
  it('the session loop gives the texts of watchers to the agent before the message', async () => {
    const { agent, reported, id } = await start(({ text }) => ({
      say: text === 'go' ? ['Tests: npm test.', 'Never push.'] : [],
    }))
    const connection = await agent.did('send Tests: npm test.\n\nNever push.\n\ngo')
    const { value } = await fixture.waitForEvent('command.added')
    expect(reported).toMatchObject([{ id, moment: 'prompt', key: value.id, text: 'go' }])
    await connection.emit({ type: 'turnEnded', ending: 'done' })
    await fixture.waitForTurnEnd()
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    await agent.did('send second')
  })

  it('the session loop does not start a turn for a message that a watcher refuses, and the next message is given to the agent', async () => {
    const { agent, id } = await start(refuseGo)
    const { outcome } = await fixture.waitForEvent('command.done')
    expect(outcome).toEqual({ ok: false, reason: 'The watcher “no-friday” refused this message: It is Friday.' })
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    const connection = await agent.did('send second')
    expect(connection.sent.map(({ text }) => text)).toEqual(['second'])
    expect(fixture.eventsOf('command.taken')).toHaveLength(1)
    expect(fixture.eventsOf('turn.finished')).toEqual([])
  })

  it('the session loop does not give the agent a message that the gateway could not check, and says why', async () => {
    const { agent } = await start(() => {
      throw new Fault('internal', 'The gateway has a bug.')
    })
    const { outcome } = await fixture.waitForEvent('command.done')
    expect(outcome).toMatchObject({ ok: false, reason: expect.stringContaining('The gateway has a bug.') })
    expect(agent.connections).toEqual([])
  })

  it('the session loop keeps a message until an unreachable gateway is back and has checked it', async () => {
    const { agent, reported } = await start((_, nth) => {
      if (nth <= 2) throw new Fault('draining', 'The gateway is away.')
      return { say: ['Checked.'] }
    })
    await agent.did('send Checked.\n\ngo')
    expect(new Set(reported.map(({ key }) => key)).size).toBe(1)
    expect(reported).toHaveLength(3)
  })

  it('the session loop reports the message again with the same key if its runner was killed before the message was taken', async () => {
    const { agent, reported, startRunner } = await start((_, nth, kill) => {
      if (nth === 1) kill()
      return { say: ['Read this.'] }
    })
    await expect.poll(() => reported.length).toBe(1)
    startRunner()
    await agent.did('send Read this.\n\ngo')
    expect(reported.map(({ key }) => key)).toEqual([reported[0]?.key, reported[0]?.key])
  })
})
