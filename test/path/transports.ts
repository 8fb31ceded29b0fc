/** Where the path is walked: three ways for people to reach the gateway, and a runner inline or as a process. */
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
import { openDataFolder } from '../../packages/cli/src/config/data-folder.ts'
import player from '../support/agents/player.mjs'
import { agentsFolder, holdpoint, plainEnvironment, startGateway } from '../support/gateway.ts'

export const transports = ['in process', 'HTTP', 'WebSocket'] as const
export const runners = ['inline', 'process'] as const
export type Transport = (typeof transports)[number]
export type RunnerKind = (typeof runners)[number]

export interface Place {
  /** As the owner, over this place's transport. */
  readonly call: Call
  callAs(token: string): Call
  watch(options: { readonly after?: string; readonly signal: AbortSignal }): AsyncIterable<Frame>
  close(): Promise<void>
}

const config = { agents: { player: join(agentsFolder, 'player.mjs') } }
const socketClass = WebSocket as unknown as SocketConstructor // the shape is the same, the types are not

export async function openPlace(transport: Transport, runner: RunnerKind): Promise<Place> {
  return transport === 'in process' ? openInProcess(runner) : openOutside(transport, runner)
}

async function openOutside(transport: 'HTTP' | 'WebSocket', runner: RunnerKind): Promise<Place> {
  const gateway = await startGateway({ runner, config })
  const { url, token } = gateway
  if (transport === 'HTTP') {
    const watch: Place['watch'] = options => watchEvents({ url, token }, options)
    return { call: gateway.call, callAs: other => httpCall({ url, token: other }), watch, close: () => gateway.close() }
  }
  const lines: { close(): void }[] = []
  const line = (who: string) => {
    const made = socketCall({ url, token: who, WebSocket: socketClass })
    lines.push(made)
    return made
  }
  return {
    call: line(token).call,
    callAs: other => line(other).call,
    watch: options => line(token).watch(options),
    async close() {
      for (const each of lines) each.close()
      await gateway.close()
    },
  }
}

/** The gateway in this process, reached by the server's own `fetch`; a runner of its own needs a port all the same. */
async function openInProcess(kind: RunnerKind): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-path-'))
  const home = openDataFolder(join(folder, 'home'))
  const store = await openSqlite({ file: home.databaseFile })
  const gateway = await openGateway({ store, settings: { defaultCwd: folder } })
  await gateway.ensureToken(home.ownerToken(), 'person', 'owner')
  const runnerCaller = await gateway.ensureToken(home.runnerToken(), 'runner', 'runner')
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
      : runnerProcess(folder, home.path, listening.url, stop.signal)
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

function runnerProcess(folder: string, home: string, url: string, signal: AbortSignal): Promise<void> {
  writeFileSync(join(folder, 'holdpoint.config.json'), JSON.stringify(config))
  const words = [holdpoint, 'runner', '--home', home, '--url', url]
  const child = spawn(process.execPath, words, { cwd: folder, env: plainEnvironment(), stdio: 'ignore' })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
  return new Promise(resolve => {
    child.once('exit', () => {
      process.off('exit', end)
      resolve()
    })
  })
}
