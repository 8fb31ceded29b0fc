import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { apiRoot } from '@holdpoint/protocol'
import { openSqlite } from '@holdpoint/store'
import { afterEach, describe, expect, it } from 'vitest'
import { told, Witness } from '../../../test/support/event-recorder.ts'
import { closeGateways, GatewayProcess, glance, plainEnvironment, startGateway } from '../../../test/support/gateway.ts'
import { runCli } from './support/cli-process.ts'

afterEach(closeGateways)

const exchange = (url: string, link: string) =>
  fetch(`${url}${apiRoot}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ code: link.split('#code=')[1]?.trim() }),
  })

describe('holdpoint', () => {
  it.each([
    ['a command that there is not', ['dance'], /Unknown command "dance"/],
    ['help for a command that there is not', ['help', 'dance'], /Unknown command "dance"/],
    ['an address that is none', ['inbox', '--url', 'nonsense'], /--url must be like http:.*, not "nonsense"/],
    ['an address of another kind', ['inbox', '--url', 'localhost:4747'], /--url must be like http:/],
    ['a state that there is not', ['sessions', '--state', 'asleep'], /starting, working, idle, parked, ended/],
    ['an option that there is not', ['up', '--loud'], /--loud[\s\S]*holdpoint up --help/],
    ['a choice that there is not', ['up', '--runner', 'cloud'], /--runner/],
    ['an argument that is missing', ['backup'], /file[\s\S]*holdpoint backup --help/],
    ['a port that is none', ['up', '--port', 'many'], /^holdpoint: --port must be a whole number from 0 to 65535$/],
    ['an address of another machine', ['up', '--port', '0', '--host', '8.8.8.8'], /--host is not one of this machine/],
  ] as const)('refuses %s with exit code 2 and a sentence', async (_what, words, sentence) => {
    const gateway = new GatewayProcess({})
    const env = { ...plainEnvironment(), HOLDPOINT_HOME: gateway.home.path }
    const { code, out, err } = await runCli(words, { cwd: gateway.folder, env })
    expect([code, out]).toEqual([2, ''])
    expect(err.trim()).toMatch(sentence)
    expect(err).not.toMatch(/ {4}at /)
  })

  it('shows its version and what there is', async () => {
    expect(await runCli(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
    const { code, out } = await runCli(['--help'])
    expect(code).toBe(0)
    for (const heading of [
      'Start and stop:',
      'Answer:',
      'Sessions:',
      'From scripts:',
      'Keep and mend:',
      'Examples:',
      'Exit codes:',
    ])
      expect(out).toContain(`\n${heading}\n`)
    const guide = readFileSync(new URL('../../../docs/terminal.md', import.meta.url), 'utf8')
    const commands = [...out.matchAll(/^ {2}([a-z]+) (?:\[|<)/gm)].map(match => match[1] as string)
    expect(commands).toEqual(expect.arrayContaining(['up', 'inbox', 'allow', 'ask', 'guard', 'doctor']))
    for (const command of commands.filter(name => name !== 'help')) expect(guide).toContain(`holdpoint ${command}`)
  })

  it.each([['link'], ['rehearse']])('%s says that no gateway runs, and how to start one', async word => {
    const gateway = new GatewayProcess({})
    const { code, err } = await runCli([word, '--home', gateway.home.path])
    expect(code).toBe(5)
    expect(err).toMatch(/No gateway .* holdpoint up/)
  })
})

describe('a data folder', () => {
  it('that cannot be made is said at once, whatever the file system makes of it', async () => {
    const file = join(new GatewayProcess({}).folder, 'holdpoint.config.json')
    for (const home of ['/proc/holdpoint/home', file, join(file, 'home')]) {
      const { code, err } = await runCli(['up', '--home', home])
      expect([code, err]).toEqual([1, expect.stringContaining(`The folder ${home} cannot be made`)])
    }
  })

  it('is made with those above it, for its owner alone', async () => {
    const { folder } = new GatewayProcess({})
    expect((await runCli(['down', '--home', join(folder, 'a', 'b')])).code).toBe(0)
    for (const made of ['a', 'a/b']) expect(statSync(join(folder, made)).mode & 0o777).toBe(0o700)
  })
})

describe('holdpoint link', () => {
  it('makes a link that signs in once', async () => {
    const gateway = await startGateway({ runner: 'none' })
    for (const link of [gateway.link, (await runCli(['link', '--home', gateway.home.path])).out]) {
      const first = await exchange(gateway.url, link)
      expect(first.status).toBe(200)
      const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
      const me = await fetch(`${gateway.url}${apiRoot}/me`, { headers: { cookie, 'x-holdpoint': '1' } })
      expect(await me.json()).toMatchObject({ person: 'owner' })
      expect((await exchange(gateway.url, link)).status).toBe(401)
    }
  })
})

describe('holdpoint rehearse', () => {
  it('starts the built-in agent and says where to answer it', async () => {
    const gateway = await startGateway({ runner: 'inline' })
    const { code, out } = await runCli(['rehearse', 'short', '--home', gateway.home.path])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`${gateway.url}/#code=`))
    const said = await runCli(['rehearse', '--json', '--home', gateway.home.path])
    expect(JSON.parse(said.out)).toMatchObject({ driver: 'rehearsal' })
    expect((await gateway.call('listSessions', {})).items.length).toBe(2)
  })
})

