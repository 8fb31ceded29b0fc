/** Runs a real gateway process and its runner in a temporary folder, by default without a supervisor. Tests can kill the gateway and restart it on the same port; the folder is removed at the end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { httpCall } from '@holdpoint/client'
import type { Call } from '@holdpoint/protocol'
import { configFileIn, readConfigFile } from '../../packages/cli/src/config/config-file.ts'
import { type DataFolder, openDataFolder, runningProcess } from '../../packages/cli/src/config/data-folder.ts'
import { trustFile } from '../../packages/cli/src/config/trust.ts'

const root = resolve(import.meta.dirname, '../..')
export const holdpoint = join(root, 'packages/cli/bin/holdpoint.js')
export const agentsFolder = join(import.meta.dirname, 'agents')

export interface GatewayOptions {
  readonly runner?: 'process' | 'inline' | 'none'
  readonly store?: string
  /** Whether to start `holdpoint up`, which restarts the gateway after a crash, instead of `holdpoint gateway`. */
  readonly supervised?: boolean
  /** Options of Node, such as a limit on memory. */
  readonly execArgv?: readonly string[]
  /** The content of holdpoint.config.json. */
  readonly config?: object
  /** Whether to trust that file before each start. The default is true. */
  readonly trusted?: boolean
  /** The umask of the gateway. The default is that of the tests. */
  readonly umask?: number
  readonly env?: Readonly<Record<string, string>>
  /** The largest file that the gateway may write. */
  readonly fileSizeMaxKiB?: number
}
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class GatewayProcess {
  /** The working folder, with the config file and the data folder. */
  readonly folder = mkdtempSync(join(tmpdir(), 'holdpoint-test-'))
  readonly home: DataFolder
  readonly #options: GatewayOptions
  #fileSizeMaxKiB: number | undefined
  #child: ChildProcess | null = null
  #port = 0
  url = ''
  link = ''
  stderr = ''
  /** Resolves when the current process has exited. */
  exited: Promise<Exit> = Promise.resolve({ code: 0, signal: null })

  constructor(options: GatewayOptions) {
    this.#options = options
    this.#fileSizeMaxKiB = options.fileSizeMaxKiB
    this.home = openDataFolder(join(this.folder, 'home'))
    writeFileSync(join(this.folder, 'holdpoint.config.json'), JSON.stringify(options.config ?? {}))
    openGateways.add(this)
  }

  get token(): string {
    return this.home.ownerToken()
  }
  /** Makes calls as the owner, and retries with the same key while the gateway is down. */
  get call(): Call {
    return this.callAs(this.token)
  }
  callAs(token: string): Call {
    return httpCall({ url: this.url, token, attempts: 12 })
  }
  /** The pid of the process that was started: the gateway or, if it is supervised, its supervisor. */
  get pid(): number {
    if (!this.#child?.pid) throw new Error('this gateway is not running')
    return this.#child.pid
  }
  /** The pid of the gateway in its pid file. */
  get gatewayPid(): number {
    const found = runningProcess(this.home, 'gateway')
    if (!found) throw new Error('this gateway is not running')
    return found.pid
  }

  /** Starts the gateway, or restarts it on its previous port. */
  async start(
    env: Readonly<Record<string, string>> = this.#options.env ?? {},
    more: readonly string[] = [],
  ): Promise<void> {
    const { runner = 'process', store, supervised = false, execArgv = [], trusted = true } = this.#options
    if (trusted) trustConfigIn(this.folder, this.home)
    const options = ['--json', '--port', String(this.#port), '--home', this.home.path, '--runner', runner, ...more]
    const args = [supervised ? 'up' : 'gateway', ...options]
    if (store) args.push('--store', store)
    const command = [process.execPath, ...execArgv, holdpoint, ...args]
    const setup = this.#shellSetup()
    const inShell = ['/bin/sh', '-c', `${setup} exec "$@"`, 'sh', ...command]
    const [program = '', ...words] = setup === '' ? command : inShell
    const child = spawn(program, words, {
      cwd: this.folder,
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    const closed = once(child, 'close')
    this.exited = new Promise(done => {
      child.once('exit', (code, signal) => done({ code, signal }))
    })
    child.stderr.on('data', chunk => {
      this.stderr += chunk
    })
    const first = await firstLine(child)
    if (first === null) {
      // The last output of the process may be read after its exit.
      await closed
      throw new Error(`the gateway did not start: ${this.stderr}`)
    }
    const { url, link } = JSON.parse(first) as { url: string; link: string } // with --json, the first line of output has these fields
    this.url = url
    this.link = link
    this.#port = Number(new URL(url).port)
  }

  /** The shell commands that change the process before the gateway starts in it. */
  #shellSetup(): string {
    const { umask } = this.#options
    // A block of `ulimit -f` in sh has 512 bytes.
    const limit = this.#fileSizeMaxKiB === undefined ? '' : `ulimit -f ${this.#fileSizeMaxKiB * 2};`
    return `${umask === undefined ? '' : `umask ${umask.toString(8)};`}${limit}`
  }
  liftFileSizeLimit(): void {
    this.#fileSizeMaxKiB = undefined
  }

  /** Makes the next start use another port. */
  changePort(): void {
    this.#port = 0
  }

  runnerPid(): number | null {
    return runningProcess(this.home, 'runner')?.pid ?? null
  }
  /** Returns the pids of all runners, including runners that were just started and have not written their pid file yet. */
  runnerPids(): number[] {
    const gateways = new Set([this.#child?.pid, runningProcess(this.home, 'gateway')?.pid])
    return processesOf(this.home).filter(pid => !gateways.has(pid))
  }
  /** Waits until the runner has written its pid file. */
  async runnerStarted(): Promise<number> {
    for (;;) {
      const pid = this.runnerPid()
      if (pid !== null) return pid
      await shortPause()
    }
  }

  async kill(): Promise<void> {
    const found = runningProcess(this.home, 'gateway')
    this.#child?.kill('SIGKILL')
    if (found && this.#options.supervised) killProcess(found.pid)
    await this.exited
  }
  async stop(): Promise<Exit> {
    this.#child?.kill('SIGTERM')
    return this.exited
  }
  /** Kills all runners and waits until the runner of the pid file has exited. */
  async killRunner(): Promise<void> {
    for (const pid of this.runnerPids()) killProcess(pid)
    while (this.runnerPid() !== null) await shortPause()
  }

  /** Kills the gateway and its runner, and removes the folder. The gateway is killed first, because it would restart its runner. */
  async close(): Promise<void> {
    await this.kill()
    await this.killRunner()
    this.killAndRemove()
  }
  /** Does the same as `close` without waiting, for the exit of the test process. */
  killAndRemove(): void {
    for (const pid of processesOf(this.home)) killProcess(pid)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
    openGateways.delete(this)
  }
}

const openGateways = new Set<GatewayProcess>()
process.once('exit', () => {
  for (const gateway of openGateways) gateway.killAndRemove()
})

export async function startGateway(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const gateway = new GatewayProcess(options)
  await gateway.start()
  return gateway
}

/** Closes every gateway that the test file has started. Pass this function to `afterEach` or `afterAll`. */
export async function closeGateways(): Promise<void> {
  await Promise.all([...openGateways].map(gateway => gateway.close()))
}

/** Trusts the config file of a folder, as `holdpoint trust --yes` does. */
export function trustConfigIn(folder: string, home: DataFolder): void {
  const found = readConfigFile(configFileIn(folder))
  if (found) trustFile(home, found)
}

/** Makes a folder that is removed with the gateway. */
export function makeFolder(gateway: GatewayProcess, name: string): string {
  const folder = join(gateway.folder, name)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Returns the environment without HOLDPOINT_ variables. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDPOINT_')))
}

export function shortPause(): Promise<void> {
  return new Promise(done => setTimeout(done, 20))
}

function firstLine(child: ChildProcess): Promise<string | null> {
  return new Promise(done => {
    if (!child.stdout) return done(null)
    const lines = createInterface(child.stdout)
    lines.once('line', done)
    lines.once('close', () => done(null))
  })
}

/** Finds the processes of this data folder by their pid files, and in /proc by their arguments, because a runner that was just started has no pid file yet. */
function processesOf(home: DataFolder): number[] {
  const fromPidFiles = (['gateway', 'runner'] as const).flatMap(name => runningProcess(home, name)?.pid ?? [])
  return [...new Set([...fromPidFiles, ...startedFor(home.path)])]
}
function startedFor(folder: string): number[] {
  try {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .filter(pid => argumentsOf(pid).includes(folder))
      .map(Number)
  } catch {
    return []
  }
}
function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}
function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already exited.
  }
}
