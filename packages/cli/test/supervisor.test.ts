/** Tests that `holdpoint up` restarts its gateway after a crash, keeps its port meanwhile, and exits together with the gateway otherwise (C15). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { EventRecorder, isEvent } from '../../../test/support/event-recorder.ts'
import {
  closeGateways,
  type GatewayOptions,
  type GatewayProcess,
  holdpoint,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { isRunning, openDataFolder, type PidFile, runningProcess } from '../src/config/data-folder.ts'
import { environmentFor, runCli, runCliAgainst } from './support/cli-process.ts'
import { rehearse, waitForLastMessage, waitForResolution } from './support/gateway-fixture.ts'

afterEach(closeGateways)

const startSupervised = (options: GatewayOptions = {}) => startGateway({ supervised: true, ...options })
async function newGatewayPid(gateway: GatewayProcess, old: number): Promise<number> {
  for (;;) {
    const pid = runningProcess(gateway.home, 'gateway')?.pid
    if (pid !== undefined && pid !== old) return pid
    await shortPause()
  }
}
const logged = (gateway: GatewayProcess) =>
  gateway.stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { event: string; message: string }) // every line of the log has these fields

/** Returns whether another program could listen on the port of the gateway. */
async function isPortFree({ url }: GatewayProcess, host: string): Promise<boolean> {
  const server = createServer()
  const isFree = await new Promise<boolean>(resolve => {
    server.once('error', () => resolve(false))
    server.listen(Number(new URL(url).port), host, () => resolve(true))
  })
  if (isFree) server.close()
  return isFree
}

