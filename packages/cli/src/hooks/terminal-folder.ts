/**
 * The files that remember, in the data folder, which session belongs to a terminal with an agent and which tool calls
 * are open there. Every hook is a process of its own and several can run at once, so each fact has a file of its own.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { processStartTime, type TerminalCall, type TerminalCalls } from '@holdpoint/drivers'
import type { Session } from '@holdpoint/protocol'
import { type DataFolder, isRunning, type PidFile, writeAtomically } from '../config/data-folder.ts'

/** The session of a terminal, and the process whose end ends the session. */
export interface TerminalSession {
  readonly session: Session
  readonly process: PidFile
  /** Whether the session has got its title from the first prompt. */
  readonly hasTitle?: boolean
}

/** What is left of a session that has ended while its agent still runs. */
interface EndedSession {
  readonly process: PidFile
  /** The id of the session, which distinguishes the next session of the same conversation. */
  readonly key: string
}

export function terminalsFolder({ path }: DataFolder): string {
  return join(path, 'terminals')
}

export class TerminalFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Returns the folder of a conversation with an agent in one process. A conversation that is continued later has another process. */
  static of(dataFolder: DataFolder, conversation: string, process: PidFile): TerminalFolder {
    const name = createHash('sha256').update(`${conversation} ${process.pid} ${process.started}`).digest('hex')
    return new TerminalFolder(join(terminalsFolder(dataFolder), name.slice(0, 32)))
  }

  /** The key with which the next session is started. Hooks that run at the same time send the same key, and get the same session. */
  get sessionKey(): string {
    const name = this.path.slice(this.path.lastIndexOf('/') + 1)
    const ended = this.#readEnded()
    return ended ? `${name}-${ended.key}` : name
  }

  read(): TerminalSession | null {
    return readJson<TerminalSession>(join(this.path, 'session.json'))
  }

  write(terminal: TerminalSession): void {
    mkdirSync(join(this.path, 'calls'), { recursive: true, mode: 0o700 })
    writeAtomically(join(this.path, 'session.json'), JSON.stringify(terminal))
  }

  /** Forgets the session, which has ended. The same conversation can continue later, in another session. */
  end({ session, process }: TerminalSession): void {
    this.remove()
    mkdirSync(this.path, { recursive: true, mode: 0o700 })
    writeAtomically(this.#endedFile, JSON.stringify({ process, key: session.id } satisfies EndedSession))
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }

  /** Whether the session has ended and its agent no longer runs. */
  get isLeftOver(): boolean {
    const ended = this.#readEnded()
    return ended !== null && this.read() === null && !isRunning(ended.process)
  }

  get #endedFile(): string {
    return join(this.path, 'ended.json')
  }
  #readEnded(): EndedSession | null {
    return readJson<EndedSession>(this.#endedFile)
  }

  get calls(): TerminalCalls {
    const folder = join(this.path, 'calls')
    const fileOf = (id: string) => join(folder, `${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`)
    return {
      list: () =>
        filesIn(folder)
          .map(name => readJson<StoredCall>(join(folder, name)))
          .filter(call => call !== null)
          .toSorted((a, b) => b.at - a.at)
          .map(({ at: _, hook: __, ...call }) => call),
      put: call => writeAtomically(fileOf(call.id), JSON.stringify({ ...call, ...thisHook() } satisfies StoredCall)),
      remove: id => rmSync(fileOf(id), { force: true }),
      hasHook: id => {
        const call = readJson<StoredCall>(fileOf(id))
        return call !== null && isRunning(call.hook)
      },
    }
  }
}

/** The process of the hook that wrote the file, and when. */
interface Writer {
  readonly at: number
  readonly hook: PidFile
}
type StoredCall = TerminalCall & Writer

function thisHook(): Writer {
  return { at: Date.now(), hook: { pid: process.pid, started: processStartTime(process.pid) } }
}

/** Returns the folders of all terminals, also of those that were closed without a hook. */
export function allTerminals(dataFolder: DataFolder): readonly TerminalFolder[] {
  const folder = terminalsFolder(dataFolder)
  return filesIn(folder).map(name => new TerminalFolder(join(folder, name)))
}

export function isTerminalOpen({ process }: TerminalSession): boolean {
  return isRunning(process)
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Only this module writes these files. A file that a crash has removed or that another hook is about to write counts as missing. */
function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T // see above
  } catch {
    return null
  }
}

const wrappers: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh'])

/** Returns the process of the agent that started this hook: the nearest ancestor that is not the shell of the hook. */
export function agentProcess(): PidFile {
  let pid = process.ppid
  for (let found = statOf(pid); found !== null && wrappers.has(found.name); found = statOf(pid)) pid = found.parent
  return { pid, started: processStartTime(pid) }
}

/** Returns the ids of the processes that started this one, the nearest first. Without /proc, only the direct parent is known. */
export function ancestorPids(): readonly number[] {
  const pids = [process.ppid]
  for (let found = statOf(process.ppid); found !== null && found.parent > 1; found = statOf(found.parent))
    pids.push(found.parent)
  return pids
}

/** Returns the name of a process and its parent, or null if there is no /proc. Then the direct parent counts as the agent. */
function statOf(pid: number): { readonly name: string; readonly parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = stat.lastIndexOf(')')
    // The parent is the second field after the name, which may contain spaces and parentheses.
    return { name: stat.slice(stat.indexOf('(') + 1, end), parent: Number(stat.slice(end + 2).split(' ')[1]) }
  } catch {
    return null
  }
}
