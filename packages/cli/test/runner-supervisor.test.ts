import { existsSync } from 'node:fs'
import { callAs, openGateway } from '@holdpoint/engine'
import { formatId } from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { expect, it } from 'vitest'
import { ManualClock } from '../../drivers/test/runner-fixture.ts'
import { busyMaxMs, keepLeaseAlive, leaseCheckMs } from '../src/gateway/lease-keepalive.ts'
import { nextFailures, programFile } from '../src/gateway/runner-supervisor.ts'
import { restartDelayMs } from '../src/supervisor/restart-delay.ts'

it('programFile returns the path of an existing file, even outside the bundle', () => {
  expect(existsSync(programFile()), programFile()).toBe(true)
})

it('a runner that keeps failing is restarted with growing delays of up to 30 seconds', () => {
  const crash = { code: 1, signal: null, uptimeMs: 100 }
  const pauses: number[] = []
  for (let failures = 0; pauses.length < 9; ) {
    failures = nextFailures(failures, crash)
    pauses.push(restartDelayMs(failures, 500))
  }
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})

it('the restart delay is reset after a runner ran for a minute, was stopped or was killed', () => {
  expect(restartDelayMs(nextFailures(7, { code: 1, signal: null, uptimeMs: 60_000 }), 500)).toBe(500)
  expect(restartDelayMs(nextFailures(7, { code: null, signal: 'SIGKILL', uptimeMs: 1 }), 500)).toBe(500)
  expect(restartDelayMs(nextFailures(7, { code: 0, signal: null, uptimeMs: 1 }), 500)).toBe(500)
  expect(nextFailures(7, { code: null, signal: 'SIGSEGV', uptimeMs: 1 })).toBe(8)
})

async function setUp() {
  const clock = new ManualClock()
  const gateway = await openGateway({ store: await openMemory({ clock }), clock })
  const id = formatId('run', new Uint8Array(20))
  const call = callAs(gateway, { role: 'runner', id, name: 'r', token: 'tok_runner', via: 'api' })
  const { incarnation } = await call('announceRunner', { id, name: 'busy', drivers: [] })
  const runnerProcess = { isRunning: true }
  const renew = keepLeaseAlive({ call, id, isProcessRunning: () => runnerProcess.isRunning, now: () => clock.now() })
  const isLive = async () => (await call('listRunners', {})).items[0]?.live
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += leaseCheckMs) {
      await clock.advance(leaseCheckMs)
      await renew()
    }
  }
  return { clock, gateway, call, id, incarnation, runnerProcess, isLive, pass }
}

it('a runner that is blocked by a busy agent keeps its lease', async () => {
  const { clock, gateway, isLive, pass, call, id, incarnation } = await setUp()
  await pass(40_000)
  expect(await isLive()).toBe(true)
  await clock.advance(1000)
  await call('renewRunner', { id, incarnation })
  await pass(busyMaxMs - 4000)
  expect(await isLive(), 'its own renewal restarted the limit').toBe(true)
  await gateway.close()
})

it('a runner that hangs or has exited loses its lease', async () => {
  const hung = await setUp()
  await hung.pass(busyMaxMs + 20_000)
  expect(await hung.isLive()).toBe(false)
  await hung.gateway.close()
  const dead = await setUp()
  dead.runnerProcess.isRunning = false
  await dead.pass(20_000)
  expect(await dead.isLive()).toBe(false)
  await dead.gateway.close()
})
