/** Tests a session of the real Codex that a second client shares, as a person's own `codex --remote` terminal does. */
import { statSync } from 'node:fs'
import type { SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { say, shell } from '../../../../test/agents/model/script.ts'
import type { RpcClient, RpcMessage } from '../../src/codex/rpc-client.ts'
import { CodexFixture } from './codex-fixture.ts'

let codex: CodexFixture
let session: SessionId
let terminal: RpcClient
let threadId: string
const seen: RpcMessage[] = []

beforeAll(async () => {
  codex = await CodexFixture.create()
  codex.startRunner()
  codex.model.script('hello', say('Hello.'))
  session = await codex.start('hello')
  await codex.waitForTurnEnd()
  threadId = (await codex.asPerson('getSession', { id: session })).conversationId ?? ''
  terminal = await codex.connectTerminal(session)
  terminal.onMessage = message => seen.push(message)
  const clientInfo = { name: 'terminal', title: 'Terminal', version: '1' }
  const capabilities = { experimentalApi: true, requestAttestation: false }
  await terminal.request('initialize', { clientInfo, capabilities }, z.unknown())
  terminal.notify('initialized')
  await terminal.request('thread/resume', { threadId }, z.unknown())
})
afterAll(async () => {
  terminal.close()
  await codex.close()
})
beforeEach(() => {
  codex.beginTest()
  seen.length = 0
})

const send = (text: string) => codex.asPerson('sendMessage', { id: session, text })
const typeInTerminal = (text: string) =>
  terminal.request('turn/start', { threadId, input: [{ type: 'text', text, text_elements: [] }] }, z.unknown())
async function shownInTerminal(): Promise<RpcMessage & { id: number }> {
  const isRequest = (message: RpcMessage) => message.method === 'item/commandExecution/requestApproval'
  await expect.poll(() => seen.some(isRequest)).toBe(true)
  return seen.find(isRequest) as RpcMessage & { id: number } // a request has an id
}

it('an answer to a request of Codex closes the question in the terminal', async () => {
  codex.model.script('answered here', shell('echo ran >> here.txt'))
  await send('answered here')
  const { id } = await shownInTerminal()
  await codex.answer(await codex.nextRequest(), { kind: 'allow' })
  await codex.turnEnd(1)

  expect(seen).toContainEqual(
    expect.objectContaining({ method: 'serverRequest/resolved', params: { threadId, requestId: id } }),
  )
  expect(codex.readFile('here.txt')).toBe('ran\n')
})

it('a turn of Codex that was started in the terminal is in the log with its message, and its calls open requests', async () => {
  codex.model.script('typed there', shell('echo ran >> typed.txt'), say('Typed and done.'))
  await typeInTerminal('typed there')
  await codex.answer(await codex.nextRequest(), { kind: 'allow' })
  await codex.turnEnd(1)

  expect(codex.agentTexts().slice(-2)).toEqual(['Typed in a terminal: typed there', 'Typed and done.'])
  expect(codex.readFile('typed.txt')).toBe('ran\n')
})

it('a message to Codex waits until the terminal’s turn is over, and the end of the terminal’s turn does not end the message’s turn', async () => {
  codex.model.script('first there', shell('echo ran >> first.txt'), say('First done.'))
  codex.model.script('then here', say('Then done.'))
  await typeInTerminal('first there')
  const request = await codex.nextRequest()
  await send('then here')
  await codex.answer(request, { kind: 'allow' })
  await codex.turnEnd(2)

  expect(codex.agentTexts().slice(-2)).toEqual(['First done.', 'Then done.'])
})

it('a mode that a person chooses in the terminal of Codex is shown in the session', async () => {
  await terminal.request('thread/settings/update', { threadId, approvalPolicy: 'never' }, z.unknown())
  await codex.waitForEvent('session.changed', ({ value }) => value.mode === 'custom')
  await codex.asPerson('patchSession', { id: session, mode: 'ask' })
  await codex.waitForEvent('command.done', ({ outcome }) => outcome.ok)
  expect((await codex.asPerson('getSession', { id: session })).mode).toBe('ask')
})

it('only the user of the runner can open the socket of Codex', () => {
  const { mode } = statSync(codex.socketOf(session))
  const folder = statSync(`${codex.home}/driver/${session}`).mode
  expect([(mode & 0o077).toString(8), (folder & 0o077).toString(8)]).toEqual(['0', '0'])
})
