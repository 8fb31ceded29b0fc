/** The CLI's process: a group of its own that dies with its runner, is noted so that an orphan is found again, and is ended whole. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { SpawnOptions } from '@anthropic-ai/claude-agent-sdk'
import { signalGroup, withParentDeathSignal } from '../../process-group.ts'
import { processStartTime } from '../../process-start-time.ts'

export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The last lines of what it complained about. */
  readonly complaint: string
}

/** How long the group may take to go by itself. */
const graceMs = 2000
const complaintMax = 2000

export class ProcessGroup {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly ended: Promise<ProcessEnd>
  readonly #folder: string
  /** Its own, and that of everything that it starts: the same session may have another process by now. */
  readonly #mark = randomUUID()
  #complaint = ''
  #over = false
  #ending = false

  constructor({ command, args, cwd, env }: SpawnOptions, folder: string) {
    const [file, ...rest] = withParentDeathSignal([command, ...args])
    const marked = { ...env, [marker]: this.#mark }
    this.#folder = folder
    this.child = spawn(file as string, rest, { cwd, env: marked, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = (this.#complaint + text).slice(-complaintMax)
    })
    // Writing to a process that is gone is no news: its end is reported below.
    this.child.stdin.on('error', () => {})
    const { pid } = this.child
    if (pid !== undefined) {
      const note: Note = { pid, started: processStartTime(pid), mark: this.#mark }
      writeFileSync(noteIn(folder), JSON.stringify(note), { mode: 0o600 })
    }
    this.ended = new Promise(resolve => {
      const over = (code: number | null, signal: NodeJS.Signals | null, why = '') => {
        this.#over = true
        // What it started must not outlive it.
        if (pid !== undefined) signalGroup(pid, 'SIGKILL')
        if (!this.#ending) endStrays(this.#mark)
        this.#forget()
        resolve({ code, signal, complaint: (this.#complaint + why).trim() })
      }
      this.child.once('exit', (code, signal) => over(code, signal))
      this.child.once('error', error => over(null, null, error.message))
    })
  }

  #forget(): void {
    if (readNote(this.#folder)?.mark === this.#mark) rmSync(noteIn(this.#folder), { force: true })
  }

  get over(): boolean {
    return this.#over
  }

  /** What it holds in memory, in bytes; null where that cannot be known. */
  get memory(): number | null {
    try {
      const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8')
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]
      return kilobytes === undefined ? null : Number(kilobytes) * 1024
    } catch {
      return null
    }
  }

  /** The whole group, at the latest after a bound. Told to go, the CLI sees to its shells itself. */
  async end(): Promise<ProcessEnd> {
    this.#ending = true
    return this.endLost()
  }

  /** The same for one that fell silent: what it has left behind is ended too. */
  async endLost(): Promise<ProcessEnd> {
    const { pid } = this.child
    if (!this.#over && pid !== undefined) signalGroup(pid, 'SIGTERM')
    const timer = setTimeout(() => pid !== undefined && signalGroup(pid, 'SIGKILL'), graceMs)
    return this.ended.finally(() => clearTimeout(timer))
  }
}

/** Ends what an earlier runner left behind in this folder, if it is still that process. */
export function endOrphan(folder: string): void {
  const note = readNote(folder)
  if (note) {
    const now = processStartTime(note.pid)
    // A pid that is another's by now is left alone; a group whose leader is gone can only be the old one.
    if (now === note.started || now === '') signalGroup(note.pid, 'SIGKILL')
    endStrays(note.mark)
  }
  rmSync(noteIn(folder), { force: true })
}

/** The CLI gives its shells groups of their own, and when it is killed it cannot end them: what it started is known by this in its environment. */
const marker = 'HOLDPOINT_PROCESS'

function endStrays(mark: string): void {
  if (process.platform !== 'linux') return
  const marked = `${marker}=${mark}\0`
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    try {
      if (readFileSync(`/proc/${name}/environ`, 'latin1').includes(marked)) process.kill(Number(name), 'SIGKILL')
    } catch {
      // It is gone by now, or someone else's.
    }
  }
}

interface Note {
  readonly pid: number
  readonly started: string
  readonly mark: string
}
const noteIn = (folder: string) => join(folder, 'process.json')

/** Null where there is none, or where a crash has left half of one. */
function readNote(folder: string): Note | null {
  try {
    return JSON.parse(readFileSync(noteIn(folder), 'utf8')) as Note // written above
  } catch {
    return null
  }
}
