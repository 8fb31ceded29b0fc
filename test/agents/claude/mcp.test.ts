/** The real Claude Code as client of `holdpoint mcp` and `holdpoint mcp wrap`, with a scripted model. */
import { type ChildProcess, execFile } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openDataFolder } from '../../../packages/cli/src/config/data-folder.ts'
import { serveMcpClients } from '../../../packages/cli/src/mcp/http/http-server.ts'
import { runCli } from '../../../packages/cli/test/support/cli-process.ts'
import { answerPending, onlyPending } from '../../../packages/cli/test/support/mcp-client.ts'
import { bash, claudeEnvironment, say, TestModel, toolUse } from '../../../packages/drivers/test/claude/model.ts'
import { ManualClock, RunnerFixture } from '../../../packages/drivers/test/runner-fixture.ts'
import { closeGateways, type GatewayProcess, holdpoint, startGateway } from '../../support/gateway.ts'
import { expectNoProcessLeft, processesOf } from '../process-check.ts'
import { claudeExecutable } from '../recipes.ts'

const run = promisify(execFile)
const filesystemServer = resolve(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
)

const databases = [{ label: 'PostgreSQL', description: 'a server' }, { label: 'SQLite' }]
const edits = [{ oldText: 'one', newText: 'two' }]
const hourMs = 3600 * 1000

