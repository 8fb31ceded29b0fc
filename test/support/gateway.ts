/** A real gateway process and the runner that it starts, in a folder of their own: killed, brought back on the same port, and gone when the test is over. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { httpCall } from '@holdpoint/client'
import type { Call } from '@holdpoint/protocol'
import { type DataFolder, openDataFolder, runningProcess } from '../../packages/cli/src/config/data-folder.ts'

const root = resolve(import.meta.dirname, '../..')
export const holdpoint = join(root, 'packages/cli/bin/holdpoint.js')
export const agentsFolder = join(import.meta.dirname, 'agents')

export interface GatewayOptions {
  readonly runner?: 'process' | 'inline' | 'none'
  readonly store?: string
  /** What holdpoint.config.json holds. */
  readonly config?: object
  readonly env?: Readonly<Record<string, string>>
}
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class GatewayProcess {
  /** Where it is started: its config and its home. */
  readonly folder = mkdtempSync(join(tmpdir(), 'holdpoint-test-'))
  readonly home: DataFolder
  readonly #options: GatewayOptions
  #child: ChildProcess | null = null
  #port = 0
  url = ''
  link = ''
  stderr = ''
  /** Resolves when the process that runs now has ended. */
  gone: Promise<Exit> = Promise.resolve({ code: 0, signal: null })

  constructor(options: GatewayOptions) {
    this.#options = options
    this.home = openDataFolder(join(this.folder, 'home'))
    writeFileSync(join(this.folder, 'holdpoint.config.json'), JSON.stringify(options.config ?? {}))
    alive.add(this)
  }

  get token(): string {
    return this.home.ownerToken()
  }
  /** As the owner. Tries again, under the same key, while the gateway is away. */
  get call(): Call {
    return this.callAs(this.token)
  }
  callAs(token: string): Call {
    return httpCall({ url: this.url, token, attempts: 12 })
  }
  get pid(): number {
    if (!this.#child?.pid) throw new Error('this gateway does not run')
    return this.#child.pid
  }

  /** Starts it, or brings it back on the port that it had. */
  async start(env: Readonly<Record<string, string>> = this.#options.env ?? {}): Promise<void> {
    const { runner = 'process', store } = this.#options
    const words = ['up', '--json', '--port', String(this.#port), '--home', this.home.path, '--runner', runner]
    if (store) words.push('--store', store)
    const child = spawn(process.execPath, [holdpoint, ...words], {
      cwd: this.folder,
      env: { ...plainEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.gone = new Promise(done => {
      child.once('exit', (code, signal) => done({ code, signal }))
    })
    child.stderr.on('data', chunk => {
      this.stderr += chunk
    })
    const first = await firstLine(child)
    if (first === null) throw new Error(`the gateway did not start: ${this.stderr}`)
    const { url, link } = JSON.parse(first) as { url: string; link: string } // what --json promises
    this.url = url
    this.link = link
    this.#port = Number(new URL(url).port)
  }

  /** The next start is on another one. */
  forgetPort(): void {
    this.#port = 0
  }

  runnerPid(): number | null {
    return runningProcess(this.home, 'runner')?.pid ?? null
  }
  /** Also those that were just started and have not noted themselves yet. */
  runnerPids(): number[] {
    return processesOf(this.home).filter(pid => pid !== this.#child?.pid)
  }
  /** The runner notes itself when it begins; nobody tells of it, so this looks. */
  async runnerBegun(): Promise<number> {
    for (;;) {
      const pid = this.runnerPid()
      if (pid !== null) return pid
      await glance()
    }
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.gone
  }
  async stop(): Promise<Exit> {
    this.#child?.kill('SIGTERM')
    return this.gone
  }
  /** SIGKILL, until nothing of it is left. */
  async killRunner(): Promise<void> {
    for (const pid of this.runnerPids()) endProcess(pid)
    while (this.runnerPid() !== null) await glance()
  }

  /** Ends both, the runner behind the gateway that would start another, and removes the folder. */
  async close(): Promise<void> {
    await this.kill()
    await this.killRunner()
    this.leave()
  }
  /** The same without waiting: the last resort of a process that ends. */
  leave(): void {
    for (const pid of processesOf(this.home)) endProcess(pid)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
    alive.delete(this)
  }
}

const alive = new Set<GatewayProcess>()
process.once('exit', () => {
  for (const gateway of alive) gateway.leave()
})

export async function startGateway(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const gateway = new GatewayProcess(options)
  await gateway.start()
  return gateway
}

/** For afterEach and afterAll: whatever this file has started is gone afterwards. */
export async function closeGateways(): Promise<void> {
  await Promise.all([...alive].map(gateway => gateway.close()))
}

/** A folder of its own that goes with the gateway's. */
export function madeFolder(gateway: GatewayProcess, name: string): string {
  const folder = join(gateway.folder, name)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** The environment without what would steer a gateway from outside. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDPOINT_')))
}

export function glance(): Promise<void> {
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

/** Processes that were started for this home and no other: its name is a new one, and it stands in their arguments. A runner that was just started has not noted itself yet. */
function processesOf(home: DataFolder): number[] {
  const noted = (['gateway', 'runner'] as const).flatMap(name => runningProcess(home, name)?.pid ?? [])
  return [...new Set([...noted, ...startedFor(home.path)])]
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
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
