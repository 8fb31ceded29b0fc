import { callAs, openGateway } from '@holdpoint/engine'
import { formatId } from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { expect, it } from 'vitest'
import { ManualClock } from '../../drivers/test/runner-fixture.ts'
import { busyMaxMs, keepLeaseAlive, leaseCheckMs } from '../src/gateway/lease-keepalive.ts'
import { nextFailures, restartDelayMs } from '../src/gateway/runner-supervisor.ts'

it('runners that fail come back ever more slowly, up to half a minute', () => {
  const crash = { code: 1, signal: null, uptimeMs: 100 }
  const pauses: number[] = []
  for (let failures = 0; pauses.length < 9; ) {
    failures = nextFailures(failures, crash)
    pauses.push(restartDelayMs(failures))
  }
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})

it('a runner that lived for a minute, or was stopped or killed, is no failure of many', () => {
  expect(restartDelayMs(nextFailures(7, { code: 1, signal: null, uptimeMs: 60_000 }))).toBe(500)
  expect(restartDelayMs(nextFailures(7, { code: null, signal: 'SIGKILL', uptimeMs: 1 }))).toBe(500)
  expect(restartDelayMs(nextFailures(7, { code: 0, signal: null, uptimeMs: 1 }))).toBe(500)
  expect(nextFailures(7, { code: null, signal: 'SIGSEGV', uptimeMs: 1 })).toBe(8)
})

async function setUp() {
  const clock = new ManualClock()
  const gateway = await openGateway({ store: await openMemory({ clock }), clock })
  const call = callAs(gateway, { role: 'runner', name: 'r', token: 'tok_runner', via: 'test' })
  const id = formatId('run', new Uint8Array(20))
  const { incarnation } = await call('announceRunner', { id, name: 'busy', drivers: [] })
  const process_ = { lives: true }
  const renew = keepLeaseAlive({ call, id, isProcessRunning: () => process_.lives, now: () => clock.now() })
  const live = async () => (await call('listRunners', {})).items[0]?.live
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += leaseCheckMs) {
      await clock.advance(leaseCheckMs)
      await renew()
    }
  }
  return { clock, gateway, call, id, incarnation, process_, live, pass }
}

it('a runner whose agent computes keeps its lease meanwhile', async () => {
  const { clock, gateway, live, pass, call, id, incarnation } = await setUp()
  await pass(40_000)
  expect(await live()).toBe(true)
  await clock.advance(1000)
  await call('renewRunner', { id, incarnation })
  await pass(busyMaxMs - 4000)
  expect(await live(), 'it was heard again meanwhile').toBe(true)
  await gateway.close()
})

it('a runner that hangs, or has died, does not', async () => {
  const hung = await setUp()
  await hung.pass(busyMaxMs + 20_000)
  expect(await hung.live()).toBe(false)
  await hung.gateway.close()
  const dead = await setUp()
  dead.process_.lives = false
  await dead.pass(20_000)
  expect(await dead.live()).toBe(false)
  await dead.gateway.close()
})
