import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { apiRoot, pageSecretHeader } from '@holdpoint/protocol'
import { openSqlite } from '@holdpoint/store'
import { afterEach, describe, expect, it } from 'vitest'
import { EventRecorder, isEvent } from '../../../test/support/event-recorder.ts'
import {
  cleanEnvironment,
  closeGateways,
  GatewayProcess,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { moreHelp } from '../src/commands/help-texts.ts'
import { runCli } from './support/cli-process.ts'
import { closeTerminals, Terminal } from './support/terminal.ts'

afterEach(async () => {
  closeTerminals()
  await closeGateways()
})

const signIn = (url: string, link: string) =>
  fetch(`${url}${apiRoot}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ code: link.split('#code=')[1]?.trim() }),
  })

describe('holdpoint', () => {
  it.each([
    ['an unknown command', ['dance'], /Unknown command "dance"/],
    ['help for an unknown command', ['help', 'dance'], /Unknown command "dance"/],
    ['a command with swapped letters', ['inobx'], /Did you mean holdpoint inbox\?/],
    ['a command with a missing letter', ['alow'], /Did you mean holdpoint allow\?/],
    ['a command under the name of other programs', ['approve'], /Did you mean holdpoint allow\?/],
    ['a word that resembles no command', ['xyzzy'], /^holdpoint: Unknown command "xyzzy"\. See holdpoint --help$/],
    ['a malformed URL', ['inbox', '--url', 'nonsense'], /--url must be like http:.*, not "nonsense"/],
    ['a URL without http', ['inbox', '--url', 'localhost:4747'], /--url must be like http:/],
    ['an unknown state', ['sessions', '--state', 'asleep'], /starting, working, idle, parked, disconnected, ended/],
    [
      'an unknown subcommand of watch',
      ['watch', 'nonsense'],
      /unknown command 'nonsense'[\s\S]*holdpoint watch --help/,
    ],
    ['an unknown option', ['up', '--loud'], /--loud[\s\S]*holdpoint up --help/],
    ['an unknown choice', ['up', '--runner', 'cloud'], /--runner/],
    ['a missing argument', ['backup'], /file[\s\S]*holdpoint backup --help/],
    ['a malformed port', ['up', '--port', 'many'], /^holdpoint: --port must be a whole number from 0 to 65535$/],
    [
      'an address of another machine',
      ['up', '--port', '0', '--host', '8.8.8.8', '--allow-remote'],
      /--host is not an address of this machine/,
    ],
  ] as const)('holdpoint refuses %s with exit code 2 and a message', async (_what, words, sentence) => {
    const gateway = new GatewayProcess({})
    const env = { ...cleanEnvironment(), HOLDPOINT_HOME: gateway.home.path }
    const { code, out, err } = await runCli(words, { cwd: gateway.folder, env })
    expect([code, out]).toEqual([2, ''])
    expect(err.trim()).toMatch(sentence)
    expect(err).not.toMatch(/ {4}at /)
  })

  it('holdpoint prints its version and its help, and docs/terminal.md covers every command', async () => {
    expect(await runCli(['help', '--help'])).toMatchObject({ code: 0, err: '' })
    expect(await runCli(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
    const { code, out } = await runCli(['--help'])
    expect(code).toBe(0)
    for (const heading of [
      'Start and stop:',
      'Answer:',
      'Sessions:',
      'From scripts:',
      'Maintenance:',
      'Examples:',
      'Exit codes:',
    ])
      expect(out).toContain(`\n${heading}\n`)
    const guide = readFileSync(new URL('../../../docs/terminal.md', import.meta.url), 'utf8')
    // The help of commander wraps lines to the width of the terminal; the texts that follow are ours.
    const ours = out.slice(out.indexOf('Examples:')).split('\n')
    expect(ours.filter(line => line.length > 80)).toEqual([])
    const commands = [...out.matchAll(/^ {2}([a-z]+)(?: [[<]| {2})/gm)].map(match => match[1] as string)
    expect(commands).toEqual(expect.arrayContaining(['up', 'inbox', 'allow', 'ask', 'guard', 'doctor']))
    // Examples begin with the name of the program.
    for (const command of commands.filter(name => !['help', 'holdpoint'].includes(name)))
      expect(guide).toContain(`holdpoint ${command}`)
  })

  it.each([['link'], ['rehearse']])('holdpoint %s says that no gateway is running and how to start one', async word => {
    const gateway = new GatewayProcess({})
    const { code, err } = await runCli([word, '--home', gateway.home.path])
    expect(code).toBe(5)
    expect(err).toMatch(/No gateway .* holdpoint up/)
  })
})

describe('the data folder', () => {
  it('the data folder causes an error at once if it cannot be created, on any file system', async () => {
    const file = join(new GatewayProcess({}).folder, 'holdpoint.config.json')
    for (const home of ['/proc/holdpoint/home', file, join(file, 'home')]) {
      const { code, err } = await runCli(['up', '--home', home])
      expect([code, err]).toEqual([1, expect.stringContaining(`Cannot create the data folder ${home}`)])
    }
  })

  it('the data folder is created with its parent folders and is readable only by its owner', async () => {
    const { folder } = new GatewayProcess({})
    expect((await runCli(['down', '--home', join(folder, 'a', 'b')])).code).toBe(0)
    for (const made of ['a', 'a/b']) expect(statSync(join(folder, made)).mode & 0o777).toBe(0o700)
  })
})

it('the notes below the help of a command fit on a screen with 80 columns', () => {
  const lines = Object.entries(moreHelp).flatMap(([command, text]) => text.split('\n').map(line => ({ command, line })))
  expect(lines.filter(({ line }) => line.length > 80)).toEqual([])
})

it('the help of a command wraps its descriptions between words on a screen with 40 columns', async () => {
  const terminal = new Terminal(['show', '--help'], { columns: 40 })
  expect(await terminal.exit).toBe(0)
  await terminal.waitFor(/--json +Print the request or\s+the session as JSON/)
})

describe('holdpoint link', () => {
  it('holdpoint link prints a link that signs a browser in once', async () => {
    const gateway = await startGateway({ runner: 'none' })
    for (const link of [gateway.link, (await runCli(['link', '--home', gateway.home.path])).out]) {
      const first = await signIn(gateway.url, link)
      expect(first.status).toBe(200)
      const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
      const { pageSecret } = (await first.json()) as { pageSecret: string }
      const me = await fetch(`${gateway.url}${apiRoot}/me`, { headers: { cookie, [pageSecretHeader]: pageSecret } })
      expect(await me.json()).toMatchObject({ person: 'owner' })
      expect((await signIn(gateway.url, link)).status).toBe(401)
    }
    const terminal = new Terminal(['link', '--home', gateway.home.path], { columns: 40 })
    expect(await terminal.exit).toBe(0)
    await terminal.waitFor('docs/install.md')
    expect(terminal.raw.split('\r\n')[0], 'a narrow terminal does not cut the link').toMatch(/#code=hp_[\w-]{32}$/)
    expect(terminal.raw.replace(/\s+(?:┊ )?/g, ' ')).toContain('only on this machine')
  })
})

describe('holdpoint rehearse', () => {
  it('holdpoint rehearse starts the demo agent and says where to answer its requests', async () => {
    const gateway = await startGateway({ runner: 'inline' })
    const { code, out } = await runCli(['rehearse', 'short', '--home', gateway.home.path])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`${gateway.url}/#code=`))
    const rehearsed = await runCli(['rehearse', '--json', '--home', gateway.home.path])
    expect(JSON.parse(rehearsed.out)).toMatchObject({ driver: 'rehearsal' })
    expect((await gateway.call('listSessions', {})).items.length).toBe(2)
  })
})

