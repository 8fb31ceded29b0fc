/** The real Claude Code in a person's own terminal, with the hooks of `holdpoint hook install`, and a scripted model. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Answer, limits, type Request, type SessionId } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../../../packages/cli/test/support/cli-process.ts'
import { closeTerminals, keys, Terminal } from '../../../packages/cli/test/support/terminal.ts'
import {
  bash,
  claudeEnvironment,
  say,
  startModelProxy,
  TestModel,
  toolUse,
} from '../../../packages/drivers/test/claude/model.ts'
import { cleanEnvironment, closeGateways, type GatewayProcess, startGateway } from '../../support/gateway.ts'
import { claudeExecutable } from '../recipes.ts'

const question = toolUse(
  'AskUserQuestion',
  {
    questions: [
      {
        question: 'Which database?',
        header: 'Database',
        multiSelect: false,
        options: [
          { label: 'PostgreSQL', description: 'a server' },
          { label: 'SQLite', description: 'a file' },
        ],
      },
    ],
  },
  'toolu_question',
)

describe('Claude Code in a person’s own terminal', () => {
  let gateway: GatewayProcess
  let model: TestModel
  let folder: string
  let cwd: string
  let settings: string
  let env: Record<string, string>
  let calls = 0

  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
    // Each prompt names the call that the model makes: its id must be new, because a request is known by the id of its call.
    model = await TestModel.open(({ prompt, results }) => {
      const [, what = '', id = ''] = /(\w+) as (\w+)/.exec(prompt) ?? []
      if (results.some(result => result.id === id) || id === '') return [say(`finished ${id}`)]
      if (what === 'large') return [bash(`ls ${'x'.repeat(limits.toolInputMaxBytes)}`, id)]
      if (what === 'harmless') return [bash('pwd', id)]
      if (what === 'long') return [bash('echo ran >> long.txt; until [ -e go ]; do sleep 0.1; done', id)]
      if (what === 'form') return [toolUse('mcp__shop__order', { how: 'form' }, id)]
      return [what === 'ask' ? { ...question, id } : bash(`echo ran >> ${what}.txt`, id)]
    })
  })
  afterAll(closeGateways)

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-terminal-')))
    cwd = join(folder, 'project')
    mkdirSync(cwd)
    env = definedOf({ ...claudeEnvironment(model, folder), HOLDPOINT_HOME: gateway.home.path })
    const config = String(env.CLAUDE_CONFIG_DIR)
    settings = join(config, 'settings.json')
    mkdirSync(config, { recursive: true })
    // Claude Code shows no welcome screen and does not ask about the folder or the key if these settings exist.
    writeFileSync(
      join(config, '.claude.json'),
      JSON.stringify({
        hasCompletedOnboarding: true,
        projects: { [cwd]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
        customApiKeyResponses: { approved: [env.ANTHROPIC_API_KEY], rejected: [] },
      }),
    )
  })
  afterEach(() => {
    closeTerminals()
    rmSync(folder, { recursive: true, force: true })
  })

  const hook = (...words: string[]) =>
    runCli(['hook', ...words], { cwd, env: { ...cleanEnvironment(), ...env }, input: '' })
  const openClaude = async (): Promise<Terminal> => {
    const terminal = new Terminal(['--permission-mode', 'default'], {
      program: claudeExecutable(),
      columns: 100,
      rows: 40,
      cwd,
      env,
    })
    await terminal.waitFor('manual mode on')
    return terminal
  }
  /** Types a prompt for which the model makes one call, and returns the id of the call. */
  const prompt = async (terminal: Terminal, what: string): Promise<string> => {
    const id = `call${++calls}`
    terminal.press(`${what} as ${id}`)
    await terminal.waitFor(`${what} as ${id}`)
    terminal.press(keys.enter)
    return id
  }
  const pending = async (): Promise<Request> => {
    const find = async () => (await gateway.call('listRequests', { status: 'pending' })).items[0]
    await expect.poll(find).toBeDefined()
    return (await find()) as Request // checked above
  }
  /** Returns the session whose title is the prompt for this call. */
  const sessionOf = async (id: string): Promise<SessionId> => {
    const find = async () => (await gateway.call('listSessions', {})).items.find(({ title }) => title?.endsWith(id))?.id
    await expect.poll(find).toBeDefined()
    return (await find()) as SessionId // checked above
  }
  const answer = ({ id, digest }: Request, given: Answer) =>
    gateway.call('answerRequest', { id, digest, answer: given })
  const hasRun = (what: string) => existsSync(join(cwd, `${what}.txt`))
  const deliveryOf = async ({ id }: Request) => (await gateway.call('getRequest', { id })).delivery.state

  it('Claude Code in a person’s own terminal runs a command that a person allows on the page, and the session shows folder, title and transcript', async () => {
    expect((await hook('install')).code).toBe(0)
    const terminal = await openClaude()
    const id = await prompt(terminal, 'allowed')
    const request = await pending()
    expect(request).toMatchObject({ ask: { tool: 'Bash', action: { shell: 'echo ran >> allowed.txt', cwd } } })
    // The terminal asks at the same time.
    await terminal.waitFor('Do you want to proceed?')
    expect(hasRun('allowed')).toBe(false)
    await answer(request, { kind: 'allow', note: 'only this once' })
    await terminal.waitFor(`finished ${id}`)
    expect(hasRun('allowed')).toBe(true)
    expect(model.hasRead('only this once')).toBe(true)
    await expect.poll(() => deliveryOf(request)).toBe('taken')
    const session = await gateway.call('getSession', { id: request.session })
    expect(session).toMatchObject({ cwd, title: `allowed as ${id}` })
    const { items } = await gateway.call('listEvents', { id: request.session, limit: 100 })
    expect(items.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['message.added', 'tool.started', 'request.opened', 'tool.finished']),
    )
    await expect.poll(async () => (await gateway.call('getSession', { id: request.session })).state).toBe('idle')
    terminal.press('/exit')
    await terminal.waitFor('/exit')
    terminal.press(keys.enter)
    await terminal.exit
    await expect.poll(async () => (await gateway.call('getSession', { id: request.session })).state).toBe('ended')
  })

  it('Claude Code in a person’s own terminal does not run a denied command, and the model reads the reason', async () => {
    await hook('install')
    const terminal = await openClaude()
    const id = await prompt(terminal, 'denied')
    const request = await pending()
    await answer(request, { kind: 'deny', reason: 'use the other folder' })
    await terminal.waitFor(`finished ${id}`)
    expect(hasRun('denied')).toBe(false)
    expect(model.toolResult(id)).toContain('use the other folder')
    await expect.poll(() => deliveryOf(request)).toBe('taken')
  })

  it('a request of Claude Code in a terminal is withdrawn if the person allows or denies the command in the terminal', async () => {
    await hook('install')
    const terminal = await openClaude()
    const id = await prompt(terminal, 'here')
    const allowed = await pending()
    await terminal.waitFor('Do you want to proceed?')
    terminal.press('1')
    await terminal.waitFor(`finished ${id}`)
    expect(hasRun('here')).toBe(true)
    const reasonOf = async ({ id: request }: Request) =>
      (await gateway.call('getRequest', { id: request })).resolution?.reason
    await expect.poll(() => reasonOf(allowed)).toBe('withdrawn')
    await prompt(terminal, 'never')
    const denied = await pending()
    await terminal.waitFor('Do you want to proceed?')
    terminal.press(keys.escape)
    await expect.poll(() => reasonOf(denied)).toBe('withdrawn')
    expect(hasRun('never')).toBe(false)
  })

  it('Claude Code in a person’s own terminal runs the command that a person has edited on the page', async () => {
    await hook('install')
    const terminal = await openClaude()
    const id = await prompt(terminal, 'written')
    const request = await pending()
    await answer(request, { kind: 'allow', input: { command: 'echo ran >> edited.txt', description: 'a command' } })
    await terminal.waitFor(`finished ${id}`)
    expect([hasRun('written'), hasRun('edited')]).toEqual([false, true])
    await expect.poll(() => deliveryOf(request)).toBe('taken')
  })

  it('if a command was allowed in the terminal of Claude Code and is running, a deny on the page is undeliverable, and the session says that the command ran', async () => {
    await hook('install')
    const terminal = await openClaude()
    const id = await prompt(terminal, 'long')
    const request = await pending()
    await terminal.waitFor('Do you want to proceed?')
    terminal.press('1')
    await expect.poll(() => hasRun('long')).toBe(true)
    await answer(request, { kind: 'deny', reason: 'no' })
    writeFileSync(join(cwd, 'go'), '')
    await terminal.waitFor(`finished ${id}`)
    await expect.poll(() => deliveryOf(request)).toBe('undeliverable')
    const { items } = await gateway.call('listEvents', { id: request.session, limit: 100 })
    expect(items).toContainEqual(expect.objectContaining({ type: 'error.raised', code: 'answered_elsewhere' }))
  })

  it('Claude Code in a person’s own terminal asks on the page about a command that it would run without asking, because a rule says ask', async () => {
    await hook('install')
    const rule = await gateway.call('addRule', { effect: 'ask', command: 'pwd' })
    const terminal = await openClaude()
    const id = await prompt(terminal, 'harmless')
    const request = await pending()
    await gateway.call('removeRule', { id: rule.id })
    expect(request.ask).toMatchObject({ input: { command: 'pwd' } })
    await answer(request, { kind: 'deny', reason: 'not here' })
    await terminal.waitFor(`finished ${id}`)
    expect(model.toolResult(id)).toContain('not here')
  })

  it('Claude Code in a person’s own terminal passes the answer to a question to the model', async () => {
    await hook('install')
    const terminal = await openClaude()
    const id = await prompt(terminal, 'ask')
    const request = await pending()
    expect(request.ask).toMatchObject({ kind: 'questions', questions: [{ question: 'Which database?' }] })
    await answer(request, { kind: 'answers', answers: [{ id: 'q1', chosen: ['SQLite'] }] })
    await terminal.waitFor(`finished ${id}`)
    expect(model.toolResult(id)).toContain('"Which database?"="SQLite"')
  })

  it('Claude Code in a person’s own terminal opens no request for a question that a hook of the person blocks', async () => {
    const blocked = {
      matcher: 'AskUserQuestion',
      hooks: [{ type: 'command', command: 'echo no questions >&2; exit 2' }],
    }
    writeFileSync(settings, JSON.stringify({ hooks: { PreToolUse: [blocked] } }))
    await hook('install')
    const terminal = await openClaude()
    const id = await prompt(terminal, 'ask')
    await terminal.waitFor(`finished ${id}`)
    expect(model.toolResult(id)).toContain('no questions')
    expect((await gateway.call('listRequests', { status: 'pending' })).items).toEqual([])
  })

  it('Claude Code in a person’s own terminal applies a deny rule without asking', async () => {
    await hook('install')
    const rule = await gateway.call('addRule', { effect: 'deny', command: 'echo ran', note: 'not today' })
    const terminal = await openClaude()
    const id = await prompt(terminal, 'ruled')
    await terminal.waitFor(`finished ${id}`)
    await gateway.call('removeRule', { id: rule.id })
    expect(hasRun('ruled')).toBe(false)
    expect(model.toolResult(id)).toMatch(/rule/i)
  })

  it('Claude Code asks in the terminal for a call that is too large for the rules, although Claude Code would otherwise run the call', async () => {
    await hook('install')
    const terminal = await openClaude()
    await prompt(terminal, 'large')
    await terminal.waitFor('Holdpoint could not check its rules')
  })

  it('the session of Claude Code in a person’s own terminal is idle and has the error after the model’s API has refused a request', async () => {
    const refusal = { status: 400, type: 'invalid_request_error', message: 'the request is refused' }
    const proxy = await startModelProxy(
      () => model.server.url,
      request => (JSON.stringify(request.messages).includes('refused as') ? refusal : null),
    )
    env.ANTHROPIC_BASE_URL = proxy.url
    await hook('install')
    const terminal = await openClaude()
    const id = await prompt(terminal, 'refused')
    const session = await sessionOf(id)
    const ending = async () =>
      (await gateway.call('listEvents', { id: session, limit: 100 })).items.find(({ type }) => type === 'turn.finished')
    await expect.poll(ending).toMatchObject({ ending: 'failed' })
    expect((await gateway.call('getSession', { id: session })).state).toBe('idle')
    const { items } = await gateway.call('listEvents', { id: session, limit: 100 })
    const message = expect.stringContaining('the request is refused')
    expect(items).toContainEqual(expect.objectContaining({ type: 'error.raised', message }))
    proxy.close()
  })

  it('the session of Claude Code in a person’s own terminal says that the form of an MCP server waits in the terminal', async () => {
    const server = fileURLToPath(new URL('../../../packages/drivers/test/claude/form-server.mjs', import.meta.url))
    const file = join(String(env.CLAUDE_CONFIG_DIR), '.claude.json')
    const mcpServers = { shop: { type: 'stdio', command: process.execPath, args: [server] } }
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), mcpServers }))
    writeFileSync(settings, JSON.stringify({ permissions: { allow: ['mcp__shop'] } }))
    await hook('install')
    const terminal = await openClaude()
    const session = await sessionOf(await prompt(terminal, 'form'))
    await terminal.waitFor('requests your input')
    const { items } = await gateway.call('listEvents', { id: session, limit: 100 })
    const text = 'Claude Code asks in its terminal, and you can answer only there: The MCP server shop: How many?'
    expect(items).toContainEqual(expect.objectContaining({ type: 'message.added', text }))
  })

  it('a hook of Claude Code keeps waiting while the gateway is killed and restarted', async () => {
    await hook('install')
    const terminal = await openClaude()
    const id = await prompt(terminal, 'killed')
    const request = await pending()
    await gateway.kill()
    await gateway.start()
    expect(hasRun('killed')).toBe(false)
    await answer(request, { kind: 'allow' })
    await terminal.waitFor(`finished ${id}`)
    expect(hasRun('killed')).toBe(true)
  })

  it('Claude Code in a person’s own terminal asks in the terminal as usual while the gateway is stopped', async () => {
    await hook('install')
    const terminal = await openClaude()
    await gateway.kill()
    const id = await prompt(terminal, 'alone')
    await terminal.waitFor('Do you want to proceed?')
    expect(hasRun('alone')).toBe(false)
    terminal.press('1')
    await terminal.waitFor(`finished ${id}`)
    expect(hasRun('alone')).toBe(true)
    await gateway.start()
  })

  it('Claude Code in a person’s own terminal asks in the terminal as usual while the gateway does not reply', async () => {
    await hook('install')
    const terminal = await openClaude()
    const { pid } = JSON.parse(readFileSync(join(gateway.home.path, 'gateway.json'), 'utf8'))
    process.kill(pid, 'SIGSTOP')
    try {
      const id = await prompt(terminal, 'slow')
      await terminal.waitFor('Do you want to proceed?')
      expect(hasRun('slow')).toBe(false)
      terminal.press('1')
      await terminal.waitFor(`finished ${id}`)
      expect(hasRun('slow')).toBe(true)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    // A request that reached the gateway too late is withdrawn, because nobody waits for its answer.
    await prompt(terminal, 'next')
    const request = await pending()
    expect(request.ask).toMatchObject({ input: { command: 'echo ran >> next.txt' } })
    expect((await gateway.call('listRequests', { status: 'pending' })).items).toHaveLength(1)
  })

  it('the session of Claude Code ends if its terminal is killed', async () => {
    await hook('install')
    const terminal = await openClaude()
    await prompt(terminal, 'lost')
    const { id, session } = await pending()
    process.kill(terminal.pid, 'SIGKILL')
    await expect.poll(async () => (await gateway.call('getSession', { id: session })).state).toBe('ended')
    expect((await gateway.call('getRequest', { id })).resolution).toMatchObject({
      by: 'agent',
      reason: 'session_ended',
    })
  })

  it('the settings of Claude Code are byte for byte as they were after the hooks are removed', async () => {
    const own =
      '{\n    "model": "opus",\n    "hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "true"}]} ]}\n}'
    writeFileSync(settings, own)
    await hook('install')
    expect(readFileSync(settings, 'utf8')).toContain('hook run claude')
    expect(readFileSync(settings, 'utf8')).not.toContain(gateway.home.ownerToken())
    expect((await hook('status')).code).toBe(0)
    await hook('remove')
    expect(readFileSync(settings, 'utf8')).toBe(own)
    expect((await hook('status')).code).toBe(1)
  })
})

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) as Record<string, string> // undefined values are left out
}
