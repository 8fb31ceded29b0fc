/** Attacks a real gateway with raw connections: broken, oversized and slow requests, clients that never read, and floods of frames, requests and connections. During the attacks, another agent asks and a person answers, which must stay quick, and the memory of the gateway must not grow. `npm run flood` attacks for longer. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { httpCall } from '@holdpoint/client'
import type { Call } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { approval } from '../../packages/server/test/test-server.ts'
import { closeGateways, type GatewayProcess, startGateway } from '../support/gateway.ts'

const rounds = Number(process.env.HOLDPOINT_ROUNDS ?? '1')
const attackMs = 2000
const timeoutMs = 120_000 + rounds * 10_000
const flooder = join(import.meta.dirname, 'flooder.mjs')

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
})
afterAll(closeGateways)

async function newAgent(name: string): Promise<{ readonly secret: string; readonly call: Call }> {
  const { secret } = await gateway.call('addToken', { role: 'agent', name })
  return { secret, call: httpCall({ url: gateway.url, token: secret }) }
}

/** Runs the attacks in a separate process, so that they do not slow down the client that is measured. */
async function attack(): Promise<void> {
  const attacker = await newAgent('attacker')
  const { id } = await attacker.call('startSession', { driver: 'external' })
  const { port } = new URL(gateway.url)
  const child = spawn(process.execPath, [flooder, port, attacker.secret, id, String(attackMs)], { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  expect(code).toBe(0)
}

/** Asks and answers while the gateway is attacked, and returns how long each answer took. */
async function answerDuring(agent: Call, attacked: Promise<unknown>): Promise<number[]> {
  let isOver = false
  void attacked.finally(() => {
    isOver = true
  })
  const times: number[] = []
  const { id } = await agent('startSession', { driver: 'external' })
  for (let i = 0; !isOver; i++) {
    const request = await agent('openRequest', { id, key: `${i}`, ask: approval('meanwhile') })
    const start = performance.now()
    await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
    times.push(performance.now() - start)
  }
  return times
}

function percentile99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
}

/** Returns the memory of the gateway in MiB. */
function residentMiB(): number {
  const pages = Number(readFileSync(`/proc/${gateway.pid}/statm`, 'utf8').split(' ')[1])
  return (pages * 4096) / 1024 ** 2
}

describe('X6–X9, X15: a gateway that is attacked by raw connections', () => {
  it(
    'X6–X9, X15: a gateway that is attacked by raw connections serves other clients in less than a second, keeps its memory bounded, and works as before afterwards',
    async () => {
      const { call } = await newAgent('honest')
      // How long answers take without an attack on this machine, which may be busy.
      const usual = percentile99(await answerDuring(call, new Promise(resolve => setTimeout(resolve, 500))))
      await answerDuring(call, attack())
      const before = residentMiB()
      const times: number[] = []
      for (let i = 0; i < rounds; i++) times.push(...(await answerDuring(call, attack())))
      expect(times.length).toBeGreaterThan(5)
      expect(percentile99(times), 'milliseconds').toBeLessThan(1000 + usual)
      // Node returns memory to the system only after a while.
      await expect.poll(() => residentMiB() - before, { timeout: 30_000, interval: 500 }).toBeLessThan(100)
      expect(await gateway.call('whoAmI', {})).toMatchObject({ role: 'owner' })
    },
    timeoutMs,
  )
})
