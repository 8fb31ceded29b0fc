/** `holdpoint up`: runs the gateway in this process, serves the page, and keeps a runner running next to the gateway. */
import { once } from 'node:events'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type AgentMachine, callAs, type Gateway, openGateway } from '@holdpoint/engine'
import { type Call, Fault, messageOf } from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { defaultPort } from '../config/config.ts'
import type { Config } from '../config/config-schema.ts'
import {
  type DataFolder,
  lastGateway,
  removePidFile,
  runningProcess,
  tokenFileOf,
  writeAtomically,
  writeGatewayPidFile,
} from '../config/data-folder.ts'
import { chooseSocketPath, removeSocketFolder } from '../config/gateway-socket.ts'
import { CachedRulesFiles } from '../config/rules-file.ts'
import { crashPointOfProcess } from '../crash-points.ts'
import { log } from '../log.ts'
import { printNotice } from '../output/notice.ts'
import { isolateAgents } from '../runner/isolate-agents.ts'
import { abortOnSignal } from '../signals.ts'
import { version } from '../version.ts'
import { throwListenError } from './listen-error.ts'
import { isLoopback } from './loopback.ts'
import { checkFolder, machineFiles, realPath } from './machine-files.ts'
import { openStore, parseStoreLocation, type StoreLocation } from './open-store.ts'
import { superviseRunner } from './runner-supervisor.ts'
import { connectSupervisor, type SupervisorLink } from './supervisor-link.ts'
import { keepTerminals } from './terminal-sessions.ts'
import { alreadyRunning, remoteTexts, runnerStillRunning, welcomeText } from './texts.ts'
import { unavailableAgents } from './unavailable-agents.ts'

export interface RunningGateway {
  readonly url: string
  /** A one-time link that signs a browser in. */
  readonly link: string
  readonly gateway: Gateway
  /** Calls the gateway as its owner. */
  readonly call: Call
  /** Stops accepting calls, finishes the calls in progress and closes the store. A runner in its own process keeps running, and pending requests stay pending. */
  close(): Promise<void>
}

const dayMs = 24 * 3600 * 1000

export interface GatewayStartOptions {
  /** Whether to start although the store has lost events. */
  readonly acceptDataLoss?: boolean
  readonly supervisor?: SupervisorLink | null
}

export async function startGateway(
  config: Config,
  dataFolder: DataFolder,
  { acceptDataLoss = false, supervisor = null }: GatewayStartOptions = {},
): Promise<RunningGateway> {
  requireAcknowledgedHost(config)
  const crashPoint = crashPointOfProcess()
  const location = parseStoreLocation(config.store, dataFolder)
  const store = await openStore(location, dataFolder, { acceptDataLoss, ...(crashPoint ? { crashPoint } : {}) })
  let opened: Gateway | null = null
  try {
    const gateway = await openGateway({
      store,
      settings: settingsFrom(config),
      dataFolder: { folder: dataFolder.path, home: homedir(), realPath },
      machine: machineOf(dataFolder),
      tokenFiles: { write: (role, secret) => writeAtomically(tokenFileOf(dataFolder, role), secret) },
      onError: error => log({ event: 'gateway.error', message: messageOf(error) }),
    })
    opened = gateway
    const { asOwner, asRunner } = await registerFileTokens(gateway, dataFolder)
    const staticDir = pageFolder()
    const server = createServer({
      gateway,
      version,
      hosts: config.hosts ?? [],
      origins: originsOf(config),
      log,
      ...(staticDir ? { staticDir } : {}),
      ...(crashPoint ? { crashPoint } : {}),
    })
    const port = config.port ?? defaultPort
    const socketPath = await chooseSocketPath(dataFolder)
    const listening = await server
      .listen({
        port,
        socketPath,
        ...(config.host ? { host: config.host } : {}),
        ...(supervisor ? { keeper: supervisor.keeper } : {}),
      })
      .catch((error: NodeJS.ErrnoException) => throwListenError(error, port))
    const address = { url: listening.url, socket: socketPath, storeFile: storeFileOf(location) }
    writeGatewayPidFile(dataFolder, address, supervisor?.pid)
    const stopSupervising = await superviseRunner(config.runner ?? 'process', { dataFolder, config, call: asRunner })
    const stopKeeping = keepTerminals(dataFolder, asOwner)
    const { code } = await asOwner('makeLink', {})
    return {
      url: listening.url,
      link: `${listening.url}/#code=${code}`,
      gateway,
      call: asOwner,
      close: async () => {
        stopKeeping()
        await stopSupervising()
        await listening.close()
        removeSocketFolder(dataFolder, socketPath)
        await gateway.close()
        await store.close()
        removePidFile(dataFolder, 'gateway')
      },
    }
  } catch (error) {
    // Report the error that stopped the start, even if closing fails too. A gateway that stays open would keep sweeping the closed store.
    await opened?.close().catch(() => {})
    await store.close().catch(() => {})
    throw error
  }
}

