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

beforeAll(async () => {
  opencode = await OpencodeFixture.create()
  runner = opencode.startRunner()
  opencode.model.script('greet the person', say('Hello.'))
  session = await opencode.start('greet the person')
  await opencode.waitForTurnEnd()
})
afterAll(() => opencode.close())
beforeEach(() => opencode.beginTest())

async function askFor(name: string): Promise<Request> {
  const command = shell(`echo ran >> ${name}.txt`)
  opencode.model.script(`lose ${name}`, command, say('First done.'))
  // After the loss, the agent makes the same call again.
  opencode.model.script('Your process was lost', command, say('Second done.'))
  await opencode.asPerson('sendMessage', { id: session, text: `lose ${name}` })
  return opencode.nextRequest()
}

it('a turn of opencode that was interrupted while no runner was running is over, and the conversation continues', async () => {
  const request = await askFor('interrupted')
  await runner.stop()
  await opencode.asPerson('interruptSession', { id: session })
  expect((await opencode.getRequest(request)).resolution).toMatchObject({ reason: 'interrupted' })
  runner = opencode.startRunner()
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'interrupted' })
  opencode.model.script('still there', say('Yes.'))
  await opencode.asPerson('sendMessage', { id: session, text: 'still there' })
  expect(await opencode.turnEnd(2)).toMatchObject({ ending: 'done' })
  expect(opencode.model.calls.at(-1)?.body).toContain('greet the person')
})

it('a session of opencode that ends leaves no process and no script', async () => {
  await opencode.asPerson('endSession', { id: session })
  await expect.poll(async () => (await opencode.asPerson('getSession', { id: session })).state).toBe('ended')
  await expectNoProcessLeft(opencode.home)
  expect(opencode.readFile(`../driver/${session}/attach`)).toBeNull()
})

it('a conversation that opencode does not know ends the turn with an explanation', async () => {
  await opencode.start('continue nothing', { conversationId: 'ses_doesnotexist' })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'failed' })
  const [error] = opencode.eventsOf('error.raised').slice(-1)
  expect(error?.message).toContain('cannot continue the conversation ses_doesnotexist')
})
