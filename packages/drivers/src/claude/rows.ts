/** A session's transcript as the CLI writes it, kept by us row by row: what is on record, which calls are open, and how a waiting call is brought back. */
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  existsSync,
  fdatasync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { PermissionUpdate, SessionKey, SessionStore, SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk'
import type { JsonObject } from '@holdpoint/protocol'
import { type Call, RowIndex } from './row-index.ts'

/** What is remembered of a session beside its rows. */
interface Meta {
  readonly key?: { readonly projectKey: string; readonly sessionId: string }
  /** How often it was come back to at this row. */
  readonly comebacks?: { readonly at: string | null; readonly times: number }
  /** How much of the running total of costs has been told. */
  readonly costTold?: number
  /** What the CLI offered with calls that wait: it does not offer it again when they are brought back. */
  readonly offers?: Readonly<Record<string, readonly PermissionUpdate[]>>
}

export class Rows {
  readonly index = new RowIndex()
  /** Called after rows have been kept. */
  onAppend = () => {}
  readonly #folder: string
  readonly #config: string
  #meta: Meta
  #marker: { readonly call: Call; readonly mode: string } | null = null

  constructor(folder: string, config: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
    this.#config = config
    this.#meta = readMeta(this.#file('meta.json'))
    const { key } = this.#meta
    if (key) for (const row of this.#read(key) ?? []) this.index.add(row)
  }

  get meta(): Meta {
    return this.#meta
  }
  /** Claude Code's own id of the conversation; undefined before anything was said. */
  get sessionId(): string | undefined {
    return this.#meta.key?.sessionId
  }

  note(change: Meta): void {
    this.#meta = { ...this.#meta, ...change }
    const file = this.#file('meta.json')
    writeFileSync(`${file}.new`, JSON.stringify(this.#meta), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  /** The next start asks for this call again, under its own id. */
  bringBack(call: Call, mode: string): void {
    this.#marker = { call, mode }
  }

  /** What the SDK talks to. */
  get store(): SessionStore {
    return {
      append: (key, entries) => this.#append(key, entries),
      load: async key => this.#load(key),
      listSubkeys: async ({ sessionId }) => this.#subkeys(sessionId),
    }
  }

  async #append(key: SessionKey, entries: readonly SessionStoreEntry[]): Promise<void> {
    const fd = openSync(this.#file(nameOf(key)), 'a', 0o600)
    try {
      writeSync(fd, entries.map(entry => `${JSON.stringify(entry)}\n`).join(''))
      if (key.subpath === undefined) this.#count(key, entries)
      // The disk is waited for, but not by the other sessions of this runner.
      await new Promise<void>((resolve, reject) => {
        fdatasync(fd, error => (error ? reject(error) : resolve()))
      })
    } finally {
      closeSync(fd)
    }
    if (key.subpath === undefined) this.onAppend()
  }

  #count({ projectKey, sessionId }: SessionKey, entries: readonly SessionStoreEntry[]): void {
    if (this.sessionId !== sessionId) this.note({ key: { projectKey, sessionId } })
    for (const entry of entries) this.index.add(entry)
  }

  /** Null leaves the CLI to its own transcript, in the person's own folder: with a copy of ours it would run without most of what the person has set up there. */
  #load(key: SessionKey): SessionStoreEntry[] | null {
    if (key.subpath !== undefined) return this.#read(key)
    const marker = this.#marker ? markerRow(this.#marker.call, this.#marker.mode) : null
    this.#marker = null
    const own = this.#ownTranscript(key)
    if (own !== null) {
      if (marker) appendFileSync(own, `${JSON.stringify(marker)}\n`)
      return null
    }
    const rows = this.#read(key)
    return rows && marker ? [...rows, marker] : rows
  }

  /** The CLI's own file, where it holds everything that we hold. */
  #ownTranscript({ projectKey, sessionId }: SessionKey): string | null {
    const file = join(this.#config, 'projects', projectKey, `${sessionId}.jsonl`)
    const { lastUuid } = this.index
    if (!existsSync(file)) return null
    return lastUuid === null || readFileSync(file, 'utf8').includes(lastUuid) ? file : null
  }

  #subkeys(sessionId: string): string[] {
    const prefix = `${encodeURIComponent(sessionId)}%2F`
    const names = readdirSync(this.#folder).filter(name => name.startsWith(prefix))
    return names.map(name => decodeURIComponent(name.slice(prefix.length, -'.jsonl'.length)))
  }

  #read(key: SessionKey): SessionStoreEntry[] | null {
    const file = this.#file(nameOf(key))
    if (!existsSync(file)) return null
    // The last line may be half of one: a crash while it was written.
    return readFileSync(file, 'utf8').split('\n').flatMap(parsed)
  }

  #file(name: string): string {
    return join(this.#folder, name)
  }
}

/** One flat name per key, whatever is in it. */
function nameOf({ sessionId, subpath }: SessionKey): string {
  return `${encodeURIComponent(subpath === undefined ? sessionId : `${sessionId}/${subpath}`)}.jsonl`
}

function parsed(line: string): SessionStoreEntry[] {
  try {
    return [JSON.parse(line) as SessionStoreEntry] // written by #append
  } catch {
    return []
  }
}

function readMeta(file: string): Meta {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Meta) : {} // written by note
}

/** The row that the CLI itself writes when a hook defers a call: on start it asks for that call again. */
function markerRow({ row, id, tool, input }: Call, permissionMode: string): SessionStoreEntry {
  const toolInput: JsonObject = input
  const { sessionId, cwd, version, userType, entrypoint } = row
  return {
    type: 'attachment',
    parentUuid: row.uuid,
    isSidechain: false,
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
    ...{ sessionId, cwd, version, userType, entrypoint },
    attachment: {
      type: 'hook_deferred_tool',
      ...{ toolUseID: id, toolName: tool, toolInput, permissionMode },
      hookName: 'settings',
      hookEvent: 'PreToolUse',
    },
  }
}