describe('holdpoint down', () => {
  it('holdpoint down stops the gateway and the runner, and keeps pending requests', async () => {
    const gateway = await startGateway()
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    const options = { only: 'approval', paceMs: 0 }
    const { id } = await gateway.call('startSession', { driver: 'rehearsal', prompt: 'Begin', options })
    await recorder.waitFor(isEvent(id, 'request.opened'))
    await recorder.close()
    const { code, out } = await runCli(['down', '--home', gateway.home.path])
    expect([code, out]).toEqual([0, expect.stringMatching(/Stopped: runner and gateway/)])
    expect(await gateway.exited).toMatchObject({ code: 0 })
    expect(gateway.runnerPid()).toBeNull()
    expect((await runCli(['down', '--home', gateway.home.path])).out).toMatch(/No gateway is running/)
    const store = await openSqlite({ file: gateway.home.databaseFile })
    expect((await store.get('session', id))?.state, 'its session was parked').toBe('parked')
    await store.close()
    await gateway.start()
    expect((await gateway.call('listRequests', { status: 'pending' })).items.length).toBe(1)
  })
})

describe('holdpoint down while a runner is being restarted', () => {
  it.each([0, 300, 520, 560, 620])(
    'holdpoint down while a runner is being restarted leaves no runner running (%i ms after the runner was killed)',
    async ms => {
      const gateway = await startGateway()
      while (!(await gateway.call('listRunners', {})).items.some(runner => runner.live)) await shortPause()
      await gateway.killRunner()
      await new Promise(resolve => setTimeout(resolve, ms))
      expect((await runCli(['down', '--home', gateway.home.path])).code).toBe(0)
      await gateway.exited
      expect(gateway.runnerPids()).toEqual([])
    },
  )

  it('holdpoint down while a runner is being restarted stops a runner that may not have written its pid file yet', async () => {
    const gateway = await startGateway()
    // The gateway starts its runner before it reports that it is ready, so the runner may not have written its pid file yet.
    await gateway.kill()
    expect((await runCli(['down', '--home', gateway.home.path])).out).toMatch(/Stopped: runner/)
    expect(gateway.runnerPids()).toEqual([])
  })
})

describe('holdpoint runner', () => {
  it('holdpoint runner runs agents for the gateway given with --url, and parks their sessions when it is stopped', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const running = runCli(['runner', '--url', gateway.url, '--home', gateway.home.path], { cwd: gateway.folder })
    while (!(await gateway.call('listRunners', {})).items.some(runner => runner.live)) await shortPause()
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    const options = { only: 'approval', paceMs: 0 }
    const { id } = await gateway.call('startSession', { driver: 'rehearsal', prompt: 'Begin', options })
    await recorder.waitFor(isEvent(id, 'request.opened'))
    const second = await runCli(['runner', '--url', gateway.url, '--home', gateway.home.path])
    expect(second).toMatchObject({ code: 1, err: expect.stringMatching(/already running/) })
    process.kill(await gateway.runnerStarted(), 'SIGTERM')
    expect(await running).toMatchObject({ code: 0 })
    await recorder.waitFor(event => isEvent(id, 'session.changed')(event) && event.value.state === 'parked')
    expect(existsSync(join(gateway.home.path, 'runner.json'))).toBe(false)
    await recorder.close()
  })
})
