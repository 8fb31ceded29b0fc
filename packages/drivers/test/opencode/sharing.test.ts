/** Tests a session of the real opencode that a terminal shares. */
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ask, say, shell } from '../../../../test/agents/model/script.ts'
import { readAttachScript } from '../conformance/attach-script.ts'
import { OpencodeFixture } from './opencode-fixture.ts'

let opencode: OpencodeFixture
let session: SessionId
let conversation: string

beforeAll(async () => {
  opencode = await OpencodeFixture.create()
  opencode.startRunner()
  opencode.model.script('greet the person', say('Hello.'))
  session = await opencode.start('greet the person')
  await opencode.waitForTurnEnd()
  conversation = (await opencode.asPerson('getSession', { id: session })).conversationId ?? ''
})
afterAll(() => opencode.close())
beforeEach(() => opencode.beginTest())
const send = (text: string) => opencode.asPerson('sendMessage', { id: session, text })
const inTerminal = (path: string, body: object) => opencode.callOpencode(session, 'POST', path, body)

it('the server of opencode listens on loopback only, with a password that only the owner can read', async () => {
  const { url } = readAttachScript(opencode.attachScript(session))
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(statSync(opencode.attachScript(session)).mode & 0o777).toBe(0o700)
  expect((await fetch(`${url}/session`)).status).toBe(401)
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const listening = (await readFile('/proc/net/tcp', 'utf8'))
    .split('\n')
    .filter(line => line.includes(`:${port} 00000000:0000 0A`))
  expect(listening.map(line => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${port}`])
})

it('the password, which the commands of opencode inherit, is masked in the log, and a call that contains the password is denied', async () => {
  const password = /OPENCODE_SERVER_PASSWORD='?([\w-]+)/.exec(
    await readFile(opencode.attachScript(session), 'utf8'),
  )?.[1]
  const stolen = shell(`curl -u opencode:${password} 127.0.0.1:4096/permission`)
  opencode.model.script('print the password', shell('env'), stolen, say('Stopped.'))
  await send('print the password')
  const request = await opencode.nextRequest()
  await opencode.asPerson('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
  await opencode.turnEnd()
  const log = JSON.stringify(opencode.eventsOf('tool.finished'))
  expect(log).toContain('OPENCODE_SERVER_PASSWORD')
  expect(log).not.toContain(password)
  expect(opencode.eventsOf('error.raised').at(-1)).toMatchObject({ code: 'token_exposed' })
  const [denied] = opencode.eventsOf('request.resolved').slice(-1)
  expect(denied?.resolution).toMatchObject({ by: 'rule', answer: { kind: 'deny' } })
})

it('a rejection in a terminal of opencode withdraws all requests of the conversation', async () => {
  const calls = [shell('echo ran >> first.txt'), shell('echo ran >> second.txt')]
  opencode.model.script('rejected elsewhere', calls, say('I stop.'))
  await send('rejected elsewhere')
  const both = [await opencode.nextRequest(1), await opencode.nextRequest(2)]
  await inTerminal(`/permission/${both[0]?.key}/reply`, { reply: 'reject' })
  await opencode.turnEnd()
  for (const request of both)
    expect((await opencode.getRequest(request)).resolution).toMatchObject({ by: 'agent', reason: 'withdrawn' })
  expect(opencode.readFile('first.txt') ?? opencode.readFile('second.txt')).toBeNull()
})

it('a question that is answered in a terminal of opencode is withdrawn in Holdpoint', async () => {
  const question = { header: 'Size', question: 'Which size?', options: ['small', 'large'] }
  opencode.model.script('asked elsewhere', ask([question], 'call_size'), say('Good.'))
  await send('asked elsewhere')
  const request = await opencode.nextRequest()
  await inTerminal(`/question/${request.key}/reply`, { answers: [['large']] })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect((await opencode.getRequest(request)).resolution).toMatchObject({ by: 'agent', reason: 'withdrawn' })
  expect(opencode.model.toolResult('call_size')).toContain('large')
})

it('a message that is typed in a terminal of opencode starts a turn, and its calls open requests', async () => {
  opencode.model.script('typed elsewhere', shell('echo ran >> typed.txt'), say('Done.'))
  const parts = [{ type: 'text', text: 'typed elsewhere' }]
  void inTerminal(`/session/${conversation}/prompt_async`, { parts }).catch(() => {}) // its reply is empty
  await opencode.answer(await opencode.nextRequest(), { kind: 'allow' })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.readFile('typed.txt')).toBe('ran\n')
})

it('a turn that is stopped in a terminal of opencode is interrupted, and its request is withdrawn', async () => {
  opencode.model.script('stopped elsewhere', shell('echo ran >> stopped.txt'))
  await send('stopped elsewhere')
  const request = await opencode.nextRequest()
  await inTerminal(`/session/${conversation}/abort`, {})
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'interrupted' })
  expect((await opencode.getRequest(request)).resolution).toMatchObject({ by: 'agent', reason: 'withdrawn' })
  expect(await opencode.pendingInOpencode(session)).toEqual([])
})

it('another conversation on the same server of opencode does not appear in the session', async () => {
  const other = (await inTerminal('/session', {})) as { id: string } // this is the API of the pinned version
  opencode.model.script('private matter', say('A private answer.'))
  const parts = [{ type: 'text', text: 'private matter' }]
  await inTerminal(`/session/${other.id}/message`, { parts })
  opencode.model.script('public matter', say('A public answer.'))
  await send('public matter')
  await opencode.turnEnd()
  expect(opencode.agentTexts().join(' ')).toContain('A public answer.')
  expect(opencode.agentTexts().join(' ')).not.toContain('A private answer.')
})
