/** Tests what happens if the real opencode, its runner or the gateway is lost or restarted while a request waits. */
import type { Request, SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { say, shell } from '../../../../test/agents/model/script.ts'
import { expectNoProcessLeft } from '../../../../test/agents/process-check.ts'
import type { RunningRunner } from '../runner-fixture.ts'
import { OpencodeFixture } from './opencode-fixture.ts'

let opencode: OpencodeFixture
let runner: RunningRunner
let session: SessionId
/** How many requests and turns there were before the test. */
let requests = 0
let turns = 0

beforeAll(async () => {
  opencode = await OpencodeFixture.create()
  runner = opencode.startRunner()
  opencode.model.script('greet the person', say('Hello.'))
  session = await opencode.start('greet the person')
  await opencode.waitForTurnEnd()
})
afterAll(() => opencode.close())
beforeEach(() => {
  requests = opencode.eventsOf('request.opened').length
  turns = opencode.eventsOf('turn.finished').length
})
const nextRequest = (nth = 1) => opencode.nthRequest(requests + nth)
const turnEnd = (nth = 1) => opencode.waitForTurnEnd(turns + nth)
const statusOf = async (request: Request) => (await opencode.getRequest(request)).status

async function askFor(name: string): Promise<Request> {
  const command = shell(`echo ran >> ${name}.txt`)
  opencode.model.script(`lose ${name}`, command, say('First done.'))
  // After the loss, the agent makes the same call again.
  opencode.model.script('Your process was lost', command, say('Second done.'))
  await opencode.asPerson('sendMessage', { id: session, text: `lose ${name}` })
  return nextRequest()
}

it('a request survives a restart of the gateway, and its answer reaches the same process', async () => {
  const request = await askFor('gateway')
  const pid = opencode.pidOf(session)
  await opencode.restartGateway()
  await opencode.answer(request, { kind: 'allow' })
  expect(await turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.readFile('gateway.txt')).toBe('ran\n')
  expect(opencode.pidOf(session)).toBe(pid)
})

it('after opencode was killed while it waited, an allowed call runs once when the agent makes it again', async () => {
  const request = await askFor('process')
  process.kill(-opencode.pidOf(session), 'SIGKILL')
  await expect.poll(async () => (await opencode.asPerson('getSession', { id: session })).process?.state).toBe('lost')
  expect(await statusOf(request)).toBe('pending')
  await opencode.answer(request, { kind: 'allow' })
  expect(await turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.readFile('process.txt')).toBe('ran\n')
  expect(opencode.eventsOf('request.opened')).toHaveLength(requests + 1)
})

it('a request that waits while the runner stops stays open, and the next runner tells the agent that it was denied', async () => {
  const request = await askFor('runner')
  await runner.stop()
  await expectNoProcessLeft(opencode.home)
  expect(await statusOf(request)).toBe('pending')
  runner = opencode.startRunner()
  opencode.model.script('Your process was lost', say('I leave it.'))
  await opencode.answer(request, { kind: 'deny', reason: 'the runner was new' })
  expect(await turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.readFile('runner.txt')).toBeNull()
  expect(opencode.model.hasRead('the runner was new')).toBe(true)
})

it('a turn that was interrupted while no runner was there is over, and the conversation goes on', async () => {
  const request = await askFor('interrupted')
  await runner.stop()
  await opencode.asPerson('interruptSession', { id: session })
  expect((await opencode.getRequest(request)).resolution).toMatchObject({ reason: 'interrupted' })
  runner = opencode.startRunner()
  expect(await turnEnd()).toMatchObject({ ending: 'interrupted' })
  opencode.model.script('still there', say('Yes.'))
  await opencode.asPerson('sendMessage', { id: session, text: 'still there' })
  expect(await turnEnd(2)).toMatchObject({ ending: 'done' })
  expect(opencode.model.calls.at(-1)?.body).toContain('greet the person')
})

it('a session that ends leaves no process and no script', async () => {
  await opencode.asPerson('endSession', { id: session })
  await expect.poll(async () => (await opencode.asPerson('getSession', { id: session })).state).toBe('ended')
  await expectNoProcessLeft(opencode.home)
  expect(opencode.readFile(`../driver/${session}/attach`)).toBeNull()
})

it('a conversation that opencode does not have ends the turn with an explanation', async () => {
  await opencode.start('continue nothing', { conversationId: 'ses_doesnotexist' })
  expect(await turnEnd()).toMatchObject({ ending: 'failed' })
  const [error] = opencode.eventsOf('error.raised').slice(-1)
  expect(error?.message).toContain('cannot continue the conversation ses_doesnotexist')
})