describe('holdpoint down', () => {
  it('stops gateway and runner; what waits goes on waiting', async () => {
    const gateway = await startGateway()
    const witness = await Witness.over(gateway.url, gateway.token)
    const options = { only: 'approval', paceMs: 0 }
    const { id } = await gateway.call('startSession', { driver: 'rehearsal', prompt: 'Begin', options })
    await witness.seen(told(id, 'request.opened'))
    await witness.close()
    const { code, out } = await runCli(['down', '--home', gateway.home.path])
    expect([code, out]).toEqual([0, expect.stringMatching(/Stopped: runner and gateway/)])
    expect(await gateway.gone).toMatchObject({ code: 0 })
    expect(gateway.runnerPid()).toBeNull()
    expect((await runCli(['down', '--home', gateway.home.path])).out).toMatch(/Nothing runs/)
    const store = await openSqlite({ file: gateway.home.databaseFile })
    expect((await store.get('session', id))?.state, 'its agent was given back').toBe('parked')
    await store.close()
    await gateway.start()
    expect((await gateway.call('listRequests', { status: 'pending' })).items.length).toBe(1)
  })
})

describe('holdpoint down, while a runner is on its way back', () => {
  it.each([0, 300, 520, 560, 620])('leaves none behind (%i ms after its death)', async ms => {
    const gateway = await startGateway()
    while (!(await gateway.call('listRunners', {})).items.some(runner => runner.live)) await glance()
    await gateway.killRunner()
    await new Promise(resolve => setTimeout(resolve, ms))
    expect((await runCli(['down', '--home', gateway.home.path])).code).toBe(0)
    await gateway.gone
    expect(gateway.runnerPids()).toEqual([])
  })

  it('finds one that has only just been started', async () => {
    const gateway = await startGateway()
    // The gateway has started it before it says that it is ready itself; it has not noted itself yet.
    await gateway.kill()
    expect((await runCli(['down', '--home', gateway.home.path])).out).toMatch(/Stopped: runner/)
    expect(gateway.runnerPids()).toEqual([])
  })
})

describe('holdpoint runner', () => {
  it('runs agents for a gateway that it is told of, and stops in good order', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const running = runCli(['runner', '--url', gateway.url, '--home', gateway.home.path], { cwd: gateway.folder })
    while (!(await gateway.call('listRunners', {})).items.some(runner => runner.live)) await glance()
    const witness = await Witness.over(gateway.url, gateway.token)
    const options = { only: 'approval', paceMs: 0 }
    const { id } = await gateway.call('startSession', { driver: 'rehearsal', prompt: 'Begin', options })
    await witness.seen(told(id, 'request.opened'))
    const second = await runCli(['runner', '--url', gateway.url, '--home', gateway.home.path])
    expect(second).toMatchObject({ code: 1, err: expect.stringMatching(/runs already/) })
    process.kill(await gateway.runnerBegun(), 'SIGTERM')
    expect(await running).toMatchObject({ code: 0 })
    await witness.seen(event => told(id, 'session.changed')(event) && event.value.state === 'parked')
    expect(existsSync(join(gateway.home.path, 'runner.json'))).toBe(false)
    await witness.close()
  })
})
