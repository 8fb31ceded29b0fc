/** Checks the Unix socket of the data folder: where it is, who may have put it there, and that only one gateway uses it. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type DataFolder, lastGateway, openDataFolder, writeAtomically } from '../src/config/data-folder.ts'
import { type RunningGateway, startGateway } from '../src/gateway/up.ts'
import { findGateway } from '../src/gateway-client/gateway-client.ts'
import { unixWebSocket } from '../src/runner/gateway-web-socket.ts'

let folder: string
const gateways: RunningGateway[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-socket-'))
})
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close()
  rmSync(folder, { recursive: true })
})
async function start(dataFolder: DataFolder, config: Parameters<typeof startGateway>[0] = {}): Promise<RunningGateway> {
  const gateway = await startGateway({ port: 0, runner: 'none', ...config }, dataFolder)
  gateways.push(gateway)
  return gateway
}
const call = (dataFolder: DataFolder, url?: string) => findGateway(dataFolder, url, { attempts: 1 })?.call('whoAmI', {})
const longFolder = () => openDataFolder(join(folder, 'a-folder-with-a-long-name'.repeat(5)))

it('commands reach the gateway over the socket in its data folder, even if they are given its URL', async () => {
  const dataFolder = openDataFolder(join(folder, 'home'))
  const { url } = await start(dataFolder)
  const socket = join(dataFolder.path, 'gateway.sock')
  expect(lastGateway(dataFolder)).toMatchObject({ url, socket })
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  const { port } = new URL(url)
  for (const given of [undefined, url, `http://127.0.0.1:${port}`, `http://[::1]:${port}/`]) {
    expect(findGateway(dataFolder, given)?.connection.trusted, given).toBe(true)
    expect(await call(dataFolder, given)).toMatchObject({ person: 'owner' })
  }
  expect(findGateway(dataFolder, 'http://localhost:1')?.connection.trusted).toBe(false)
})

it('a data folder whose path is too long for a socket gets a socket in a temporary folder of its own', async () => {
  const dataFolder = longFolder()
  const gateway = await start(dataFolder)
  const socket = lastGateway(dataFolder)?.socket ?? ''
  expect(dirname(dirname(socket))).toBe(tmpdir())
  expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700)
  expect(await call(dataFolder)).toMatchObject({ person: 'owner' })
  await gateway.close()
  gateways.splice(0)
  expect(existsSync(dirname(socket))).toBe(false)
})

it('a gateway that was killed leaves its temporary folder, and the next gateway uses the folder again', async () => {
  const dataFolder = longFolder()
  await start(dataFolder)
  const pidFile = join(dataFolder.path, 'gateway.json')
  const left = readFileSync(pidFile, 'utf8')
  const { socket = '' } = lastGateway(dataFolder) ?? {}
  for (const gateway of gateways.splice(0)) await gateway.close()
  const again = mkdtempSync(join(tmpdir(), 'holdpoint-'))
  writeAtomically(pidFile, left.replaceAll(dirname(socket), again))
  await start(dataFolder)
  expect(lastGateway(dataFolder)?.socket).toBe(join(again, 'gateway.sock'))
})

it('F1: commands refuse a socket in a folder that others can change', async () => {
  const dataFolder = longFolder()
  await start(dataFolder)
  const { socket = '' } = lastGateway(dataFolder) ?? {}
  chmodSync(dirname(socket), 0o777)
  await expect(call(dataFolder)).rejects.toThrow(/other users can write to it.*chmod go-w/)
  chmodSync(dirname(socket), 0o700)
  expect(await call(dataFolder)).toMatchObject({ person: 'owner' })
})

it('a second gateway with the same data folder but another store does not start', async () => {
  const dataFolder = openDataFolder(join(folder, 'home'))
  await start(dataFolder)
  const store = `file:${join(folder, 'other.db')}`
  await expect(start(dataFolder, { store })).rejects.toThrow(/in use by another gateway/)
  expect(await call(dataFolder), 'commands still reach the first gateway').toMatchObject({ person: 'owner' })
})

it('commands say what to do if the gateway was started by a version without a socket', async () => {
  const dataFolder = openDataFolder(join(folder, 'home'))
  await start(dataFolder)
  const pidFile = join(dataFolder.path, 'gateway.json')
  const { socket: _, ...older } = JSON.parse(readFileSync(pidFile, 'utf8'))
  writeAtomically(pidFile, JSON.stringify(older))
  await expect(call(dataFolder)).rejects.toThrow(/older version.*holdpoint down, then holdpoint up/)
})

it('a gateway whose start fails stops sweeping, and logs no error about its closed store', async () => {
  const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const running = await start(openDataFolder(join(folder, 'home')))
    const port = Number(new URL(running.url).port)
    await expect(start(openDataFolder(join(folder, 'other')), { port })).rejects.toThrow(/port/i)
    // The sweep stores when a token was used. Once the running gateway has swept, a sweep of the gateway that failed to start would have run too.
    await running.call('whoAmI', {})
    await expect
      .poll(async () => (await running.call('listTokens', {})).items.some(({ lastUsedAt }) => lastUsedAt !== null))
      .toBe(true)
    const lines = logged.mock.calls.map(([line]) => String(line))
    expect(lines.filter(line => line.includes('gateway.error'))).toEqual([])
  } finally {
    logged.mockRestore()
  }
})

it('a connection to a gateway that is not running is closed at once, so that the runner retries soon', async () => {
  const WebSocket = unixWebSocket(() => {
    throw new Error('no gateway')
  })
  const socket = new WebSocket('ws://localhost/', [], { headers: {} })
  const events: string[] = []
  await new Promise<void>(resolve => {
    socket.onerror = () => events.push('error')
    socket.onclose = () => resolve(void events.push('close'))
  })
  expect(events).toEqual(['error', 'close'])
})
