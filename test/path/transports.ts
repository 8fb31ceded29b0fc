/** The setups of the path suite: three transports to the gateway, and a runner inline or as its own process. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Connection,
  httpCall,
  inProcess,
  inProcessCall,
  type SocketConstructor,
  socketCall,
  watchEvents,
} from '@holdpoint/client'
import { generatorDriver, rehearsal, runRunner } from '@holdpoint/drivers'
import { callAs, openGateway } from '@holdpoint/engine'
import type { Call, Frame } from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { openSqlite } from '@holdpoint/store'
import { WebSocket } from 'ws'
import { type DataFolder, openDataFolder } from '../../packages/cli/src/config/data-folder.ts'
import player from '../support/agents/player.mjs'
import { agentsFolder, cleanEnvironment, holdpoint, startGateway, trustConfigIn } from '../support/gateway.ts'

export const transports = ['in process', 'HTTP', 'WebSocket'] as const
export const runners = ['inline', 'process'] as const
export type Transport = (typeof transports)[number]
export type RunnerKind = (typeof runners)[number]

export interface PathSetup {
  /** Makes calls as the owner over the transport. */
  readonly call: Call
  callAs(token: string): Call
  watch(options: { readonly after?: string; readonly signal: AbortSignal }): AsyncIterable<Frame>
  close(): Promise<void>
}

const config = { agents: { player: join(agentsFolder, 'player.mjs') } }
const socketClass = WebSocket as unknown as SocketConstructor // the class of ws has the same methods, but its types differ

export async function openPathSetup(transport: Transport, runner: RunnerKind): Promise<PathSetup> {
  return transport === 'in process' ? openInProcess(runner) : openGatewayProcess(transport, runner)
}

async function openGatewayProcess(transport: 'HTTP' | 'WebSocket', runner: RunnerKind): Promise<PathSetup> {
  const gateway = await startGateway({ runner, config })
  const { url, token } = gateway
  if (transport === 'HTTP') {
    const watch: PathSetup['watch'] = options => watchEvents({ url, token }, options)
    return { call: gateway.call, callAs: other => httpCall({ url, token: other }), watch, close: () => gateway.close() }
  }
  const sockets: { close(): void }[] = []
  const openSocket = (secret: string) => {
    const socket = socketCall({ url, token: secret, WebSocket: socketClass })
    sockets.push(socket)
    return socket
  }
  return {
    call: openSocket(token).call,
    callAs: other => openSocket(other).call,
    watch: options => openSocket(token).watch(options),
    async close() {
      for (const socket of sockets) socket.close()
      await gateway.close()
    },
  }
}

/** Runs the gateway in this process and calls the server's `fetch` directly. A runner in its own process still needs a port. */
async function openInProcess(kind: RunnerKind): Promise<PathSetup> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-path-'))
  const home = openDataFolder(join(folder, 'home'))
  const store = await openSqlite({ file: home.databaseFile })
  const gateway = await openGateway({ store, settings: { defaultCwd: folder } })
  await gateway.ensureToken(home.ownerToken(), 'owner', 'owner')
  const runnerCaller = await gateway.ensureToken(home.runnerToken(), 'runner', 'runner', home.runnerId())
  const server = createServer({ gateway })
  const connection: Connection = inProcess(server.fetch, { token: home.ownerToken() })
  const listening = await server.listen({ port: 0 })
  const stop = new AbortController()
  const running =
    kind === 'inline'
      ? runRunner({
          call: callAs(gateway, runnerCaller),
          id: home.runnerId(),
          name: 'inline',
          drivers: [rehearsal, player].map(agent => generatorDriver(agent)),
          signal: stop.signal,
        })
      : runnerProcess(folder, home, listening.url, stop.signal)
  return {
    call: httpCall(connection),
    callAs: token => inProcessCall(server.fetch, { token }),
    watch: options => watchEvents(connection, options),
    async close() {
      stop.abort()
      await running
      await listening.close()
      await gateway.close()
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function runnerProcess(folder: string, home: DataFolder, url: string, signal: AbortSignal): Promise<void> {
  writeFileSync(join(folder, 'holdpoint.config.json'), JSON.stringify(config))
  trustConfigIn(folder, home)
  const args = [holdpoint, 'runner', '--home', home.path, '--url', url]
  const child = spawn(process.execPath, args, { cwd: folder, env: cleanEnvironment(), stdio: 'ignore' })
  const killChild = () => child.kill('SIGKILL')
  process.once('exit', killChild)
  signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
  return new Promise(resolve => {
    child.once('exit', () => {
      process.off('exit', killChild)
      resolve()
    })
  })
}
