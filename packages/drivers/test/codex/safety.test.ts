/** Tests what the real Codex must not do: trust a folder by itself, see Holdpoint’s variables, or answer its own requests. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { callTool, say, shell } from '../../../../test/agents/model/script.ts'
import { CodexFixture } from './codex-fixture.ts'

/** The scripted shell tool asks to leave the sandbox. */
const inSandbox = (cmd: string, id: string) => callTool('exec_command', { cmd }, { id })

let codex: CodexFixture
afterEach(() => codex.close())

it.each([
  ['its folder', ''],
  ['a folder above', 'packages/app'],
])('a session does not make Codex trust %s, so hooks and servers in that folder do not run', async (_where, below) => {
  codex = await CodexFixture.create()
  const project = join(codex.home, 'project')
  const folder = join(project, below)
  const ran = join(codex.home, 'ran')
  for (const path of [join(project, '.codex'), folder, ran]) mkdirSync(path, { recursive: true })
  execFileSync('git', ['init', '--quiet'], { cwd: project })
  const server = `[mcp_servers.own]\ncommand = "/bin/sh"\nargs = ["-c", "touch ${ran}/server; sleep 1"]\n`
  writeFileSync(
    join(project, '.codex', 'config.toml'),
    `model = "chosen-by-folder"\n${server}[features]\nhooks = true\n`,
  )
  const hook = (event: string) => [event, [{ hooks: [{ type: 'command', command: `touch ${ran}/${event}` }] }]]
  const hooks = Object.fromEntries(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'Stop'].map(hook))
  writeFileSync(join(project, '.codex', 'hooks.json'), JSON.stringify({ hooks }))
  const before = readFileSync(codex.configFile, 'utf8')
  codex.model.script('write', shell('echo ran >> out.txt'))
  codex.startRunner()
  await codex.start('write', { cwd: folder })
  await codex.answer(await codex.nthRequest(), { kind: 'allow' })
  await codex.waitForTurnEnd()

  expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('ran\n')
  expect(readdirSync(ran)).toEqual([])
  expect(codex.model.calls.map(({ model }) => model)).not.toContain('chosen-by-folder')
  expect(readFileSync(codex.configFile, 'utf8')).toBe(before)
})

it('commands in the sandbox of Codex see none of Holdpoint’s variables and files, and cannot reach the socket of the server', async () => {
  codex = await CodexFixture.create()
  codex.startRunner()
  const script = `require('net').connect(process.argv[1]).on('connect', () => console.log('connected')).on('error', error => console.log(error.code))`
  codex.model.script(
    'look around',
    inSandbox('env | grep -c HOLDPOINT_', 'call_env'),
    inSandbox(`cat ${codex.home}/driver/*/progress.json; ls -A ${codex.home}/driver`, 'call_read'),
    () =>
      inSandbox(
        `node -e "${script}" ${codex.socketOf(codex.eventsOf('session.opened')[0]?.value.id ?? 'ses_')}`,
        'call_socket',
      ),
  )
  expect(Object.keys(codex.env)).toContain('HOLDPOINT_CODEX')
  await codex.start('look around', { mode: 'auto' })
  await codex.waitForTurnEnd()

  expect(codex.model.toolResult('call_env')).toMatch(/Output:\n0\n/)
  expect(codex.model.toolResult('call_read')).not.toMatch(/loggedUntilMs|ses_/)
  expect(codex.model.toolResult('call_socket')).not.toContain('connected')
})

it('the process of an idle Codex session ends, and the next message continues the conversation', async () => {
  codex = await CodexFixture.create({ idleParkMs: 300 })
  codex.model.script('first', say('One.'))
  codex.model.script('second', say('Two.'))
  codex.startRunner()
  const session = await codex.start('first')
  await codex.waitForEvent('session.changed', ({ value }) => value.state === 'parked')
  expect(existsSync(join(codex.home, 'driver', session, 'process.json'))).toBe(false)
  const { conversationId } = await codex.asPerson('getSession', { id: session })
  await codex.asPerson('sendMessage', { id: session, text: 'second' })
  await codex.waitForTurnEnd(2)

  const { messages } = await codex.model.waitForCall(({ marker }) => marker === 'second')
  expect(messages.map(({ text }) => text)).toEqual(expect.arrayContaining(['first', 'One.', 'second']))
  expect((await codex.asPerson('getSession', { id: session })).conversationId).toBe(conversationId)
})

