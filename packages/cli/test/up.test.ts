import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { EventRecorder, isEvent } from '../../../test/support/event-recorder.ts'
import {
  cleanEnvironment,
  closeGateways,
  GatewayProcess,
  holdpoint,
  makeFolder,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { isRunning, type PidFile, runningProcess } from '../src/config/data-folder.ts'
import { runCli, runCliAgainst } from './support/cli-process.ts'

afterEach(closeGateways)

const ask = { kind: 'approval' as const, tool: 't', input: {}, title: 'May I?', cwd: '/', editable: false }

/** Waits until the gateway has a live runner. */
async function liveRunner(gateway: GatewayProcess): Promise<PidFile> {
  while ((await gateway.call('listRunners', {})).items[0]?.live !== true) await shortPause()
  return runningProcess(gateway.home, 'runner') as PidFile // the runner is live
}

/** Returns the addresses, in the hexadecimal form of /proc/net, at which a process listens for TCP connections. */
function listeningAddresses(pid: number): { readonly address: string; readonly port: number }[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap(fd => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return []
      }
    }),
  )
  const listening = '0A'
  return ['tcp', 'tcp6'].flatMap(name =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .filter(columns => columns[3] === listening && sockets.has(columns[9] ?? ''))
      .map(columns => {
        const [address = '', port = ''] = (columns[1] ?? '').split(':')
        return { address, port: Number.parseInt(port, 16) }
      }),
  )
}
async function connectTo(host: string, port: number): Promise<void> {
  const socket = connect({ host, port, timeout: 5000 })
  try {
    await Promise.race([
      once(socket, 'connect'),
      once(socket, 'timeout').then(() => Promise.reject(new Error('timeout'))),
    ])
  } finally {
    socket.destroy()
  }
}

