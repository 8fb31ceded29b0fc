/** The app-server of one session: the process of Codex, which listens on a Unix socket. It keeps running if its runner dies, so that the next runner finds it again with its waiting calls. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { signalProcess } from '../process-group.ts'
import {
  endOrphan,
  isProcessRunning,
  killRecorded,
  type ProcessRecord,
  readProcessRecord,
  recordProcess,
  removeProcessRecord,
  tagVariable,
} from '../process-record.ts'
import { codexExit } from './messages.ts'

export interface AppServerOptions {
  readonly executable: string
  /** The session's folder for the socket, the record of the process and its output. */
  readonly folder: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Arguments in addition to the address. */
  readonly args: readonly string[]
}

/** Time between SIGTERM for the process and SIGKILL for its group. */
const graceMs = 2000
const pollMs = 25
const lastOutputMax = 2000
/** macOS allows 104 bytes with the NUL at the end, Linux allows 108. */
const socketPathMaxBytes = 103
const logFile = 'output.log'

export class AppServer {
  readonly record: ProcessRecord
  /** The path of the Unix socket on which the server listens. It stays the same for all servers of a session, so that a terminal can connect again, unless the path of the session's folder is too long. */
  readonly socket: string
  readonly #folder: string
  readonly #child: ChildProcess | null

  /** Starts a server, after ending the one that an earlier runner may have left. */
  static start({ executable, folder, cwd, env, args }: AppServerOptions): AppServer {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    endOrphan(folder)
    const socket = socketPath(folder)
    rmSync(socket, { force: true })
    const tag = randomUUID()
    // Write the output to a file: a pipe would break when the runner dies, and writing to it could end the server.
    const output = openSync(join(folder, logFile), 'w', 0o600)
    const child = spawn(executable, ['app-server', '--listen', `unix://${socket}`, ...args], {
      ...{ cwd, env: { ...env, [tagVariable]: tag } },
      stdio: ['ignore', output, output],
      detached: true,
    })
    closeSync(output)
    // Without a listener, the error would end the runner. A process that could not be started has no pid, which is reported below.
    child.on('error', () => {})
    const { pid } = child
    if (pid === undefined) throw new Error(codexExit.notStarted(executable))
    return new AppServer(folder, recordProcess(folder, { pid, tag, address: socket }), child)
  }

  /** Returns the server that an earlier runner has left, or null if none runs. */
  static find(folder: string): AppServer | null {
    const record = readProcessRecord(folder)
    return record?.address !== undefined && isProcessRunning(record) ? new AppServer(folder, record, null) : null
  }

  private constructor(folder: string, record: ProcessRecord, child: ChildProcess | null) {
    this.#folder = folder
    this.record = record
    this.socket = record.address ?? ''
    this.#child = child
    child?.once('exit', () => this.#cleanUp())
  }

  get isRunning(): boolean {
    if (!this.#child) return isProcessRunning(this.record)
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Returns how the process ended, without a full stop. */
  get howItEnded(): string {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    if (signalCode !== null) return codexExit.signal(signalCode)
    return exitCode === null ? codexExit.ended : codexExit.code(exitCode)
  }
  /** Returns the last lines that the process wrote. */
  get lastOutput(): string {
    try {
      const text = readFileSync(join(this.#folder, logFile), 'utf8').slice(-lastOutputMax)
      return stripVTControlCharacters(text).trim()
    } catch {
      // Ignore an error, because people are told why the process ended even without its output.
      return ''
    }
  }

  /** Returns the resident memory of the process or, if it is only a launcher, also of the program that it started; null on systems without /proc. */
  get memoryBytes(): number | null {
    const { pid } = this.record
    try {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
      return [String(pid), ...children].reduce((sum, process) => sum + residentBytes(process), 0)
    } catch {
      return null
    }
  }

  /** Ends the process and everything that it started. Codex removes the folders that its sandbox creates only if it gets SIGTERM. */
  async end(): Promise<void> {
    if (this.isRunning) signalProcess(this.record.pid, 'SIGTERM')
    for (let waited = 0; this.isRunning && waited < graceMs; waited += pollMs) await delay(pollMs)
    this.#cleanUp()
  }

  #cleanUp(): void {
    killRecorded(this.record)
    // If a later server of the session has started, the socket belongs to that server.
    if (readProcessRecord(this.#folder)?.tag !== this.record.tag) return
    removeProcessRecord(this.#folder, this.record.tag)
    rmSync(dirname(this.socket) === this.#folder ? this.socket : dirname(this.socket), { recursive: true, force: true })
  }
}

function residentBytes(pid: string): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) * 1024
}

/** Only the user of the runner can open these folders, so nobody else can answer for a person. */
function socketPath(folder: string): string {
  const path = join(folder, 'codex.sock')
  const isShort = Buffer.byteLength(path) <= socketPathMaxBytes
  return isShort ? path : join(mkdtempSync(join(tmpdir(), 'holdpoint-')), 'codex.sock')
}
