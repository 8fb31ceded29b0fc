/** `holdpoint up`: the gateway in this process, its runner beside it, the page in front; and an orderly way down. */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { callAs, type Gateway, openGateway } from '@holdpoint/engine'
import { type Call, escapeInvisible, Fault, messageOf } from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { type Config, defaultPort } from '../config/config.ts'
import { type DataFolder, removePidFile, runningProcess, writePidFile } from '../config/data-folder.ts'
import { crashPointFrom } from '../crash-points.ts'
import { log } from '../log.ts'
import { unavailableAgents } from '../runner/configured-agents.ts'
import { isolateAgents } from '../runner/isolate-agents.ts'
import { version } from '../version.ts'
import { openStore, parseStoreLocation } from './open-store.ts'
import { superviseRunner } from './runner-supervisor.ts'

export interface RunningGateway {
  readonly url: string
  readonly link: string
  readonly gateway: Gateway
  /** As the owner. */
  readonly call: Call
  /** Stops taking calls, drains, closes the archive. The runner lives on: what its agents ask keeps waiting. */
  close(): Promise<void>
}

const dayMs = 24 * 3600 * 1000

export async function startGateway(config: Config, home: DataFolder): Promise<RunningGateway> {
  const crashPoint = crashPointFrom(process.env)
  const store = await openStore(parseStoreLocation(config.store, home), crashPoint)
  try {
    const gateway = await openGateway({
      store,
      settings: {
        defaultCwd: process.cwd(),
        ...(config.deadlineMs === undefined ? {} : { deadlineMs: config.deadlineMs }),
        ...(config.onDeadline === undefined ? {} : { onDeadline: config.onDeadline }),
        ...(config.parkAfterMs === undefined ? {} : { parkAfterMs: config.parkAfterMs }),
        ...(config.retentionDays === undefined ? {} : { retentionMs: config.retentionDays * dayMs }),
      },
      onError: error => log({ event: 'gateway.trouble', message: messageOf(error) }),
    })
    const owner = await gateway.ensureToken(home.ownerToken(), 'person', 'owner')
    const runner = await gateway.ensureToken(home.runnerToken(), 'runner', 'local runner')
    const page = pageFolder()
    const server = createServer({
      gateway,
      version,
      hosts: config.hosts ?? [],
      log,
      ...(page ? { staticDir: page } : {}),
      ...(crashPoint ? { crashPoint } : {}),
    })
    const listening = await server
      .listen({ port: config.port ?? defaultPort, ...(config.host ? { host: config.host } : {}) })
      .catch(explainListenError)
    writePidFile(home, 'gateway', process.pid, listening.url)
    const stopKeeping = await superviseRunner(config.runner ?? 'process', {
      dataFolder: home,
      config,
      call: callAs(gateway, runner),
    })
    const { code } = (await gateway.dispatch(owner, 'makeLink', {})).body
    return {
      url: listening.url,
      link: `${listening.url}/#code=${code}`,
      gateway,
      call: callAs(gateway, owner),
      close: async () => {
        await stopKeeping()
        await listening.close()
        await gateway.close()
        await store.close()
        removePidFile(home, 'gateway')
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

function explainListenError(error: NodeJS.ErrnoException): never {
  const why = listenErrors[error.code ?? '']
  if (!why) throw error
  throw new Fault(error.code === 'EADDRINUSE' ? 'store_locked' : 'bad_input', why)
}
const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'The port is taken; choose another with --port N, or --port 0 for any',
  EADDRNOTAVAIL:
    'The address of --host is not one of this machine; leave it out for 127.0.0.1, or give 0.0.0.0 for all',
  ENOTFOUND: 'The name of --host is not known; leave it out for 127.0.0.1, or give 0.0.0.0 for all',
  EACCES: 'This port needs rights that this user has not; choose one above 1023 with --port N',
}

/** Where the built page is; a checkout that was not built has none. */
function pageFolder(): string | undefined {
  const folder = join(createRequire(import.meta.url).resolve('@holdpoint/web/package.json'), '../dist/page')
  return existsSync(folder) ? folder : undefined
}

/** Runs until SIGTERM or SIGINT, then drains within five seconds. A second signal ends at once. */
export async function up(config: Config, home: DataFolder, json: boolean): Promise<void> {
  if (config.runner === 'inline') isolateAgents()
  const gateway = await startGateway(config, home)
  const { url, link } = gateway
  // Before the first word: whoever reads it may send a signal at once.
  const told = new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  print(json ? JSON.stringify({ url, link, tokenFile: home.tokenFile }) : welcome(gateway, home))
  if (config.runner !== 'none') void warnAboutAgents(gateway, config)
  await told
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
  await gateway.close()
  if (!json && runningProcess(home, 'runner'))
    print('\nStopped. Pending requests wait. The runner keeps its agents for a while; `holdpoint down` ends it too.')
  process.exit(0)
}

async function warnAboutAgents({ call }: RunningGateway, { agents }: Config): Promise<void> {
  try {
    for (const sentence of await unavailableAgents(call, agents))
      process.stderr.write(`holdpoint: ${escapeInvisible(sentence)}\n`)
  } catch (error) {
    // The gateway has been stopped meanwhile, or its archive is away: whoever starts a session is told.
    log({ event: 'agents.unchecked', message: messageOf(error) })
  }
}

/** Not by console, which belongs to the agents where they run in this process. */
function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function welcome({ url, link }: RunningGateway, home: DataFolder): string {
  return [
    `Holdpoint is ready at ${url}`,
    '',
    `  Open   ${link}`,
    '         (works once, for ten minutes; `holdpoint link` makes another)',
    `  Data   ${home.path}`,
    '  Try    holdpoint rehearse      an agent that plays every kind of question',
    '',
    'Ctrl+C stops the gateway; what waits goes on waiting.',
  ].join('\n')
}
