/** The runner: drivers and their agents, in a process of their own, connected to the gateway by one socket. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type SocketConstructor, socketCall } from '@holdpoint/client'
import { claudeDriver, type Driver, generatorDriver, rehearsal, runRunner } from '@holdpoint/drivers'
import { type Call, Fault, type RunnerId } from '@holdpoint/protocol'
import { WebSocket } from 'ws'
import type { Config } from '../config/config.ts'
import { type DataFolder, lastUrl, removePidFile, runningProcess, writePidFile } from '../config/data-folder.ts'
import { crashPointFrom } from '../crash-points.ts'
import { log } from '../log.ts'
import { configuredDrivers } from './configured-agents.ts'
import { isolateAgents } from './isolate-agents.ts'

async function loadDrivers(config: Config, home: DataFolder): Promise<Driver[]> {
  return [generatorDriver(rehearsal), localClaudeDriver(config, home), ...(await configuredDrivers(config.agents))]
}

/** Claude Code as this installation runs it. */
export function localClaudeDriver({ claude }: Config, home: DataFolder): Driver {
  return claudeDriver({ folder: join(home.path, 'claude'), ...(claude !== undefined && { executable: claude }) })
}

interface RunInProcessOptions {
  readonly call: Call
  readonly id: RunnerId
  readonly config: Config
  readonly dataFolder: DataFolder
  readonly signal: AbortSignal
}

export async function runInProcess({ call, id, config, dataFolder, signal }: RunInProcessOptions): Promise<void> {
  const crashPoint = crashPointFrom(process.env)
  await runRunner({
    call,
    id,
    name: hostname(),
    drivers: await loadDrivers(config, dataFolder),
    signal,
    ...(crashPoint ? { crashPoint } : {}),
    log,
  })
}

/** `holdpoint runner`: until it is told to stop, or the gateway has been gone for too long. */
export async function runnerProcess(config: Config, home: DataFolder, url?: string): Promise<void> {
  const other = runningProcess(home, 'runner')
  if (other && other.pid !== process.pid)
    throw new Fault('lease_held', `A runner of ${home.path} runs already (process ${other.pid})`)
  writePidFile(home, 'runner', process.pid)
  isolateAgents()
  const where = () => url ?? lastUrl(home) ?? 'http://127.0.0.1:4747'
  const line = socketCall({
    url: where,
    token: home.runnerToken(),
    WebSocket: WebSocket as unknown as SocketConstructor,
    via: 'runner',
  })
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stop.abort())
  try {
    await runInProcess({ call: line.call, id: home.runnerId(), config, dataFolder: home, signal: stop.signal })
  } finally {
    line.close()
    removePidFile(home, 'runner')
  }
}
