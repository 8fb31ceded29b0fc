/** Tests finding F1: a gateway is killed, and another program takes over its port. Programs that were connected must not send it a credential, and continue when the gateway is back. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Request } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import {
  cleanEnvironment,
  closeGateways,
  type GatewayProcess,
  holdpoint,
  makeFolder,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { lastGateway, openDataFolder, writeAtomically } from '../src/config/data-folder.ts'
import { environmentFor } from './support/cli-process.ts'
import { rehearse, waitForLastMessage } from './support/gateway-fixture.ts'
import { type Impostor, isRoot, startImpostor } from './support/impostor.ts'
import { openSocketProxy, passOn } from './support/socket-proxy.ts'
import { closeTerminals, Terminal } from './support/terminal.ts'

const children: ChildProcess[] = []
let impostor: Impostor | undefined
afterEach(async () => {
  closeTerminals()
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await impostor?.stop()
  impostor = undefined
  await closeGateways()
})

interface Running {
  readonly child: ChildProcess
  output(): string
  /** Resolves with the exit code once all output is read. */
  readonly exited: Promise<number | null>
}
function start(gateway: GatewayProcess, words: readonly string[], env = environmentFor(gateway)): Running {
  const child = spawn(process.execPath, [holdpoint, ...words], { env, cwd: gateway.folder, stdio: 'pipe' })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
    })
  return { child, output: () => output, exited: once(child, 'close').then(([code]) => code) }
}

async function pendingRequests(gateway: GatewayProcess, count: number): Promise<readonly Request[]> {
  for (;;) {
    const { items } = await gateway.call('listRequests', { status: 'pending' })
    if (items.length >= count) return items
    await shortPause()
  }
}
async function allowAll(gateway: GatewayProcess, requests: readonly Request[]): Promise<void> {
  for (const { id, digest } of requests) await gateway.call('answerRequest', { id, digest, answer: { kind: 'allow' } })
}

/** Kills the gateway and lets the other program answer in its place for longer than any client pauses between two attempts to reconnect. */
async function takeOver(gateway: GatewayProcess): Promise<Impostor> {
  const { url } = gateway
  const socket = lastGateway(gateway.home)?.socket ?? ''
  await gateway.kill()
  impostor = await startImpostor(url, socket)
  const retryPauseMaxMs = 5000
  await new Promise(resolve => setTimeout(resolve, retryPauseMaxMs + 1000))
  return impostor
}
async function bringBack(gateway: GatewayProcess): Promise<void> {
  await impostor?.stop()
  impostor = undefined
  await gateway.start()
}

describe('F1, Z1: another program takes over the port of a killed gateway', () => {
  it('an impostor on the gateway’s port gets nothing from the runner, watch, tui, ask and guard of the data folder, which continue with the real gateway', async () => {
    const gateway = await startGateway()
    const { session } = await rehearse(gateway, 'approval')
    const watch = start(gateway, ['watch'])
    const ask = start(gateway, ['ask', 'Deploy?'])
    const guard = start(gateway, ['guard', '--', 'touch', 'ran.txt'])
    const tui = new Terminal(['tui'], { env: { HOLDPOINT_HOME: gateway.home.path } })
    await tui.waitFor('3 waiting')
    const requests = await pendingRequests(gateway, 3)
    const { bound, received } = await takeOver(gateway)
    expect(bound).toEqual(['listening', 'listening', isRoot ? 'EACCES' : 'not tried'])
    expect(watch.output()).toContain('Lost the connection')
    expect(received()).toBe('')
    expect(existsSync(join(gateway.folder, 'ran.txt'))).toBe(false)
    await bringBack(gateway)
    await allowAll(gateway, requests)
    expect([await ask.exited, await guard.exited]).toEqual([0, 0])
    expect(existsSync(join(gateway.folder, 'ran.txt'))).toBe(true)
    await waitForLastMessage(gateway, session)
    await expect.poll(() => watch.output()).toContain('Reconnected.')
    await tui.waitFor('Nothing')
  })

  it('an impostor on the gateway’s port gets no token from watch, ask, guard and a runner that were given its URL', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const elsewhere = openDataFolder(makeFolder(gateway, 'elsewhere'))
    writeAtomically(elsewhere.runnerTokenFile, gateway.home.runnerToken())
    const env = {
      ...cleanEnvironment(),
      HOLDPOINT_HOME: elsewhere.path,
      HOLDPOINT_URL: gateway.url,
      HOLDPOINT_TOKEN: gateway.token,
    }
    const runner = start(gateway, ['runner', '--url', gateway.url], env)
    const watch = start(gateway, ['watch'], env)
    const ask = start(gateway, ['ask', 'Deploy?'], env)
    const guard = start(gateway, ['guard', '--', 'touch', 'ran.txt'], env)
    const requests = await pendingRequests(gateway, 2)
    while ((await gateway.call('listRunners', {})).items[0]?.live !== true) await shortPause()
    const { received } = await takeOver(gateway)
    expect(watch.output()).toContain('Lost the connection')
    expect(received()).toContain('POST /api/v1/proof')
    for (const secret of [gateway.token, gateway.home.runnerToken()]) {
      expect(received()).not.toContain(secret)
      expect(received()).not.toContain(createHash('sha256').update(secret).digest('hex'))
    }
    expect(received()).not.toMatch(/authorization/i)
    expect(existsSync(join(gateway.folder, 'ran.txt'))).toBe(false)
    await bringBack(gateway)
    await allowAll(gateway, requests)
    expect([await ask.exited, await guard.exited]).toEqual([0, 0])
    while ((await gateway.call('listRunners', {})).items[0]?.live !== true) await shortPause()
    expect(runner.child.exitCode).toBeNull()
  })
})

describe('F1, Z1: guard and a gateway that lies', () => {
  const lies: readonly (readonly [string, (request: Request) => object])[] = [
    ['another command', request => ({ ...request, ask: { ...request.ask, input: { command: 'id', argv: ['id'] } } })],
    ['another id', request => ({ ...request, id: 'req_00000000000000000000' })],
    ['another digest', request => ({ ...request, digest: 'f'.repeat(64) })],
  ]
  it.each(lies)('holdpoint guard runs nothing if the gateway returns %s', async (_, lie) => {
    const gateway = await startGateway({ runner: 'none' })
    const proxy = await openSocketProxy(gateway, async ({ method, url }, reply, pass) => {
      const answered = await pass()
      if (method !== 'GET' || !url?.includes('/requests/')) return passOn(reply, answered)
      let body = ''
      for await (const chunk of answered) body += chunk
      reply.setHeader('content-type', 'application/json')
      reply.end(JSON.stringify(lie(JSON.parse(body))))
    })
    const guard = start(gateway, ['guard', '--home', proxy.home, '--', 'touch', 'ran.txt'])
    await allowAll(gateway, await pendingRequests(gateway, 1))
    expect(await guard.exited).toBe(1)
    expect(guard.output()).toMatch(/wrong reply for request req_.*Nothing was run/)
    expect(existsSync(join(gateway.folder, 'ran.txt'))).toBe(false)
    proxy.close()
  })
})