describe('Claude Code as an MCP client of Holdpoint', () => {
  let gateway: GatewayProcess
  let model: TestModel
  let folder: string
  let cwd: string
  let calls = 0
  const pipe = () => join(cwd, 'pipe')

  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
    // Each prompt names the call that the model makes.
    model = await TestModel.open(({ prompt, results }) => {
      const [, what = '', id = ''] = /(\w+) as (\w+)/.exec(prompt) ?? []
      if (id === '' || results.some(result => result.id === id)) return [say(`finished ${id}`)]
      if (what === 'command') return [bash('echo ran >> ran.txt', id)]
      if (what === 'question')
        return [toolUse('mcp__holdpoint__ask_person', { question: 'Which one?', options: databases }, id)]
      if (what === 'edit') return [toolUse('mcp__files__edit_file', { path: pipe(), edits }, id)]
      return [toolUse('mcp__files__write_file', { path: join(cwd, 'a.txt'), content: 'one' }, id)]
    })
  })
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-mcp-claude-')))
    cwd = join(folder, 'project')
    mkdirSync(cwd)
    const wrap = ['mcp', 'wrap', '--name', 'files', '--', process.execPath, filesystemServer, cwd]
    const server = (args: readonly string[]) => ({
      command: process.execPath,
      args: [holdpoint, ...args],
      env: { HOLDPOINT_HOME: gateway.home.path },
    })
    const mcpServers = { holdpoint: server(['mcp']), files: server(wrap) }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }))
  })
  afterEach(async () => {
    await expectNoProcessLeft(folder)
    rmSync(folder, { recursive: true, force: true })
  })
  afterAll(closeGateways)

  /** Runs `claude -p` with a prompt for which the model makes one call. Returns the id of the call and the end of the run. */
  const claude = (what: string, ...options: string[]) => {
    const id = `call${++calls}`
    const words = ['-p', `${what} as ${id}`, '--mcp-config', join(folder, 'mcp.json'), ...options]
    const env = { ...claudeEnvironment(model, folder) } as NodeJS.ProcessEnv
    const ending = run(claudeExecutable(), words, { cwd, env })
    // Claude Code waits for input for some seconds if stdin stays open.
    ending.child.stdin?.end()
    return { id, ending, child: ending.child }
  }
  const kill = async (child: ChildProcess, ending: Promise<unknown>) => {
    child.kill('SIGKILL')
    await ending.catch(() => {})
  }
  const pendingCount = async () => (await gateway.call('listRequests', { status: 'pending' })).items.length
  const question = ['--allowedTools', 'mcp__holdpoint__ask_person']
  const promptTool = ['--permission-prompt-tool', 'mcp__holdpoint__request_approval']

  it('Claude Code runs a command that a person allows through the permission prompt tool', async () => {
    const { id, ending } = claude('command', ...promptTool)
    const request = await onlyPending(gateway)
    expect(request.ask).toMatchObject({ tool: 'Bash', action: { shell: 'echo ran >> ran.txt', cwd } })
    expect(existsSync(join(cwd, 'ran.txt'))).toBe(false)
    await answerPending(gateway, {
      kind: 'allow',
      input: { command: 'echo edited >> ran.txt', description: 'a command' },
    })
    expect((await ending).stdout).toContain(`finished ${id}`)
    expect(readFileSync(join(cwd, 'ran.txt'), 'utf8')).toBe('edited\n')
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
  })

  it('Claude Code does not run a command that a person denies through the permission prompt tool, and the model reads the reason', async () => {
    const { id, ending } = claude('command', ...promptTool)
    await answerPending(gateway, { kind: 'deny', reason: 'use the other folder' })
    await ending
    expect(existsSync(join(cwd, 'ran.txt'))).toBe(false)
    expect(model.toolResult(id)).toContain('use the other folder')
  })

  it('Claude Code gets the answer to a question of its model', async () => {
    const { id, ending } = claude('question', ...question)
    const answers = [{ id: 'answer', chosen: ['SQLite'] }]
    expect((await answerPending(gateway, { kind: 'answers', answers })).ask).toMatchObject({
      questions: [{ question: 'Which one?', options: databases }],
    })
    await ending
    expect(model.toolResult(id)).toBe('SQLite')
  })

  it('Claude Code gets an answer that came after the gateway was killed and restarted', async () => {
    const { id, ending } = claude('question', ...question)
    await onlyPending(gateway)
    await gateway.kill()
    await gateway.start()
    await answerPending(gateway, { kind: 'answers', answers: [{ id: 'answer', chosen: ['SQLite'] }] })
    await ending
    expect(model.toolResult(id)).toBe('SQLite')
  })

  it('Claude Code gets the same request if it was killed while it waited and asks again', async () => {
    const lost = claude('question', ...question)
    const request = await onlyPending(gateway)
    await kill(lost.child, lost.ending)
    const back = claude('question', ...question)
    const answers = [{ id: 'answer', chosen: ['PostgreSQL'] }]
    expect((await answerPending(gateway, { kind: 'answers', answers })).id).toBe(request.id)
    await back.ending
    expect(model.toolResult(back.id)).toBe('PostgreSQL')
  })

  it('Claude Code waits for an hour over HTTP, and the request names the working folder of Claude Code', async () => {
    const clock = new ManualClock()
    const fixture = await RunnerFixture.open({ clock })
    const dataFolder = openDataFolder(join(folder, 'home'))
    const connect = async () => fixture.asPerson
    const serving = await serveMcpClients(0, { dataFolder, connect, cwd: folder, clock })
    const headers = { Authorization: `Bearer ${dataFolder.mcpToken()}` }
    const mcpServers = { holdpoint: { type: 'http', url: serving.url, headers } }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }))
    const { id, ending } = claude('command', ...promptTool)
    const pending = async () => (await fixture.asPerson('listRequests', { status: 'pending' })).items
    await expect.poll(async () => (await pending()).length).toBe(1)
    await clock.advance(hourMs)
    const [request] = await pending()
    if (!request) throw new Error('the request was resolved without an answer')
    expect(request.ask).toMatchObject({ tool: 'Bash', cwd })
    await fixture.answer(request, { kind: 'allow' })
    expect((await ending).stdout).toContain(`finished ${id}`)
    expect(readFileSync(join(cwd, 'ran.txt'), 'utf8')).toBe('ran\n')
    await serving.close()
    await fixture.close()
  })

  it('Claude Code calls a wrapped server with the arguments that a person has edited, and reads the reason for a denial', async () => {
    const allowed = claude('file', '--allowedTools', 'mcp__files__write_file')
    const request = await onlyPending(gateway)
    expect(request.ask).toMatchObject({ action: { mcp: 'files', tool: 'write_file' }, cwd })
    await answerPending(gateway, { kind: 'allow', input: { path: join(cwd, 'b.txt'), content: 'two' } })
    await allowed.ending
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('two')
    expect(model.toolResult(allowed.id)).toContain('Successfully wrote')
    const denied = claude('file', '--allowedTools', 'mcp__files__write_file')
    await answerPending(gateway, { kind: 'deny', reason: 'not here' })
    await denied.ending
    expect(model.toolResult(denied.id)).toContain('not here')
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
  })

  it('Claude Code gets the request of its first call of a wrapped server if it was killed and calls again', async () => {
    const lost = claude('file', '--allowedTools', 'mcp__files__write_file')
    const request = await onlyPending(gateway)
    await kill(lost.child, lost.ending)
    const back = claude('file', '--allowedTools', 'mcp__files__write_file')
    expect((await answerPending(gateway, { kind: 'allow' })).id).toBe(request.id)
    await back.ending
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one')
    expect(model.toolResult(back.id)).toContain('Successfully wrote')
  })

  describe('while an allowed call of a wrapped server runs', () => {
    /** The server reads this pipe, and then replaces it with a file. Until somebody writes to the pipe, the call runs. */
    beforeEach(() => run('mkfifo', [pipe()]))
    /** Opens the pipe for writing. This is possible only while a call reads it. */
    const openPipe = () => {
      try {
        return openSync(pipe(), constants.O_WRONLY | constants.O_NONBLOCK)
      } catch {
        return null
      }
    }
    const callRuns = async () => {
      let opened: number | null = null
      await expect.poll(() => (opened = openPipe())).not.toBeNull()
      return opened ?? 0
    }
    const finish = (opened: number) => {
      writeSync(opened, 'one')
      closeSync(opened)
    }
    const isReplaced = () => !statSync(pipe()).isFIFO()
    const callAndAllow = async () => {
      const calling = claude('edit', '--allowedTools', 'mcp__files__edit_file')
      await answerPending(gateway, { kind: 'allow' })
      return { ...calling, opened: await callRuns() }
    }
    const pidOf = (isIt: (command: string) => boolean) => {
      const found = processesOf(folder).find(({ command }) => command.includes(filesystemServer) && isIt(command))
      if (!found) throw new Error('no such process is running')
      return found.pid
    }

    it('Claude Code reads that the outcome is unknown if the server is killed, and nothing runs again', async () => {
      const { id, ending, opened } = await callAndAllow()
      process.kill(
        pidOf(command => !command.includes(' wrap ')),
        'SIGKILL',
      )
      closeSync(opened)
      await ending
      expect(model.toolResult(id)).toContain('its outcome is unknown')
      expect([openPipe(), isReplaced(), await pendingCount()]).toEqual([null, false, 0])
    })

    it('Claude Code reads that the outcome is unknown if Holdpoint is killed and the call is repeated, and the call ran once', async () => {
      const { id, ending, opened } = await callAndAllow()
      process.kill(
        pidOf(command => command.includes(' wrap ')),
        'SIGKILL',
      )
      await ending
      expect(model.toolResult(id), 'Claude Code reports a lost connection').toMatch(/closed|disconnected|lost/i)
      finish(opened)
      await expect.poll(isReplaced).toBe(true)
      const back = claude('edit', '--allowedTools', 'mcp__files__edit_file')
      await back.ending
      expect(model.toolResult(back.id)).toContain('its outcome is unknown')
      expect(await pendingCount()).toBe(0)
      expect(readFileSync(pipe(), 'utf8')).toBe('two')
    })

    it('Claude Code gets the result of the first run if it is killed itself and repeats the call', async () => {
      const { child, ending, opened } = await callAndAllow()
      await kill(child, ending)
      finish(opened)
      await expect.poll(isReplaced).toBe(true)
      await expectNoProcessLeft(folder)
      const back = claude('edit', '--allowedTools', 'mcp__files__edit_file')
      await back.ending
      expect(model.toolResult(back.id)).toContain('+two')
      expect(await pendingCount()).toBe(0)
    })

    it('Claude Code gets the result if the gateway is killed during the call', async () => {
      const { id, ending, opened } = await callAndAllow()
      await gateway.kill()
      finish(opened)
      await ending
      expect(model.toolResult(id)).toContain('+two')
      await gateway.start()
      expect(await pendingCount()).toBe(0)
    })
  })

  it('Claude Code finds Holdpoint’s server after `holdpoint mcp install claude`, but not after `holdpoint mcp remove claude`', async () => {
    const own = {
      ...claudeEnvironment(model, folder),
      HOLDPOINT_CLAUDE: claudeExecutable(),
      HOLDPOINT_HOME: gateway.home.path,
    }
    const mcp = (...words: string[]) => runCli(['mcp', ...words], { cwd, env: own as NodeJS.ProcessEnv, input: '' })
    const listed = async () =>
      (await run(claudeExecutable(), ['mcp', 'list'], { cwd, env: own as NodeJS.ProcessEnv })).stdout
    for (const _ of ['once', 'twice']) expect((await mcp('install', 'claude')).err).toBe('')
    expect(await listed()).toMatch(/holdpoint: .*mcp - .*Connected/)
    expect((await mcp('remove', 'claude')).err).toBe('')
    expect(await listed()).not.toContain('holdpoint:')
    expect(await mcp('remove', 'claude')).toEqual({
      code: 0,
      out: 'Holdpoint is not among the MCP servers of claude.\n',
      err: '',
    })
  })
})
