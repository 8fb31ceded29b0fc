/** Starts the CLI in its own process group, ends it together with its children, and records its pid on disk so that the next runner can end a process that was left behind. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { SpawnedProcess, SpawnOptions } from '@anthropic-ai/claude-agent-sdk'
import { signalGroup, signalProcess, withParentDeathSignal } from '../../process-group.ts'
import { killDescendants, recordProcess, removeProcessRecord, tagVariable } from '../../process-record.ts'

export { endOrphan } from '../../process-record.ts'

export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The last characters that the process wrote to stderr. */
  readonly stderr: string
}

/** Time between SIGTERM for the process and SIGKILL for its group. */
const graceMs = 2000
const stderrMax = 2000

export class CliProcess {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly stdin: Writable
  readonly exited: Promise<ProcessExit>
  readonly #tag = randomUUID()
  #stderr = ''
  #hasExited = false
  #isEnding = false

  constructor({ command, args, cwd, env }: SpawnOptions, folder: string) {
    const [file, ...rest] = withParentDeathSignal([command, ...args])
    const taggedEnv = { ...env, [tagVariable]: this.#tag }
    const child = spawn(file as string, rest, { cwd, env: taggedEnv, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    this.stdin = child.stdin
    // Hide `child.stdin` from Node, which would close the stream before it reports the exit. A CLI that a wrapper script leaves behind would then see the end of its input before it is killed.
    this.child = Object.assign(child, { stdin: null })
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrMax)
    })
    // Ignore errors such as EPIPE, because `exited` already reports that the process has ended.
    this.stdin.on('error', () => {})
    const { pid } = this.child
    if (pid !== undefined) recordProcess(folder, { pid, tag: this.#tag })
    this.exited = new Promise(resolve => {
      const onExit = (code: number | null, signal: NodeJS.Signals | null, error = '') => {
        this.#hasExited = true
        // The CLI's children must not outlive the CLI.
        signalGroup(pid, 'SIGKILL')
        // A CLI that handles SIGTERM ends its shells and exits with a code. A signal means that the CLI was killed, or that a wrapper script was its parent.
        if (!this.#isEnding || signal !== null) killDescendants(this.#tag)
        this.stdin.destroy()
        removeProcessRecord(folder, this.#tag)
        resolve({ code, signal, stderr: (this.#stderr + error).trim() })
      }
      this.child.once('exit', (code, signal) => onExit(code, signal))
      this.child.once('error', error => onExit(null, null, error.message))
    })
  }

  /** The process as the SDK uses it. */
  get spawned(): SpawnedProcess {
    const { child, stdin } = this
    return {
      ...{ stdin, stdout: child.stdout },
      ...{ on: child.on.bind(child), once: child.once.bind(child), off: child.off.bind(child) },
      kill: signal => child.kill(signal),
      get killed() {
        return child.killed
      },
      get exitCode() {
        return child.exitCode
      },
      get signalCode() {
        return child.signalCode
      },
    }
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  /** Resident memory of the process, or null on systems without /proc. */
  get memoryBytes(): number | null {
    try {
      const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8')
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]
      return kilobytes === undefined ? null : Number(kilobytes) * 1024
    } catch {
      return null
    }
  }

  /** Ends the process with SIGTERM, then its group with SIGKILL. Relies on the CLI to end its shells on SIGTERM. */
  end(): Promise<ProcessExit> {
    this.#isEnding = true
    return this.#terminate()
  }

  /** Ends the process like `end`. Also kills the shells that the CLI runs in other process groups, unless `end` was called before. */
  endAndKillDescendants(): Promise<ProcessExit> {
    return this.#terminate()
  }

  async #terminate(): Promise<ProcessExit> {
    const { pid } = this.child
    // Only this process gets SIGTERM. If a wrapper script feeds the CLI through a pipe, SIGTERM for the group would also end the writer of that pipe. A CLI whose input ends before it handles SIGTERM records a refusal that nobody gave for the call that waits.
    if (!this.#hasExited) signalProcess(pid, 'SIGTERM')
    const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs)
    return this.exited.finally(() => clearTimeout(timer))
  }
}