describe('holdpoint up', () => {
  it('holdpoint up prints its URL and a sign-in link on the first line, and creates a token that works', async () => {
    const gateway = await startGateway({ runner: 'none' })
    expect(gateway.url).toMatch(/^http:\/\/localhost:\d+$/)
    expect(gateway.link).toMatch(new RegExp(`^${gateway.url}/#code=\\S{20,}$`))
    expect(await gateway.call('whoAmI', {})).toMatchObject({ person: 'owner', role: 'owner' })
  })

  it('B15: holdpoint up accepts connections only from the same machine, unless a setting says otherwise', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const port = Number(new URL(gateway.url).port)
    const addresses = listeningAddresses(gateway.pid)
    expect(addresses.map(({ address }) => address).sort()).toEqual(['00000000000000000000000001000000', '0100007F'])
    expect(new Set(addresses.map(found => found.port))).toEqual(new Set([port]))
    const outside = Object.values(networkInterfaces())
      .flatMap(found => found ?? [])
      .filter(({ internal }) => !internal)
    for (const { address, scopeid } of outside)
      await expect(connectTo(scopeid ? `${address}%${scopeid}` : address, port), address).rejects.toThrow()
  })

  it('holdpoint up accepts sign-ins from the page at a configured host name behind a reverse proxy with TLS, and at no other name', async () => {
    const gateway = await startGateway({ runner: 'none', config: { hosts: ['Box.example', 'box.example:8443'] } })
    const signIn = async (origin: string, { host } = new URL(origin)) => {
      const { code } = await gateway.call('makeLink', {})
      const headers = { 'content-type': 'application/json', host, origin }
      const sent = request(`${gateway.url}/api/v1/sign-in`, { method: 'POST', headers }).end(JSON.stringify({ code }))
      const [reply] = (await once(sent, 'response')) as [IncomingMessage] // the type of this event
      reply.resume()
      return reply.statusCode
    }
    expect(await signIn('https://box.example')).toBe(200)
    expect(await signIn('https://box.example:8443')).toBe(200)
    expect(await signIn('https://evil.example')).toBe(421)
    for (const other of ['https://evil.example', 'https://localhost', 'https://box.example:1'])
      expect(await signIn(other, new URL('https://box.example')), other).toBe(403)
  })

  it('holdpoint up makes its data folder and every file in it readable only by its owner', async () => {
    const gateway = await startGateway()
    await gateway.runnerStarted()
    expect(statSync(gateway.home.path).mode & 0o777).toBe(0o700)
    const files = readdirSync(gateway.home.path)
    expect(files).toEqual(
      expect.arrayContaining(['holdpoint.db', 'token', 'runner-token', 'runner.json', 'runner.log']),
    )
    for (const file of files) expect([file, statSync(join(gateway.home.path, file)).mode & 0o077]).toEqual([file, 0])
  })

  it('holdpoint up keeps its tokens and data across a restart', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const { token } = gateway
    const { id } = await gateway.call('startSession', { driver: 'external', title: 'kept' })
    await gateway.stop()
    await gateway.start()
    expect(gateway.token).toBe(token)
    expect(await gateway.call('getSession', { id })).toMatchObject({ title: 'kept' })
  })

  it('holdpoint up stops on SIGTERM without waiting for long polls, and leaves pending requests pending', async () => {
    const gateway = await startGateway()
    const { call } = gateway
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    const options = { only: 'approval', paceMs: 0 }
    const session = await call('startSession', { driver: 'rehearsal', prompt: 'Begin', options })
    const { value: request } = await recorder.waitFor(isEvent(session.id, 'request.opened'))
    const waitMs = 60_000
    const waiting = call('getRequest', { id: request.id, wait: waitMs })
    const runner = gateway.runnerPid()
    const stoppingAt = performance.now()
    expect(await gateway.stop()).toEqual({ code: 0, signal: null })
    expect(performance.now() - stoppingAt).toBeLessThan(waitMs)
    expect(gateway.runnerPid(), 'the runner keeps running').toBe(runner)
    await gateway.start()
    expect(await call('listRequests', { status: 'pending' })).toMatchObject({ items: [{ id: request.id }] })
    await call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
    expect(await waiting, 'a waiting client reconnects by itself').toMatchObject({ status: 'resolved' })
    await recorder.waitFor(isEvent(session.id, 'turn.finished'))
    await recorder.close()
  })

  it('holdpoint up restarts a killed runner, and reuses a runner that outlived the previous gateway', async () => {
    const gateway = await startGateway()
    const first = await gateway.runnerStarted()
    await gateway.killRunner()
    const second = await gateway.runnerStarted()
    expect(second).not.toBe(first)
    await gateway.kill()
    await gateway.start()
    while ((await gateway.call('listRunners', {})).items[0]?.live !== true) await shortPause()
    expect(gateway.runnerPid()).toBe(second)
  })

  it('holdpoint down also stops a runner that outlived the previous gateway, with or without a new gateway', async () => {
    const gateway = await startGateway()
    const first = await liveRunner(gateway)
    await gateway.kill()
    await gateway.start()
    expect((await liveRunner(gateway)).pid, 'the new gateway reuses the runner').toBe(first.pid)
    expect(await runCliAgainst(gateway, ['down'])).toMatchObject({
      code: 0,
      out: 'Stopped: runner and gateway. Pending requests are kept.\n',
    })
    expect([isRunning(first), gateway.runnerPids()]).toEqual([false, []])
    await gateway.start()
    const second = await liveRunner(gateway)
    await gateway.kill()
    expect(await runCliAgainst(gateway, ['down'])).toMatchObject({
      code: 0,
      out: 'Stopped: runner. Pending requests are kept.\n',
    })
    expect([isRunning(second), gateway.runnerPids()]).toEqual([false, []])
  })

  it('holdpoint up leaves a reused runner running on SIGTERM, and says how long the runner continues and how to stop it', async () => {
    const gateway = await startGateway()
    const runner = await liveRunner(gateway)
    await gateway.kill()
    const words = ['up', '--port', '0', '--home', gateway.home.path]
    const up = spawn(process.execPath, [holdpoint, ...words], {
      cwd: gateway.folder,
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    up.stdout.on('data', chunk => {
      out += chunk
    })
    const closed = once(up, 'close')
    while (!out.includes('Ctrl+C stops the gateway')) await shortPause()
    up.kill('SIGTERM')
    expect(await closed).toEqual([0, null])
    expect(out).toMatch(/The runner and its agents keep running for ten minutes; `holdpoint down` stops them now\.\n$/)
    expect([isRunning(runner), gateway.runnerPids()]).toEqual([true, [runner.pid]])
    expect((await runCliAgainst(gateway, ['down'])).out).toContain('Stopped: runner.')
    expect(isRunning(runner)).toBe(false)
  })

  it('holdpoint up has only one runner after the gateway was killed and immediately restarted', async () => {
    const gateway = await startGateway()
    await gateway.kill()
    await gateway.start()
    while ((await gateway.call('listRunners', {})).items[0]?.live !== true) await shortPause()
    while (gateway.runnerPids().length > 1) await shortPause()
    const [runner] = (await gateway.call('listRunners', {})).items
    expect(runner?.live, 'the runner that exited did not void the lease of the other').toBe(true)
    expect(gateway.runnerPids()).toEqual([gateway.runnerPid()])
  })

  it('holdpoint up stops when the shell that runs npm start is stopped', async () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
    const words = scripts.start.replace('npm run -s build', 'true')
    const gateway = new GatewayProcess({})
    const flags = `--json --port 0 --runner none --home ${gateway.home.path}`
    const cwd = fileURLToPath(new URL('../../..', import.meta.url))
    const shell = spawn('/bin/sh', ['-c', `${words} ${flags}`], { cwd, env: cleanEnvironment(), stdio: 'pipe' })
    await once(shell.stdout, 'data')
    shell.kill('SIGTERM')
    expect(await once(shell, 'exit')).toEqual([0, null])
    expect(runningProcess(gateway.home, 'gateway')).toBeNull()
  })

  it('holdpoint up runs in the background with --detach, prints a link when agents can be started, and is stopped by holdpoint down', async () => {
    const { home, folder } = new GatewayProcess({})
    const flags = ['--home', home.path]
    // A busy machine needs this long to start the runner after the gateway.
    const slowRunner = join(folder, 'slow-runner.cjs')
    const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)'
    writeFileSync(slowRunner, `if (process.argv.includes('runner')) ${wait}`)
    const env = { ...cleanEnvironment(), NODE_OPTIONS: `--require ${slowRunner}` }
    const { code, out } = await runCli(['up', '--detach', '--port', '0', ...flags, '--json'], { env })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      link: expect.stringContaining('/#code='),
      tokenFile: home.tokenFile,
    })
    const status = JSON.parse((await runCli(['status', '--home', home.path, '--json'])).out)
    expect(status).toMatchObject({ runners: 1, agents: expect.arrayContaining(['rehearsal']) })
    const again = await runCli(['up', '--detach', '--port', '0', ...flags])
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('is already running at')])
    expect(statSync(join(home.path, 'gateway.log')).mode & 0o777).toBe(0o600)
    expect((await runCli(['down', '--home', home.path])).code).toBe(0)
    expect(runningProcess(home, 'gateway')).toBeNull()
  })

  it('holdpoint up reports with --detach why the gateway could not start', async () => {
    const { home } = new GatewayProcess({})
    mkdirSync(home.path, { recursive: true, mode: 0o700 })
    writeFileSync(home.databaseFile, 'not a database', { mode: 0o600 })
    const { code, err } = await runCli(['up', '--detach', '--port', '0', '--runner', 'none', '--home', home.path])
    expect(code).toBe(1)
    expect(err).toMatch(/^holdpoint: The gateway did not start: .*holdpoint\.db is damaged.*gateway\.log\)\n$/)
  })

  it('holdpoint up refuses a data folder that another gateway uses', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const { code, out, err } = await runCli(['up', '--port', '0', '--home', gateway.home.path, '--json'])
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(`Holdpoint is already running at ${gateway.url}`)
    expect(err).toMatch(/in use by another gateway/)
    expect(await gateway.call('whoAmI', {}), 'the first gateway keeps running').toMatchObject({ person: 'owner' })
    expect((await runCli(['link', '--home', gateway.home.path])).code, 'and commands still find it').toBe(0)
  })

  it('holdpoint up exits with 1 if the port is in use, and the message says how to choose another', async () => {
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number } // a server that listens on TCP has this type of address
    const gateway = new GatewayProcess({ runner: 'none' })
    const { code, err } = await runCli(['up', '--port', String(port), '--home', gateway.home.path])
    expect(code).toBe(1)
    expect(err).toMatch(/Port \d+ is taken.*--port/)
    await new Promise(resolve => taken.close(resolve))
  })

  it('holdpoint up exits with 1 and prints one line of explanation if its data folder is not writable', async () => {
    const gateway = new GatewayProcess({ runner: 'none' })
    const home = makeFolder(gateway, 'sealed')
    mkdirSync(join(home, 'sealed'))
    chmodSync(home, 0o555)
    chmodSync(gateway.folder, 0o755)
    // Root can write anywhere, so run the command as another user.
    const who = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    if (who.uid !== undefined) chownSync(home, who.uid, who.gid)
    const { code, err } = await runCli(['up', '--port', '0', '--home', home], { cwd: gateway.folder, ...who })
    expect(code).toBe(1)
    expect(err).toMatch(/^holdpoint: .*sealed.*(cannot be written|Cannot create)/)
    expect(err.trim().split('\n').length, 'a message without a stack trace').toBe(1)
  })

  it('holdpoint up exits with 1 and an explanation if the data folder cannot be created', async () => {
    const gateway = new GatewayProcess({ runner: 'none' })
    writeFileSync(join(gateway.folder, 'file'), '')
    const { code, err } = await runCli(['up', '--port', '0', '--home', join(gateway.folder, 'file', 'home')])
    expect(code).toBe(1)
    expect(err).toMatch(/Cannot create.*HOLDPOINT_HOME/)
  })

  it('holdpoint up refuses a database written by a newer version', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await gateway.stop()
    const db = new DatabaseSync(gateway.home.databaseFile)
    db.exec('PRAGMA user_version = 999')
    db.close()
    const { code, err } = await runCli(['up', '--port', '0', '--home', gateway.home.path])
    expect(code).toBe(1)
    expect(err).toMatch(/newer version of Holdpoint.*Upgrade/)
  })

  it('holdpoint up refuses a config file with an unknown key and names the key', async () => {
    const gateway = new GatewayProcess({ config: { prot: 4 } })
    const { code, err } = await runCli(['up', '--home', gateway.home.path], { cwd: gateway.folder })
    expect(code).toBe(2)
    expect(err).toMatch(/holdpoint\.config\.json.*prot/)
  })

  it('holdpoint up returns the same request for the same request key after a crash and restart', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const { id } = await gateway.call('startSession', { driver: 'external' })
    const request = await gateway.call('openRequest', { id, key: 'k', ask })
    await gateway.kill()
    await gateway.start()
    expect(await gateway.call('openRequest', { id, key: 'k', ask })).toEqual(request)
  })

  it('holdpoint up writes a pid file with its address and removes it when it stops', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const pidFile = join(gateway.home.path, 'gateway.json')
    expect(JSON.parse(readFileSync(pidFile, 'utf8'))).toMatchObject({ pid: gateway.pid, url: gateway.url })
    await gateway.stop()
    expect((await runCli(['link', '--home', gateway.home.path])).code).not.toBe(0)
  })
})
