/** The live views where there is no terminal to live in, and words that do not fit. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Inbox, watchEvents } from '@holdpoint/client'
import { type Call, RequestId } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cleanEnvironment, closeGateways, holdpoint, makeFolder } from '../../../test/support/gateway.ts'
import { folderFor } from '../src/gateway-client/start-session.ts'
import { out } from '../src/output/output.ts'
import { runPlainly } from '../src/tui/run/run-plain.ts'
import { runCli } from './support/cli-process.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys } from './support/terminal.ts'

let scene: Scene
beforeAll(async () => {
  scene = await Scene.open({ retentionDays: 30 })
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})
const run = (...words: string[]) => runCli(['run', ...words, '--home', scene.gateway.home.path])

describe('in a pipe', () => {
  it('run prints plain lines, asks nothing, waits for an answer from elsewhere, and ends with the turn', async () => {
    const child = spawn(process.execPath, [holdpoint, 'run', 'rehearsal', 'short', '--home', scene.gateway.home.path], {
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    for await (const chunk of child.stdout) {
      out += chunk
      const id = /holdpoint show (req_\w+)/.exec(out)?.[1]
      if (!id || out.includes('denied by')) continue
      const { digest } = await scene.call('getRequest', { id: RequestId.parse(id) })
      await scene.call('answerRequest', { id: RequestId.parse(id), digest, answer: { kind: 'deny', reason: 'no' } })
    }
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0)
    expect(out).toMatch(/^▌ short · rehearsal · \/.* {2}ses_\w+\n/)
    expect(out).toMatch(/^● Run a command {2}waits: holdpoint show req_\w+\n {2}There is no terminal to ask in/m)
    expect(out).toContain('denied by owner via api: no')
    expect(out).toContain('The command was not allowed: no')
    expect(out).not.toMatch(/[^\P{C}\n]|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u)
  })
  it('ends also where all was there before it was known who reads', async () => {
    const session = await scene.session('over')
    const { id } = await scene.call('endSession', { id: session.id })
    const { url, token } = scene.gateway
    const connection = { url, token }
    const known = async () => {
      const inbox = new Inbox({ call: scene.call, watch: options => watchEvents(connection, options), session: id })
      const transcript = inbox.transcript(id)
      const all = () => [inbox.getSnapshot().complete, transcript.getSnapshot().loaded]
      await expect.poll(all).toEqual([true, true])
      inbox.close()
    }
    const call = (async (name, input) => {
      if (name === 'whoAmI') await known()
      return scene.call(name, input)
    }) as Call // it hands on whatever it gets
    vi.spyOn(out, 'print').mockReturnValue()
    const house = { url, call, connection, isOwn: false, close: async () => {} }
    expect(await runPlainly(house, session, null)).toBe(0)
    expect(out.print).toHaveBeenCalled()
  })
  it('tui says that it needs a terminal', async () => {
    const { code, err } = await runCli(['tui', '--home', scene.gateway.home.path])
    expect(code).toBe(2)
    expect(err).toContain('no terminal to draw on')
  })
})

describe('words that do not fit', () => {
  it('are told with the exit code of their kind', async () => {
    expect(await run('nobody')).toMatchObject({
      code: 2,
      err: expect.stringContaining('No agent is called nobody; there are:'),
    })
    expect(await run('--session', 'ses_zzzz')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is no session'),
    })
  })
  it('as a home that nothing can be kept in are told, too', async () => {
    const { code, err } = await runCli(['run', 'rehearsal', '--home', join(import.meta.filename, 'home')])
    expect(code).toBe(1)
    expect(err).toContain('HOLDPOINT_HOME')
  })
})

describe('without a gateway', () => {
  const nobody = (name: string, files: Readonly<Record<string, string>> = {}) => {
    const folder = makeFolder(scene.gateway, name)
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
    return folder
  }
  it.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['an agent that there is not', ['nosuch', 'hi'], {}, 2, /^holdpoint: No agent is called nosuch; there are: /],
    ['a session that there is not', ['--session', 'zz'], {}, 3, /^holdpoint: There is no session zz\n$/],
    ['settings that cannot be read', ['hi'], { 'holdpoint.config.json': '{' }, 2, /^holdpoint: .*config\.json: /],
    ['an archive that is none', ['hi'], { 'holdpoint.db': 'x'.repeat(9000) }, 1, /^holdpoint: .*holdpoint\.db/],
  ])('%s is told in a sentence, not as a line of a log', async (what, words, files, code, sentence) => {
    const folder = nobody(what.replaceAll(' ', '-'), files)
    const said = await runCli(['run', ...words], {
      cwd: folder,
      env: { ...cleanEnvironment(), HOLDPOINT_HOME: folder },
    })
    expect(said.err).toMatch(sentence)
    expect([said.code, said.err.trimEnd().split('\n').length]).toEqual([code, 1])
  })
})

describe('a terminal without colours', () => {
  it('is given none, with NO_COLOR', async () => {
    const session = await scene.session()
    const ask = {
      kind: 'approval' as const,
      tool: 'Edit',
      input: { file_path: '/a', old_string: 'x', new_string: 'y' },
      title: 'Edit',
      cwd: '/',
      editable: true,
    }
    const request = await scene.ask(session, ask)
    const terminal = scene.run(session, { env: { NO_COLOR: '1' } })
    await terminal.sees('[a] Allow')
    terminal.press('a')
    await scene.resolved(request)
    await terminal.sees('allowed by you')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what colours are made of
    expect(terminal.raw).not.toMatch(/\u001b\[[\d;]*m/)
  })
})

describe('where a session starts', () => {
  it('is a folder of this machine where the gateway is on it, and elsewhere the one that is named or none', () => {
    expect(folderFor('http://127.0.0.1:4747', 'sub')).toBe(join(process.cwd(), 'sub'))
    expect(folderFor('http://localhost:1')).toBe(process.cwd())
    expect(folderFor('https://gateway.example', '/srv/app')).toBe('/srv/app')
    expect(folderFor('https://gateway.example')).toBeUndefined()
  })
  it('is told to the gateway whole, wherever it was named from', async () => {
    const { folder, home } = scene.gateway
    const words = ['start', 'rehearsal', 'short', '--cwd', 'home', '--json', '--home', home.path]
    const { out } = await runCli(words, { cwd: folder })
    expect(JSON.parse(out)).toMatchObject({ cwd: join(folder, 'home') })
  })
})

describe('a gateway that goes away', () => {
  it('takes the keys of a prompt with it, and is found again at another address', async () => {
    const session = await scene.session()
    const ask = {
      kind: 'approval' as const,
      tool: 'Bash',
      input: { command: 'ls' },
      title: 'List',
      cwd: '/',
      editable: true,
    }
    const request = await scene.ask(session, ask)
    const terminal = scene.run(session)
    await terminal.sees('[a] Allow')
    await scene.gateway.kill()
    await terminal.sees('The gateway is away')
    expect(terminal.text()).not.toContain('[a] Allow')
    terminal.press('a')
    scene.gateway.changePort()
    await scene.gateway.start()
    await terminal.sees('[a] Allow')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.press('a')
    expect((await scene.resolved(request)).resolution?.answer).toEqual({ kind: 'allow' })
  })
  it('is waited for: the session is there again with it, and nothing was lost', async () => {
    const session = await scene.session()
    const terminal = scene.run(session)
    await scene.says(session, 'Before.')
    await terminal.sees('Before.')
    await scene.gateway.kill()
    await terminal.sees('the gateway is away')
    await scene.gateway.start()
    const request = await scene.ask(session, {
      kind: 'approval',
      tool: 'Bash',
      input: { command: 'ls' },
      title: 'List',
      cwd: '/',
      editable: true,
    })
    await terminal.sees('[a] Allow')
    terminal.press('a')
    expect((await scene.resolved(request)).resolution?.answer).toEqual({ kind: 'allow' })
    terminal.press(keys.ctrlC)
  })
})