it('another session can continue a conversation of Codex, and a turn in an unknown conversation fails with an explanation', async () => {
  codex = await CodexFixture.create()
  codex.model.script('first', say('One.'))
  codex.model.script('second', say('Two.'))
  codex.startRunner()
  const session = await codex.start('first', { model: 'another-model' })
  await codex.waitForTurnEnd()
  const { conversationId } = await codex.asPerson('getSession', { id: session })
  await codex.asPerson('endSession', { id: session })
  await codex.start('second', { conversationId: conversationId ?? '' })
  await codex.waitForTurnEnd(2)
  const { messages } = await codex.model.waitForCall(({ marker }) => marker === 'second')
  expect(messages.map(({ text }) => text)).toEqual(expect.arrayContaining(['first', 'One.', 'second']))
  expect((await codex.model.waitForCall(({ marker }) => marker === 'first')).model).toBe('another-model')

  const unknown = '01a1eac3-681f-7b52-bcf3-0a0653088cfa'
  await codex.start('first', { conversationId: unknown })
  expect(await codex.waitForTurnEnd(3)).toMatchObject({ ending: 'failed' })
  expect(codex.eventsOf('error.raised').at(-1)?.message).toContain(`cannot continue the conversation ${unknown}`)
})

it('a command that outlives its turn keeps the process of Codex running, and the end of the command is in the log', async () => {
  codex = await CodexFixture.create({ idleParkMs: 300 })
  const command = 'while [ ! -e stop ]; do sleep 0.1; done; echo stopped'
  codex.model.script('background', callTool('exec_command', { cmd: command, yield_time_ms: 250 }))
  codex.startRunner()
  const session = await codex.start('background')
  await codex.answer(await codex.nthRequest(), { kind: 'allow' })
  await codex.waitForTurnEnd()
  expect(codex.eventsOf('tool.finished')).toEqual([])
  // This is longer than the session may be idle.
  await new Promise(resolve => setTimeout(resolve, 600))
  expect((await codex.asPerson('getSession', { id: session })).state).toBe('idle')

  codex.writeFile('stop', '')
  expect(await codex.waitForEvent('tool.finished')).toMatchObject({ ok: true, output: 'stopped\n' })
  await codex.waitForEvent('session.changed', ({ value }) => value.state === 'parked')
})

it('a subagent of Codex asks under its own name, even after the turn of the main agent', async () => {
  codex = await CodexFixture.create()
  codex.enableFeature('multi_agent')
  const spawn = callTool('spawn_agent', { message: 'do the subtask' }, { namespace: 'multi_agent_v1' })
  codex.model.script('delegate', spawn, say('Delegated.'))
  codex.model.script('do the subtask', shell('echo ran >> sub.txt'), say('Subtask done.'))
  codex.startRunner()
  await codex.start('delegate')
  const request = await codex.nthRequest()
  expect(request.agentPath).toHaveLength(1)
  await codex.answer(request, { kind: 'allow' })
  await codex.waitForEvent('message.added', ({ text }) => text === 'Subtask done.')

  expect(codex.readFile('sub.txt')).toBe('ran\n')
  const [text] = codex.eventsOf('message.added').filter(event => event.text === 'Subtask done.')
  expect(text?.agentPath).toEqual(request.agentPath)
})

it('permissions that Codex asks for are denied with a reason that its model reads, or granted for the turn', async () => {
  codex = await CodexFixture.create()
  codex.enableFeature('request_permissions_tool')
  const more = { permissions: { network: { enabled: true } }, reason: 'I need the network' }
  codex.model.script(
    'wider access',
    callTool('request_permissions', more, { id: 'call_denied' }),
    callTool('request_permissions', more, { id: 'call_granted' }),
  )
  codex.startRunner()
  await codex.start('wider access')
  const denied = await codex.nthRequest(1)
  expect(denied.ask).toMatchObject({
    tool: 'request_permissions',
    input: { network: { enabled: true } },
    action: { other: 'request_permissions' },
    description: 'I need the network',
  })
  await codex.answer(denied, { kind: 'deny', reason: 'stay offline' })
  await codex.answer(await codex.nthRequest(2), { kind: 'allow' })
  expect(await codex.waitForTurnEnd()).toMatchObject({ ending: 'done' })

  expect(codex.model.toolResult('call_denied')).not.toContain('"enabled":true')
  expect(codex.model.toolResult('call_granted')).toContain('"enabled":true')
  expect(codex.model.hasRead('stay offline')).toBe(true)
})
