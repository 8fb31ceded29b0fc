/** `holdpoint run` and `holdpoint tui` in a pipe, with wrong arguments, without colors, and with a gateway that stops. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Inbox, Transcript, watchEvents } from '@holdpoint/client'
import { type Call, RequestId } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cleanEnvironment, closeGateways, holdpoint, makeFolder } from '../../../test/support/gateway.ts'
import { folderFor } from '../src/gateway-client/start-session.ts'
import { out } from '../src/output/output.ts'
import { runInPipe } from '../src/tui/run/run-in-pipe.ts'
import { runCli } from './support/cli-process.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys } from './support/terminal.ts'

let fixture: SessionFixture
beforeAll(async () => {
  fixture = await SessionFixture.open({ retentionDays: 30 })
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})
const run = (...args: string[]) => runCli(['run', ...args, '--home', fixture.gateway.home.path])

describe('holdpoint run and tui in a pipe', () => {
  it('holdpoint run in a pipe prints plain lines, waits for an answer from elsewhere, and exits when the turn ends', async () => {
    const child = spawn(
      process.execPath,
      [holdpoint, 'run', 'rehearsal', 'short', '--home', fixture.gateway.home.path],
      {
        env: cleanEnvironment(),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let out = ''
    for await (const chunk of child.stdout) {
      out += chunk
      const id = /holdpoint show (req_\w+)/.exec(out)?.[1]
      if (!id || out.includes('denied by')) continue
      const { digest } = await fixture.call('getRequest', { id: RequestId.parse(id) })
      await fixture.call('answerRequest', { id: RequestId.parse(id), digest, answer: { kind: 'deny', reason: 'no' } })
    }
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0)
    expect(out).toMatch(/^▌ short · rehearsal · \/.* {2}ses_\w+\n/)
    expect(out).toMatch(
      /^● Notable {2}Run a command {2}pending: holdpoint show req_\w+\n {2}This is not an interactive terminal/m,
    )
    expect(out).toContain('denied by owner via api: no')
    expect(out).toContain('The command was not allowed: no')
    expect(out).not.toMatch(/[^\P{C}\n]|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u)
  })
  it('holdpoint run in a pipe exits even if all events arrived before it subscribed', async () => {
    const session = await fixture.startSession('over')
    const { id } = await fixture.call('endSession', { id: session.id })
    const { url, token } = fixture.gateway
    const connection = { url, token }
    const known = async () => {
      const inbox = new Inbox({ call: fixture.call, watch: options => watchEvents(connection, options), session: id })
      const transcript = new Transcript(inbox.transcriptOptions(id))
      const all = () => [inbox.getSnapshot().complete, transcript.getSnapshot().loaded]
      await expect.poll(all).toEqual([true, true])
      inbox.close()
    }
    const call = (async (name, input) => {
      if (name === 'whoAmI') await known()
      return fixture.call(name, input)
    }) as Call // `fixture.call` returns the reply that the type of `Call` requires
    vi.spyOn(out, 'print').mockReturnValue()
    const access = { url, call, connection, presentUrl: () => url, isOwn: false, close: async () => {} }
    expect(await runInPipe(access, session, null)).toBe(0)
    expect(out.print).toHaveBeenCalled()
  })
  it('holdpoint tui in a pipe reports that it needs an interactive terminal', async () => {
    const { code, err } = await runCli(['tui', '--home', fixture.gateway.home.path])
    expect(code).toBe(2)
    expect(err).toMatch(/^holdpoint: `tui` needs an interactive terminal\./)
  })
})

describe('holdpoint run with wrong arguments', () => {
  it('holdpoint run with wrong arguments exits with 2 for an unknown agent and with 3 for an unknown session', async () => {
    expect(await run('nobody')).toMatchObject({
      code: 2,
      // Agents that are not installed are not available.
      err: expect.stringMatching(/No agent is called nobody\. Available: (?!.*(?:copilot|external))rehearsal/),
    })
    expect(await run('--session', 'ses_zzzz')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is no session'),
    })
  })
  it('holdpoint run without a message in a pipe exits with 2 and starts no session', async () => {
    const before = (await fixture.call('listSessions', {})).items.length
    const { code, err } = await run('rehearsal')
    expect([code, err]).toEqual([2, expect.stringContaining('run needs a message: holdpoint run rehearsal "…"')])
    expect((await fixture.call('listSessions', {})).items).toHaveLength(before)
  })
  it('holdpoint run with wrong arguments exits with 1 if the data folder cannot be created', async () => {
    const { code, err } = await runCli(['run', 'rehearsal', '--home', join(import.meta.filename, 'home')])
    expect(code).toBe(1)
    expect(err).toContain('HOLDPOINT_HOME')
  })
})

describe('holdpoint run without a running gateway', () => {
  const emptyFolder = (name: string, files: Readonly<Record<string, string>> = {}) => {
    const folder = makeFolder(fixture.gateway, name)
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
    return folder
  }
  it.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['an unknown agent', ['nosuch', 'hi'], {}, 2, /^holdpoint: No agent is called nosuch\. Available: /],
    [
      'an unknown session',
      ['--session', 'zz'],
      {},
      3,
      /^holdpoint: There is no session zz\. All sessions: holdpoint sessions --all\n$/,
    ],
    ['an unreadable configuration', ['hi'], { 'holdpoint.config.json': '{' }, 2, /^holdpoint: .*config\.json: /],
    ['a store that is not a database', ['hi'], { 'holdpoint.db': 'x'.repeat(9000) }, 1, /^holdpoint: .*holdpoint\.db/],
  ])(
    'holdpoint run without a running gateway reports %s in one sentence',
    async (what, args, files, code, sentence) => {
      const folder = emptyFolder(what.replaceAll(' ', '-'), files)
      const result = await runCli(['run', ...args], {
        cwd: folder,
        env: { ...cleanEnvironment(), HOLDPOINT_HOME: folder },
      })
      expect(result.err).toMatch(sentence)
      expect([result.code, result.err.trimEnd().split('\n').length]).toEqual([code, 1])
    },
  )
})

describe('a live view with NO_COLOR', () => {
  it('a live view with NO_COLOR writes no colors', async () => {
    const session = await fixture.startSession()
    const ask = {
      kind: 'approval' as const,
      tool: 'Edit',
      input: { file_path: '/a', old_string: 'x', new_string: 'y' },
      title: 'Edit',
      cwd: '/',
      editable: true,
    }
    const request = await fixture.ask(session, ask)
    const terminal = fixture.openRun(session, { env: { NO_COLOR: '1' } })
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    await fixture.waitForResolved(request)
    await terminal.waitFor('allowed by you')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: color sequences start with a control character
    expect(terminal.raw).not.toMatch(/\u001b\[[\d;]*m/)
  })
})

describe('the folder of a new session', () => {
  it('the folder of a new session becomes absolute for a local gateway; for a remote gateway the folder stays as given or is left out', () => {
    expect(folderFor('http://127.0.0.1:4747', 'sub')).toBe(join(process.cwd(), 'sub'))
    expect(folderFor('http://localhost:1')).toBe(process.cwd())
    expect(folderFor('https://gateway.example', '/srv/app')).toBe('/srv/app')
    expect(folderFor('https://gateway.example')).toBeUndefined()
  })
  it('the folder of a new session is sent to the gateway as an absolute path', async () => {
    const { folder, home } = fixture.gateway
    const args = ['start', 'rehearsal', 'short', '--cwd', 'home', '--json', '--home', home.path]
    const { out } = await runCli(args, { cwd: folder })
    expect(JSON.parse(out)).toMatchObject({ cwd: join(folder, 'home') })
  })
})

describe('a live view that loses its gateway', () => {
  it('a live view that loses its gateway ignores answers until it has reconnected to the gateway at its new address', async () => {
    const session = await fixture.startSession()
    const ask = {
      kind: 'approval' as const,
      tool: 'Bash',
      input: { command: 'ls' },
      title: 'List',
      cwd: '/',
      editable: true,
    }
    const request = await fixture.ask(session, ask)
    const terminal = fixture.openRun(session)
    await terminal.waitFor('[a] Allow')
    await fixture.gateway.kill()
    await terminal.waitFor('Lost connection')
    expect(terminal.text()).not.toContain('[a] Allow')
    terminal.press('a')
    fixture.gateway.changePort()
    await fixture.gateway.start()
    await terminal.waitFor('[a] Allow')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    terminal.press('a')
    expect((await fixture.waitForResolved(request)).resolution?.answer).toEqual({ kind: 'allow' })
  })
  it('a live view that loses its gateway waits for the gateway and then shows the session again', async () => {
    const session = await fixture.startSession()
    const terminal = fixture.openRun(session)
    await fixture.sayAsAgent(session, 'Before.')
    await terminal.waitFor('Before.')
    await fixture.gateway.kill()
    await terminal.waitFor('lost connection')
    await fixture.gateway.start()
    const request = await fixture.ask(session, {
      kind: 'approval',
      tool: 'Bash',
      input: { command: 'ls' },
      title: 'List',
      cwd: '/',
      editable: true,
    })
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    expect((await fixture.waitForResolved(request)).resolution?.answer).toEqual({ kind: 'allow' })
    terminal.press(keys.ctrlC)
  })
})
