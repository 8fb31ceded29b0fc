/** `holdpoint runner`: runs drivers and their agents in a separate process, connected to the gateway by one socket. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { socketCall } from '@holdpoint/client'
import {
  acpDriver,
  acpProfiles,
  claudeDriver,
  codexDriver,
  type Driver,
  generatorDriver,
  opencodeDriver,
  type ProjectSettings,
  rehearsal,
  runRunner,
} from '@holdpoint/drivers'
import { type Call, Fault, RunnerId } from '@holdpoint/protocol'
import { type Config, executableKeys } from '../config/config-schema.ts'
import { type DataFolder, removePidFile, runningProcess, writeRunnerPidFile } from '../config/data-folder.ts'
import { gatewaySocket } from '../config/gateway-socket.ts'
import { trustsAgentSettings } from '../config/trust.ts'
import { crashPointOfProcess } from '../crash-points.ts'
import { routeTo } from '../gateway-client/gateway-client.ts'
import { log } from '../log.ts'
import { abortOnSignal } from '../signals.ts'
import { configuredDrivers } from './configured-agents.ts'
import { tcpWebSocket, unixWebSocket } from './gateway-web-socket.ts'
import { isolateAgents } from './isolate-agents.ts'

async function loadDrivers(config: Config, dataFolder: DataFolder): Promise<Driver[]> {
  return [
    generatorDriver(rehearsal),
    ...localAgentDrivers(config, dataFolder),
    ...(await configuredDrivers(config.agents, { folder: acpFolder(dataFolder), ...trustOf(dataFolder) })),
  ]
}

/** Returns the drivers of agents that somebody else wrote, with this installation's settings. */
export function localAgentDrivers(config: Config, dataFolder: DataFolder): readonly Driver[] {
  const { claude, codex, opencode } = config
  const trust = trustOf(dataFolder)
  return [
    claudeDriver({
      folder: join(dataFolder.path, 'claude'),
      protectedFolder: dataFolder.path,
      ...trust,
      ...(claude !== undefined && { executable: claude }),
    }),
    codexDriver({
      folder: join(dataFolder.path, 'codex'),
      protectedFolder: dataFolder.path,
      ...(codex !== undefined && { executable: codex }),
    }),
    opencodeDriver({
      folder: join(dataFolder.path, 'opencode'),
      ...trust,
      ...(opencode !== undefined && { executable: opencode }),
    }),
    ...acpProfiles.map(profile => {
      const executable = executableOf(profile.name, config)
      return acpDriver(profile, {
        folder: acpFolder(dataFolder),
        ...trust,
        ...(executable !== undefined && { executable }),
      })
    }),
  ]
}
function executableOf(driver: string, config: Config): string | undefined {
  const key = executableKeys.find(name => name === driver)
  return key && config[key]
}
function trustOf(dataFolder: DataFolder) {
  return { trustsProjectSettings: (settings: ProjectSettings) => trustsAgentSettings(dataFolder, settings) }
}
function acpFolder(dataFolder: DataFolder): string {
  return join(dataFolder.path, 'acp')
}

interface RunInProcessOptions {
  readonly call: Call
  readonly id: RunnerId
  readonly config: Config
  readonly dataFolder: DataFolder
  readonly signal: AbortSignal
}

export async function runInProcess({ call, id, config, dataFolder, signal }: RunInProcessOptions): Promise<void> {
  const crashPoint = crashPointOfProcess()
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

/** Runs until a signal arrives or the gateway has been unreachable for too long. */
export async function runnerProcess(config: Config, dataFolder: DataFolder, url?: string): Promise<void> {
  const other = runningProcess(dataFolder, 'runner')
  if (other && other.pid !== process.pid)
    throw new Fault('lease_held', `A runner for ${dataFolder.path} is already running (process ${other.pid})`)
  writeRunnerPidFile(dataFolder, process.pid)
  isolateAgents()
  const route = routeTo(dataFolder, url)
  const socket = socketCall({
    ...route,
    // The token can be rotated while the runner runs, so the file is read for every connection.
    token: () => dataFolder.runnerToken(),
    WebSocket: route.trusted ? unixWebSocket(() => gatewaySocket(dataFolder)) : tcpWebSocket,
  })
  const signal = abortOnSignal('SIGTERM', 'SIGINT', 'SIGHUP')
  try {
    const id = url === undefined ? dataFolder.runnerId() : await idOfToken(socket.call, signal)
    await runInProcess({ call: socket.call, id, config, dataFolder, signal })
  } finally {
    socket.close()
    removePidFile(dataFolder, 'runner')
  }
}

/** Resolves with the id of the runner that the token belongs to. A runner on another machine has a data folder of its own, whose id the gateway does not know. */
async function idOfToken(call: Call, signal: AbortSignal): Promise<RunnerId> {
  const id = RunnerId.safeParse((await call('whoAmI', {}, { signal })).id)
  if (id.success) return id.data
  throw new Fault('forbidden', 'The file runner-token does not contain the token of a runner')
}