describe('a gateway under holdpoint up', () => {
  it('C15: a gateway restarts after kill -9 on the same port, and its pending requests can be answered', async () => {
    const gateway = await startSupervised()
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    const { session, request } = await rehearse(gateway, 'approval')
    const ask = spawn(process.execPath, [holdpoint, 'ask', 'Deploy?'], {
      env: environmentFor(gateway),
      stdio: 'ignore',
    })
    const askEnded = once(ask, 'exit')
    const waiting = await recorder.waitFor(
      event => event.type === 'request.opened' && event.value.session !== session.id,
    )
    const first = gateway.gatewayPid
    expect(first).not.toBe(gateway.pid)
    process.kill(first, 'SIGKILL')
    await newGatewayPid(gateway, first)
    const asked = waiting.type === 'request.opened' ? waiting.value : request
    for (const { id, digest } of [request, asked])
      await gateway.call('answerRequest', { id, digest, answer: { kind: 'allow' } })
    expect(await askEnded).toEqual([0, null])
    await waitForLastMessage(gateway, session)
    expect((await waitForResolution(gateway, request.id)).delivery.state).toBe('taken')
    await recorder.waitFor(isEvent(session.id, 'turn.finished'))
    await recorder.close()
    const events = () => logged(gateway).map(({ event }) => event)
    await expect.poll(events).toEqual(['gateway.ended', 'gateway.restarted'])
    expect(logged(gateway)[0]?.message).toMatch(
      new RegExp(`process ${first}\\) was terminated by SIGKILL.*starts again in 0\\.1 s`),
    )
    expect(await gateway.stop()).toEqual({ code: 0, signal: null })
  })

  it('F1: the supervisor keeps the port between crash and restart, and requests that arrive meanwhile are answered', async () => {
    const gateway = await startSupervised({ runner: 'none' })
    for (let round = 0; round < 3; round++) {
      const { gatewayPid } = gateway
      const old = runningProcess(gateway.home, 'gateway') as PidFile // the gateway is running
      process.kill(gatewayPid, 'SIGKILL')
      while (isRunning(old)) await shortPause()
      expect([await isPortFree(gateway, '127.0.0.1'), await isPortFree(gateway, '::1')]).toEqual([false, false])
      // A connection that stayed open would belong to the gateway that was killed.
      const { status } = await fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } })
      expect(status).toBe(200)
      await newGatewayPid(gateway, gatewayPid)
    }
  })

  it('C15: a gateway restarts after it ran out of memory', async () => {
    const gateway = await startSupervised({
      runner: 'inline',
      execArgv: ['--max-old-space-size=64'],
      config: { agents: { hungry: './hungry.mjs' } },
    })
    writeFileSync(
      join(gateway.folder, 'hungry.mjs'),
      `import { defineAgent, step } from '@holdpoint/drivers'
      export default defineAgent({ name: 'hungry', title: 'Hungry', async *run() {
        yield* step('eat', () => { for (const kept = []; ; ) kept.push(new Array(1e6).fill(Math.random())) })
      } })`,
    )
    await gateway.stop()
    await gateway.start()
    const { gatewayPid } = gateway
    const { id } = await gateway.call('startSession', { driver: 'external', title: 'other' })
    const ask = { kind: 'approval' as const, tool: 't', input: {}, title: 'May I?', cwd: '/', editable: false }
    const request = await gateway.call('openRequest', { id, key: 'k', ask })
    while (!(await gateway.call('listDrivers', {})).items.find(({ name }) => name === 'hungry')?.ready)
      await shortPause()
    await gateway.call('startSession', { driver: 'hungry', prompt: 'Begin' })
    await newGatewayPid(gateway, gatewayPid)
    const { resolution } = await gateway.call('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'allow' },
    })
    expect(resolution).toMatchObject({ by: 'person' })
    await expect
      .poll(() => gateway.stderr)
      .toMatch(/was terminated by SIGABRT, perhaps because the process ran out of memory/)
  })

  it('the gateway stops with its supervisor, whether the supervisor is stopped or killed', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const) {
      const gateway = await startSupervised({ runner: 'none' })
      const child = runningProcess(gateway.home, 'gateway') as PidFile // the gateway is running
      process.kill(gateway.pid, signal)
      const { code } = await gateway.exited
      expect([signal, code]).toEqual([signal, { SIGTERM: 0, SIGINT: 0, SIGHUP: 129, SIGKILL: null }[signal]])
      while (isRunning(child)) await shortPause()
      expect(gateway.stderr).toBe('')
    }
  })

  it('the supervisor ends if its gateway is stopped', async () => {
    const gateway = await startSupervised({ runner: 'none' })
    process.kill(gateway.gatewayPid, 'SIGTERM')
    expect(await gateway.exited).toEqual({ code: 0, signal: null })
    expect(existsSync(join(gateway.home.path, 'gateway.json'))).toBe(false)
  })

  it('holdpoint down stops the gateway and its supervisor, even right after a crash', async () => {
    const gateway = await startSupervised()
    await gateway.runnerStarted()
    process.kill(gateway.gatewayPid, 'SIGKILL')
    expect(await runCliAgainst(gateway, ['down'])).toMatchObject({ code: 0, out: expect.stringContaining('gateway') })
    // 143 if the new gateway had not yet installed its handler for the signal.
    expect([0, 143]).toContain((await gateway.exited).code)
    expect([runningProcess(gateway.home, 'gateway'), gateway.runnerPid()]).toEqual([null, null])
  })

  it('a gateway counts as running while it restarts, so that commands wait for it and restore refuses to work', async () => {
    const gateway = await startSupervised({ runner: 'none' })
    process.kill(gateway.gatewayPid, 'SIGKILL')
    const [inbox, restore] = await Promise.all([
      runCliAgainst(gateway, ['inbox']),
      runCliAgainst(gateway, ['restore', 'nothing.db']),
    ])
    expect([inbox.code, inbox.err]).toEqual([0, 'No pending requests.\n'])
    expect([restore.code, restore.err]).toEqual([1, expect.stringContaining('The gateway is running')])
  })

  it('a restarted gateway does not print its first line again', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const up = startUp(gateway)
    await once(up.child.stdout, 'data')
    process.kill(up.gatewayPid(), 'SIGKILL')
    while (!up.err().includes('gateway.restarted')) await shortPause()
    up.child.kill('SIGTERM')
    expect((await once(up.child, 'close'))[0]).toBe(0)
    expect(up.out().trim().split('\n')).toHaveLength(1)
  })

  it('a restarted gateway does not accept data that was lost in a crash, although the person accepted an earlier loss', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const up = startUp(gateway, '--accept-data-loss')
    await once(up.child.stdout, 'data')
    const old = runningProcess(up.dataFolder, 'gateway') as PidFile // the gateway is running
    await new Promise(resolve => setTimeout(resolve, lossNoticedMs))
    up.child.kill('SIGSTOP')
    process.kill(old.pid, 'SIGKILL')
    while (isRunning(old)) await shortPause()
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${up.dataFolder.databaseFile}${suffix}`, { force: true })
    up.child.kill('SIGCONT')
    while ((up.err().match(/gateway\.ended/g) ?? []).length < 2) await shortPause()
    expect(up.err()).toMatch(/holdpoint: .*lost.*--accept-data-loss/)
    up.child.kill('SIGTERM')
    await once(up.child, 'exit')
  })
})

/** A loss of events that are younger than this may not be noticed. */
const lossNoticedMs = 1500

/** Starts `holdpoint up` with a data folder beside that of the gateway. */
function startUp(gateway: GatewayProcess, ...more: readonly string[]) {
  const dataFolder = openDataFolder(join(gateway.folder, 'other'))
  const words = ['up', '--json', '--port', '0', '--runner', 'none', '--home', dataFolder.path, ...more]
  const child = spawn(process.execPath, [holdpoint, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    printed.out += chunk
  })
  child.stderr.on('data', chunk => {
    printed.err += chunk
  })
  const gatewayPid = () => runningProcess(dataFolder, 'gateway')?.pid ?? Number.NaN
  return { child, dataFolder, gatewayPid, out: () => printed.out, err: () => printed.err }
}

it('holdpoint up shows a start-up error once, does not restart the gateway, and exits with the exit code of the gateway', async () => {
  const gateway = await startGateway({ runner: 'none' })
  const { code, out, err } = await runCli(['up', '--port', '0', '--home', gateway.home.path, '--json'])
  expect([code, out]).toEqual([1, ''])
  expect(err.trim().split('\n')).toEqual([expect.stringMatching(/in use by another gateway/)])
})

it.each([[[]], [['--json']], [['up', '--json']]])('holdpoint %j starts a supervised gateway', async words => {
  const gateway = await startGateway({ runner: 'none' })
  const home = join(gateway.folder, 'other')
  const env = { ...environmentFor(gateway), HOLDPOINT_HOME: home, HOLDPOINT_PORT: '0', HOLDPOINT_RUNNER: 'none' }
  const child = spawn(process.execPath, [holdpoint, ...words], {
    env,
    cwd: gateway.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  expect(JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8'))).toMatchObject({ supervisor: { pid: child.pid } })
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
})
