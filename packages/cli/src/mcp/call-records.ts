/**
 * The files that remember, in the data folder, which session belongs to an MCP client and which of its calls are open. A
 * call that a client repeats after a lost connection finds its request here, and a call that was sent to a server is
 * never sent a second time.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type AskInput,
  canonicalJson,
  type Json,
  type JsonObject,
  type RequestId,
  type Session,
  type SessionId,
} from '@holdpoint/protocol'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type DataFolder, writeAtomically } from '../config/data-folder.ts'

/** An open call: the key of its request, and what was done with it after a person allowed it. */
export type CallRecord =
  | { readonly key: string; readonly state: 'asking'; readonly task?: string }
  /** The server has got the call, or it may have got it. */
  | { readonly key: string; readonly state: 'sent' }
  /** The server has replied, but the client has not received the reply. */
  | { readonly key: string; readonly state: 'finished'; readonly reply: JsonObject; readonly at: number }

/** A call for which the client has asked for a task. */
export interface TaskRecord {
  readonly id: string
  readonly tool: string
  readonly input: JsonObject
  readonly ask: AskInput
  /** The name of the call, as in `CallRecords.find`. */
  readonly call: string
  readonly key: string
  readonly session: SessionId
  readonly request: RequestId
  readonly createdAt: number
  /** How the task ended, as the client was told. */
  readonly ending?:
    | { readonly status: 'completed'; readonly result: CallToolResult; readonly at: number }
    | { readonly status: 'cancelled'; readonly at: number }
}

export interface StoredSession {
  readonly session: Session
  /** How many sessions this client had before. Each of them was ended by a person. */
  readonly generation: number
}

/** The folder of one client: its name and its working folder, and the server if the client calls one through Holdpoint. */
export class CallRecords {
  readonly name: string
  readonly #folder: string

  constructor(dataFolder: DataFolder, ...client: readonly string[]) {
    this.name = hashOf([...client])
    this.#folder = join(dataFolder.path, 'mcp', this.name)
  }

  session(): StoredSession | null {
    return readJson<StoredSession>(this.#sessionFile)
  }
  putSession(stored: StoredSession): void {
    this.#write(this.#sessionFile, stored)
  }

  find(call: string): CallRecord | null {
    return readJson<CallRecord>(this.#fileOf(call))
  }
  put(call: string, record: CallRecord): void {
    this.#write(this.#fileOf(call), record)
  }
  /** Removes the record of a call whose result has reached the client. A record with another key belongs to a later call. */
  remove(call: string, key: string): void {
    if (this.find(call)?.key === key) rmSync(this.#fileOf(call), { force: true })
  }

  /** Removes the record of a call whose request cannot be answered anymore. A call that another process has sent keeps its record. */
  stopAsking(call: string, key: string): void {
    if (this.find(call)?.state === 'asking') this.remove(call, key)
  }

  task(id: string): TaskRecord | null {
    return taskId.test(id) ? readJson<TaskRecord>(this.#taskFile(id)) : null
  }
  putTask(task: TaskRecord): void {
    this.#write(this.#taskFile(task.id), task)
  }
  removeTasksBefore(time: number): void {
    const folder = dirname(this.#taskFile(''))
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const task = readJson<TaskRecord>(join(folder, name))
      if (task && task.createdAt < time) rmSync(join(folder, name), { force: true })
    }
  }

  get #sessionFile(): string {
    return join(this.#folder, 'session.json')
  }
  #fileOf(call: string): string {
    return join(this.#folder, 'calls', `${call}.json`)
  }
  #taskFile(id: string): string {
    return join(this.#folder, 'tasks', `${id}.json`)
  }
  #write(file: string, value: object): void {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeAtomically(file, JSON.stringify(value))
  }
}

/** The form of our ids. Without this check, a client could name any file. */
const taskId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns a short name of a value. Values with the same canonical JSON have the same name. */
export function hashOf(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 32)
}

/** Only this module writes these files. A file that does not exist or that cannot be read counts as missing. */
function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T // see above
  } catch {
    return null
  }
}