function storeFileOf(location: StoreLocation): string | null {
  return location.kind === 'sqlite' ? realpathSync(location.file) : null
}

function machineOf(dataFolder: DataFolder): AgentMachine {
  const ruleFiles = new CachedRulesFiles(dataFolder, message => log({ event: 'rules.ignored', message }))
  return { runner: dataFolder.runnerId(), home: homedir(), files: machineFiles, checkFolder, ruleFiles }
}

/** Makes the tokens in the data folder valid, and returns calls with them. The tokens can be rotated while the gateway runs. */
async function registerFileTokens(
  gateway: Gateway,
  dataFolder: DataFolder,
): Promise<{ asOwner: Call; asRunner: Call }> {
  await gateway.ensureToken(dataFolder.ownerToken(), 'owner', 'owner', dataFolder.runnerId())
  await gateway.ensureToken(dataFolder.runnerToken(), 'runner', 'local runner', dataFolder.runnerId())
  return {
    asOwner: callAs(gateway, () => gateway.fileCaller('owner')),
    asRunner: callAs(gateway, () => gateway.fileCaller('runner')),
  }
}

function settingsFrom({ deadlineMs, onDeadline, parkAfterMs, retentionDays }: Config) {
  return {
    defaultCwd: process.cwd(),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(onDeadline === undefined ? {} : { onDeadline }),
    ...(parkAfterMs === undefined ? {} : { parkAfterMs }),
    ...(retentionDays === undefined ? {} : { retentionMs: retentionDays * dayMs }),
  }
}

/** Returns the origins of the page at the configured host names behind a reverse proxy with TLS. Without them, no browser could sign in there. */
function originsOf({ hosts = [] }: Config): readonly string[] {
  return hosts.map(host => `https://${host.toLowerCase()}`)
}

/** Throws if other machines could reach the gateway and the person has not allowed that. */
function requireAcknowledgedHost({ host, allowRemote }: Config): void {
  if (host !== undefined && !isLoopback(host) && !allowRemote) throw new Fault('bad_input', remoteTexts.refused(host))
}

/** Returns the folder of the built page, or undefined in a checkout that has not been built. */
function pageFolder(): string | undefined {
  const folder = join(createRequire(import.meta.url).resolve('@holdpoint/web/package.json'), '../dist/page')
  return existsSync(folder) ? folder : undefined
}

export interface UpOptions {
  readonly json?: boolean
  readonly acceptDataLoss?: boolean
  /** Set by the supervisor: whether this is its first gateway, or one that replaces a gateway that crashed. */
  readonly supervised?: 'first' | 'again'
}

/** Throws if a gateway of this data folder is running, and says where. */
export function requireNoGateway(dataFolder: DataFolder): void {
  if (!runningProcess(dataFolder, 'gateway')) return
  throw new Fault('store_locked', alreadyRunning(lastGateway(dataFolder)?.url ?? '', dataFolder.path))
}

/** Runs until SIGTERM or SIGINT, then finishes the calls in progress within five seconds. A second signal exits at once. */
export async function up(config: Config, dataFolder: DataFolder, options: UpOptions = {}): Promise<void> {
  const { json = false, supervised } = options
  const supervisor = connectSupervisor(supervised)
  const isRestart = supervised === 'again'
  if (config.runner === 'inline') isolateAgents()
  // The person accepted the loss that was known at the first start, not one caused by a later crash.
  const acceptDataLoss = options.acceptDataLoss === true && !isRestart
  if (!isRestart) requireNoGateway(dataFolder)
  const gateway = await startGateway(config, dataFolder, { acceptDataLoss, supervisor })
  if (config.host !== undefined && !isLoopback(config.host)) printNotice(remoteTexts.reachable(config.host))
  const { url, link } = gateway
  // Install the signal handlers before printing, because a script may send a signal as soon as it has read the first line.
  const stop = abortOnSignal('SIGTERM', 'SIGINT')
  const welcome = json
    ? JSON.stringify({ url, link, tokenFile: dataFolder.tokenFile })
    : welcomeText(gateway, dataFolder.path)
  await supervisor?.reportReady()
  if (!isRestart) print(welcome)
  if (config.runner !== 'none' && !isRestart) void warnAboutAgents(gateway, config)
  await Promise.race([once(stop, 'abort'), ...(supervisor ? [once(supervisor.gone, 'abort')] : [])])
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
  await gateway.close()
  if (!json && runningProcess(dataFolder, 'runner')) print(`\n${runnerStillRunning}`)
  process.exit(0)
}

async function warnAboutAgents({ call }: RunningGateway, { agents }: Config): Promise<void> {
  try {
    for (const warning of await unavailableAgents(call, agents)) printNotice(warning)
  } catch (error) {
    // The gateway was stopped in the meantime, or its store is unavailable. Starting a session with an unavailable agent reports the problem anyway.
    log({ event: 'agents.unchecked', message: messageOf(error) })
  }
}

/** Writes to stdout directly, because `console` goes to the log if the runner is inline. */
function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
