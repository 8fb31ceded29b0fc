/** The operating system process of the CLI: runs in a process group of its own, dies with its runner, is recorded on disk so that an orphan can be found, and is ended with all its children. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { SpawnOptions } from '@anthropic-ai/claude-agent-sdk'
import { z } from 'zod'
import { signalGroup, withParentDeathSignal } from '../../process-group.ts'
import { processStartTime } from '../../process-start-time.ts'

export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The end of what the process wrote to stderr. */
  readonly stderr: string
}

/** How long the group may take to end after SIGTERM before it gets SIGKILL. */
const graceMs = 2000
const stderrMax = 2000

export class ProcessGroup {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly exited: Promise<ProcessExit>
  readonly #folder: string
  /** Unique for this process and its children. The same session may already have another process. */
  readonly #tag = randomUUID()
  #stderr = ''
  #hasExited = false
  #isEnding = false

  constructor({ command, args, cwd, env }: SpawnOptions, folder: string) {
    const [file, ...rest] = withParentDeathSignal([command, ...args])
    const taggedEnv = { ...env, [tagVariable]: this.#tag }
    this.#folder = folder
    this.child = spawn(file as string, rest, { cwd, env: taggedEnv, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrMax)
    })
    // Ignore EPIPE: `exited` reports that the process is gone.
    this.child.stdin.on('error', () => {})
    const { pid } = this.child
    if (pid !== undefined) {
      const record: ProcessRecord = { pid, startTime: processStartTime(pid), tag: this.#tag }
      writeFileSync(recordFile(folder), JSON.stringify(record), { mode: 0o600 })
    }
    this.exited = new Promise(resolve => {
      const onExit = (code: number | null, signal: NodeJS.Signals | null, error = '') => {
        this.#hasExited = true
        // Children must not outlive the CLI.
        if (pid !== undefined) signalGroup(pid, 'SIGKILL')
        if (!this.#isEnding) killStrays(this.#tag)
        this.#removeRecord()
        resolve({ code, signal, stderr: (this.#stderr + error).trim() })
      }
      this.child.once('exit', (code, signal) => onExit(code, signal))
      this.child.once('error', error => onExit(null, null, error.message))
    })
  }

  #removeRecord(): void {
    if (readRecord(this.#folder)?.tag === this.#tag) rmSync(recordFile(this.#folder), { force: true })
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  /** The resident memory of the process; null if the system does not say. */
  get memoryBytes(): number | null {
    try {
      const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8')
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]
      return kilobytes === undefined ? null : Number(kilobytes) * 1024
    } catch {
      return null
    }
  }

  /** Ends the whole group with SIGTERM, then SIGKILL. On SIGTERM, the CLI ends its shells itself. */
  async end(): Promise<ProcessExit> {
    this.#isEnding = true
    return this.endWithStrays()
  }

  /** Like `end`, for a process that stopped by itself: also kills the shells that it left running. */
  async endWithStrays(): Promise<ProcessExit> {
    const { pid } = this.child
    if (!this.#hasExited && pid !== undefined) signalGroup(pid, 'SIGTERM')
    const timer = setTimeout(() => pid !== undefined && signalGroup(pid, 'SIGKILL'), graceMs)
    return this.exited.finally(() => clearTimeout(timer))
  }
}

/** Ends the process that an earlier runner recorded in this folder, if it is still running. */
export function endOrphan(folder: string): void {
  const record = readRecord(folder)
  if (record) {
    const startTime = processStartTime(record.pid)
    // If the start time differs, the pid belongs to another process now. If there is no such process, its group can only be the old one.
    if (startTime === record.startTime || startTime === '') signalGroup(record.pid, 'SIGKILL')
    killStrays(record.tag)
  }
  rmSync(recordFile(folder), { force: true })
}

/** The CLI runs its shells in process groups of their own and cannot end them when it is killed. This environment variable identifies them. */
const tagVariable = 'HOLDPOINT_PROCESS'

function killStrays(tag: string): void {
  if (process.platform !== 'linux') return
  const entry = `${tagVariable}=${tag}\0`
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    try {
      if (readFileSync(`/proc/${name}/environ`, 'latin1').includes(entry)) process.kill(Number(name), 'SIGKILL')
    } catch {
      // The process has exited meanwhile, or belongs to another user.
    }
  }
}

const ProcessRecord = z.object({ pid: z.int(), startTime: z.string(), tag: z.string() })
type ProcessRecord = z.infer<typeof ProcessRecord>
const recordFile = (folder: string) => join(folder, 'process.json')

/** Null if there is no record, or if a crash left an incomplete one. */
function readRecord(folder: string): ProcessRecord | null {
  try {
    return ProcessRecord.parse(JSON.parse(readFileSync(recordFile(folder), 'utf8')))
  } catch {
    return null
  }
}
