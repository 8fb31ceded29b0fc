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
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { PermissionUpdate, SessionKey, SessionStore, SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk'
import type { JsonObject } from '@holdpoint/protocol'
import { type ToolCall, TranscriptIndex } from './transcript-index.ts'

/** What is remembered of a session beside its rows. */
interface Meta {
  readonly key?: { readonly projectKey: string; readonly sessionId: string }
  /** How often it was come back to at this row. */
  readonly comebacks?: { readonly at: string | null; readonly times: number }
  /** How much of the running total of costs has been told. */
  readonly costTold?: number
  /** The mode that the CLI was in last. */
  readonly mode?: string
  /** It was started so that bypassPermissions can be entered. */
  readonly mayBypass?: boolean
  /** What the CLI offered with calls that wait: it does not offer it again when they are brought back. */
  readonly offers?: Readonly<Record<string, readonly PermissionUpdate[]>>
}

export class TranscriptStore {
  readonly index = new TranscriptIndex()
  /** Called after rows have been kept. */
  onAppend = () => {}
  /** Called when the conversation has its id, and something under it is on record. */
  onNamed = (_sessionId: string) => {}
  readonly #folder: string
  readonly #config: string
  #meta: Meta
  #marker: { readonly call: ToolCall; readonly mode: string } | null = null
  /** What people are to know of how it was found; null where it was as it was left. */
  readonly trouble: string | null

  constructor(folder: string, config: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
    this.#config = config
    const meta = readMeta(this.#file('meta.json'))
    this.#meta = meta ?? this.#newest()
    const { key } = this.#meta
    if (key) for (const row of this.#read(key) ?? []) this.index.add(row)
    this.trouble = meta ? null : this.#repair()
  }

  /** What was noted cannot be read: the transcript is there, and is gone on with. */
  #repair(): string {
    renameSync(this.#file('meta.json'), this.#file('meta.json.damaged'))
    this.note({ costTold: this.index.cost ?? 0, mayBypass: false })
    const aside = `What was noted of this session was damaged and lies in ${this.#file('meta.json.damaged')} now`
    return this.sessionId === undefined
      ? `${aside}; there is no transcript, so the conversation begins anew`
      : `${aside}; the conversation goes on from its transcript, in mode default where the session has no other`
  }

  /** The transcript that was written to last: the main agent's, not one of an agent under it. */
  #newest(): Meta {
    const written = (name: string) => statSync(this.#file(name)).mtimeMs
    const [name] = readdirSync(this.#folder)
      .filter(file => file.endsWith('.jsonl') && !file.includes('%2F'))
      .sort((a, b) => written(b) - written(a))
    if (name === undefined) return {}
    return { key: { projectKey: '', sessionId: decodeURIComponent(name.slice(0, -'.jsonl'.length)) } }
  }

  get meta(): Meta {
    return this.#meta
  }
  /** Claude Code's own id of the conversation; undefined before anything was said, or where it was lost before that was on record. */
  get sessionId(): string | undefined {
    const { key } = this.#meta
    return key && (this.index.hasMessages || this.#isTheirs(key)) ? key.sessionId : undefined
  }
  /** An earlier conversation of the person's, of which only they have the record. */
  #isTheirs(key: SessionKey): boolean {
    const file = this.#theirs(key)
    return existsSync(file) && readFileSync(file, 'utf8').includes('"type":"user"')
  }
  #theirs({ projectKey, sessionId }: SessionKey): string {
    return join(this.#config, 'projects', projectKey, `${sessionId}.jsonl`)
  }

  note(change: Meta): void {
    this.#meta = { ...this.#meta, ...change }
    const file = this.#file('meta.json')
    writeFileSync(`${file}.new`, JSON.stringify(this.#meta), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  /** The next start asks for this call again, under its own id. */
  bringBack(call: ToolCall, mode: string): void {
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
    for (const entry of entries) this.index.add(entry)
    if (this.#meta.key?.sessionId === sessionId) return
    this.note({ key: { projectKey, sessionId } })
    this.onNamed(sessionId)
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
  #ownTranscript(key: SessionKey): string | null {
    const file = this.#theirs(key)
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

/** Null where it is there and cannot be read. */
function readMeta(file: string): Meta | null {
  if (!existsSync(file)) return {}
  try {
    const meta: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof meta === 'object' && meta !== null ? meta : null // written by note
  } catch {
    return null
  }
}

/** The row that the CLI itself writes when a hook defers a call: on start it asks for that call again. */
function markerRow({ row, id, tool, input }: ToolCall, permissionMode: string): SessionStoreEntry {
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
