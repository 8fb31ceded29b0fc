/** Tests sessions of the real Codex: text, approvals, questions, forms, interrupts and modes. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Request, SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ask, callTool, refuse, say, shell, writeFile } from '../../../../test/agents/model/script.ts'
import { CodexFixture } from './codex-fixture.ts'

const formServer = fileURLToPath(new URL('../claude/form-server.mjs', import.meta.url))
const shop = `\n[mcp_servers.shop]\ncommand = "${process.execPath}"\nargs = [${JSON.stringify(formServer)}]\n`
const order = (how: string) => callTool('order', { how }, { namespace: 'mcp__shop' })

let codex: CodexFixture
let session: SessionId

beforeAll(async () => {
  codex = await CodexFixture.create({ config: shop })
  codex.startRunner()
  codex.model.script('hello', say('Hello.'))
  session = await codex.start('hello')
  await codex.waitForTurnEnd()
})
afterAll(() => codex.close())
beforeEach(() => codex.beginTest())

const send = (text: string) => codex.asPerson('sendMessage', { id: session, text })
const lastText = () => codex.agentTexts().at(-1)

it('Codex streams text, runs an allowed command, and continues after a denied command, and its model reads the reason for the denial', async () => {
  codex.model.script(
    'two commands',
    [say('I start now.'), shell('echo ran >> allowed.txt', 'call_allowed')],
    shell('echo ran >> denied.txt', 'call_denied'),
    say('All done.'),
  )
  await send('two commands')
  const first = await codex.nextRequest(1)
  expect(first.ask).toMatchObject({
    tool: 'exec_command',
    title: 'Run: echo ran >> allowed.txt',
    input: { command: `/bin/bash -lc 'echo ran >> allowed.txt'` },
    action: { shell: 'echo ran >> allowed.txt', cwd: codex.cwd },
    cwd: codex.cwd,
    editable: false,
  })
  await codex.answer(first, { kind: 'allow' })
  const second = await codex.nextRequest(2)
  await codex.answer(second, { kind: 'deny', reason: 'use printf instead' })

  expect(await codex.turnEnd()).toMatchObject({ ending: 'done', usage: { inputTokens: 300, outputTokens: 60 } })
  expect(codex.readFile('allowed.txt')).toBe('ran\n')
  expect(codex.readFile('denied.txt')).toBeNull()
  expect(codex.model.hasRead('“Run: echo ran >> denied.txt” was denied: use printf instead')).toBe(true)
  expect(codex.agentTexts().slice(-2)).toEqual(['I start now.', 'All done.'])
  expect([await codex.deliveryOf(first), await codex.deliveryOf(second)]).toEqual(['taken', 'taken'])
  expect(codex.eventsOf('tool.finished').map(({ ok }) => ok)).toEqual([true, false])
})

it('a file change of Codex opens a request with its diff, and is made only if a person allows it', async () => {
  codex.writeFile('old.txt', 'one\ntwo\n')
  const patch = `*** Begin Patch\n*** Update File: old.txt\n@@\n one\n-two\n+three\n*** End Patch`
  codex.model.script(
    'change files',
    writeFile('new.txt', 'written\n'),
    shell(`apply_patch <<'EOF'\n${patch}\nEOF`),
    writeFile('refused.txt', 'written\n'),
  )
  await send('change files')
  const added = await codex.nextRequest(1)
  expect(added.ask).toMatchObject({
    tool: 'apply_patch',
    input: { file_path: `${codex.cwd}/new.txt`, content: 'written\n' },
    action: { write: [`${codex.cwd}/new.txt`] },
    editable: false,
  })
  await codex.answer(added, { kind: 'allow' })
  const changed = await codex.nextRequest(2)
  expect(changed.ask).toMatchObject({
    input: { file_path: `${codex.cwd}/old.txt`, old_string: 'one\ntwo\n', new_string: 'one\nthree\n' },
  })
  await codex.answer(changed, { kind: 'allow' })
  await codex.answer(await codex.nextRequest(3), { kind: 'deny', reason: 'not this file' })
  await codex.turnEnd()

  expect(codex.readFile('new.txt')).toBe('written\n')
  expect(codex.readFile('old.txt')).toBe('one\nthree\n')
  expect(codex.readFile('refused.txt')).toBeNull()
  expect(codex.model.hasRead('not this file')).toBe(true)
})

it('questions of Codex are answered with options and free text, or declined with a reason', async () => {
  const database = { header: 'Db', question: 'Which database?', options: ['Postgres', 'Redis'] }
  const ci = { header: 'Ci', question: 'Which CI?', options: ['A', 'B'] }
  codex.model.script('some questions', ask([database, ci], 'call_asked'), ask([database], 'call_declined'))
  await send('some questions')
  const first = await codex.nextRequest(1)
  expect(first.ask).toMatchObject({
    kind: 'questions',
    questions: [
      { id: 'db', header: 'Db', question: 'Which database?', allowOther: true, secret: false, multiSelect: false },
      { id: 'ci' },
    ],
  })
  const answers = [
    { id: 'db', chosen: ['Redis'] },
    { id: 'ci', chosen: [], other: 'our own' },
  ]
  await codex.answer(first, { kind: 'answers', answers })
  await codex.answer(await codex.nextRequest(2), { kind: 'decline', reason: 'ask me tomorrow' })
  await codex.turnEnd()

  const read = JSON.parse(codex.model.toolResult('call_asked') ?? '')
  expect(read).toEqual({ answers: { db: { answers: ['Redis'] }, ci: { answers: ['user_note: our own'] } } })
  expect(codex.model.toolResult('call_declined')).toBe('{"answers":{}}')
  expect(codex.model.hasRead('ask me tomorrow')).toBe(true)
})

it('a tool of an MCP server of Codex opens an approval, and a form of the server opens a form', async () => {
  codex.model.script('buy it', order('form'), order('link'), say('ordered'))
  await send('buy it')
  const tool = await codex.nextRequest(1)
  expect(tool.ask).toMatchObject({
    kind: 'approval',
    tool: 'mcp__shop__order',
    input: { how: 'form' },
    action: { mcp: 'shop', tool: 'order' },
    suggestions: [
      { id: 'session', scope: 'session' },
      { id: 'always', scope: 'userSettings' },
    ],
  })
  await codex.answer(tool, { kind: 'allow', suggestion: 'session' })
  const form = await codex.nextRequest(2)
  expect(form.ask).toMatchObject({
    kind: 'form',
    message: 'How many?',
    schema: { properties: { count: { type: 'integer' } } },
  })
  await codex.answer(form, { kind: 'submit', values: { count: 3 } })
  // The tool itself is not asked again in this session.
  const link = await codex.nextRequest(3)
  expect(link.ask).toMatchObject({ kind: 'form', url: 'https://example.org/sign-in' })
  await codex.answer(link, { kind: 'decline' })
  await codex.turnEnd()

  expect(codex.model.hasRead('told: {"action":"accept","content":{"count":3}}')).toBe(true)
  expect(codex.model.hasRead('told: {"action":"decline"}')).toBe(true)
  expect(lastText()).toBe('ordered')
})

it('several calls of Codex wait at once and are answered in any order', async () => {
  codex.model.script('several', [
    shell('echo 1 >> several.txt'),
    shell('echo 2 >> several.txt'),
    shell('echo 3 >> no.txt'),
  ])
  await send('several')
  const all = [await codex.nextRequest(1), await codex.nextRequest(2), await codex.nextRequest(3)]
  const find = (text: string) => all.find(({ ask }) => JSON.stringify(ask).includes(text)) as Request
  await codex.answer(find('echo 3'), { kind: 'deny' })
  await codex.answer(find('echo 2'), { kind: 'allow' })
  await codex.waitForEvent('request.taken', event => event.request === find('echo 2').id)
  await codex.answer(find('echo 1'), { kind: 'allow' })
  await codex.turnEnd()

  expect(codex.readFile('several.txt')?.split('\n').sort()).toEqual(['', '1', '2'])
  expect(codex.readFile('no.txt')).toBeNull()
})

it('Codex does not ask again about a command that it remembers for the session', async () => {
  codex.model.script('remember', shell('echo ran >> remembered.txt'), shell('echo ran >> remembered.txt'))
  await send('remember')
  const request = await codex.nextRequest()
  expect(request.ask).toMatchObject({
    suggestions: [
      { id: 'session', scope: 'session' },
      {
        id: 'prefix',
        scope: 'userSettings',
        label: `Don’t ask again, in any session, for commands that start with: /bin/bash -lc 'echo ran >> remembered.txt'`,
      },
    ],
  })
  await codex.answer(request, { kind: 'allow', suggestion: 'session' })
  await codex.turnEnd()

  expect(codex.readFile('remembered.txt')).toBe('ran\nran\n')
  expect(codex.requestCount).toBe(1)
})

it('in mode auto, Codex runs commands in its sandbox without asking, and asks before it leaves the sandbox', async () => {
  // The sandbox lets commands write to /tmp, in which the working folder is.
  const folder = mkdtempSync('/var/tmp/holdpoint-codex-')
  const outside = join(folder, 'outside.txt')
  const escalated = { cmd: `echo ran >> ${outside}`, sandbox_permissions: 'require_escalated', justification: 'I must' }
  codex.model.script(
    'auto',
    callTool('exec_command', { cmd: 'echo ran >> auto.txt' }),
    callTool('exec_command', { cmd: `echo ran >> ${outside}` }),
    callTool('exec_command', escalated),
  )
  await codex.asPerson('patchSession', { id: session, mode: 'auto' })
  await send('auto')
  const request = await codex.nextRequest()
  expect(request.ask).toMatchObject({ description: 'I must', action: { shell: escalated.cmd } })
  await codex.answer(request, { kind: 'allow' })
  await codex.turnEnd()

  expect(codex.readFile('auto.txt')).toBe('ran\n')
  expect(readFileSync(outside, 'utf8')).toBe('ran\n')
  expect(codex.requestCount).toBe(1)
  await codex.asPerson('patchSession', { id: session, mode: 'ask' })
  rmSync(folder, { recursive: true })
})

it('a change of the model of Codex applies from the next message on', async () => {
  await codex.asPerson('patchSession', { id: session, model: 'other-model' })
  codex.model.script('other model', say('I am another.'))
  await send('other model')
  await codex.turnEnd()
  expect((await codex.model.waitForCall(({ marker }) => marker === 'other model')).model).toBe('other-model')
  expect((await codex.asPerson('getSession', { id: session })).model).toBe('other-model')
})

it('a Codex session that was not started with full access cannot change to full access', async () => {
  await codex.asPerson('patchSession', { id: session, mode: 'full-access' })
  const done = await codex.waitForEvent('command.done', ({ outcome }) => !outcome.ok)
  expect(done.outcome.reason).toContain('full-access is only available in a session that was started in that mode')
  expect((await codex.asPerson('getSession', { id: session })).mode).toBe('ask')
})

it('a turn of Codex fails with an explanation if the model API refuses the request', async () => {
  codex.model.script('refuse me', refuse(400, 'no such thing'))
  await send('refuse me')
  expect(await codex.turnEnd()).toMatchObject({ ending: 'failed' })
  expect(codex.eventsOf('error.raised').at(-1)?.message).toContain('no such thing')
})

it('pictures and text files reach the model of Codex; other files are refused with an explanation', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const text = Buffer.from('first line\n').toString('base64')
  await codex.sendFiles(session, 'look at this', [
    { type: 'image', mediaType: 'image/png', data: png },
    { type: 'document', mediaType: 'text/plain', name: 'notes.txt', data: text },
  ])
  codex.model.script('look at this', say('seen'))
  await codex.turnEnd()
  expect(codex.model.hasRead(png)).toBe(true)
  expect(codex.model.hasRead('The attached file notes.txt:\n\nfirst line')).toBe(true)

  await codex.sendFiles(session, 'and this', [
    { type: 'document', mediaType: 'application/pdf', name: 'a.pdf', data: png },
  ])
  expect(await codex.turnEnd(2)).toMatchObject({ ending: 'failed' })
  expect(codex.eventsOf('error.raised').at(-1)?.message).toContain('not the attachment a.pdf')
})
