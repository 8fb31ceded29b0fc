/** The process of an agent that communicates over its standard streams. It is recorded on disk, so that the next runner can end it if this runner is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { signalGroup, withParentDeathSignal } from '../process-group.ts'
import {
  endOrphan,
  killRecorded,
  type ProcessRecord,
  recordProcess,
  removeProcessRecord,
  tagVariable,
} from '../process-record.ts'
import { acpExit } from './messages.ts'

export interface AgentProcessOptions {
  readonly title: string
  readonly executable: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The session's folder for the record of the process. */
  readonly folder: string
}

/** Time between SIGTERM and SIGKILL. */
const graceMs = 1500
/** How long the rest of the output is read after the process has ended. A process that it started can keep the output open. */
const outputMaxMs = 1000
const lastOutputMax = 2000

export class AgentProcess {
  readonly #child: ChildProcess
  readonly #options: AgentProcessOptions
  readonly #record: ProcessRecord | null
  #errors = ''
  /** Resolves when the process has ended, everything that it started is killed, and its output is read. */
  readonly exited: Promise<void>

  constructor(options: AgentProcessOptions) {
    this.#options = options
    const { executable, args, cwd, env, folder } = options
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    endOrphan(folder)
    const tag = randomUUID()
    const [file = executable, ...argv] = withParentDeathSignal([executable, ...args])
    this.#child = spawn(file, argv, { cwd, env: { ...env, [tagVariable]: tag }, detached: true, stdio: 'pipe' })
    const { pid, stdin, stderr } = this.#child
    this.#record = pid === undefined ? null : recordProcess(folder, { pid, tag })
    // Writing to a process that has ended fails. Ignore this error, because `exited` reports the end of the process.
    stdin?.on('error', () => {})
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-lastOutputMax)
    })
    const closed = this.#first('error', 'close')
    this.exited = this.#first('error', 'exit')
      .then(() => this.#cleanUp())
      .then(() => Promise.race([closed, delay(outputMaxMs, undefined, { ref: false })]))
      .then(() => this.#destroyStreams())
  }

  get streams() {
    const { stdin, stdout } = this.#child
    if (!stdin || !stdout) throw new Error(acpExit.notStarted(this.#options.title, this.#options.executable))
    return { stdin, stdout }
  }
  get pid(): number | undefined {
    return this.#child.pid
  }
  get isRunning(): boolean {
    const { pid, exitCode, signalCode } = this.#child
    return pid !== undefined && exitCode === null && signalCode === null
  }
  /** Returns how the process ended, without a full stop. */
  get howItEnded(): string {
    const { title, executable } = this.#options
    const { pid, exitCode, signalCode } = this.#child
    if (pid === undefined) return acpExit.notStarted(title, executable)
    return signalCode === null ? acpExit.code(title, exitCode) : acpExit.signal(title, signalCode)
  }
  /** Returns the last lines that the process wrote to its standard error, without terminal colors. */
  get lastOutput(): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: agents color their messages for terminals
    return this.#errors.replace(/\x1b\[[\d;]*m/g, '').trim()
  }

  /** Ends the process and everything that it started. A launcher does not always end the agent that it started, so the whole group gets the signal. */
  async end(): Promise<void> {
    signalGroup(this.#child.pid, 'SIGTERM')
    await Promise.race([this.exited, delay(graceMs, undefined, { ref: false })])
    signalGroup(this.#child.pid, 'SIGKILL')
    await this.exited
  }

  #first(...events: readonly ('error' | 'exit' | 'close')[]): Promise<void> {
    return new Promise(resolve => {
      for (const event of events) this.#child.once(event, () => resolve())
    })
  }
  #destroyStreams(): void {
    for (const stream of this.#child.stdio) stream?.destroy()
  }
  #cleanUp(): void {
    if (!this.#record) return
    killRecorded(this.#record)
    removeProcessRecord(this.#options.folder, this.#record.tag)
  }
}
