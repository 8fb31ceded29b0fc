/** Stores the driver's copy of the CLI's transcript. Implements the SDK's session store, indexes the rows, and adds the marker row that makes the CLI resume a call. */
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
import { z } from 'zod'
import { isRecord } from '../cli/content-blocks.ts'
import { damaged } from '../messages.ts'
import { type ToolCall, TranscriptIndex } from './transcript-index.ts'

/** The state of a session that the driver stores in meta.json, next to the transcript. */
const Meta = z.object({
  key: z.object({ projectKey: z.string(), sessionId: z.string() }).optional(),
  /** The last transcript row at which the session was resumed, and how many times it was resumed there. */
  resumeAttempts: z.object({ rowUuid: z.string().nullable(), count: z.number() }).optional(),
  /** How much of the conversation's total cost has already been reported. */
  reportedCost: z.number().optional(),
  /** The last known mode of the CLI. */
  mode: z.string().optional(),
  /** Whether the session was started with permission to enter bypassPermissions. */
  mayBypass: z.boolean().optional(),
  /** The CLI's suggestions for pending calls, by the key of the request. The CLI does not send them again when it resumes a call. */
  suggestions: z.record(z.string(), z.array(z.custom<PermissionUpdate>(isRecord))).optional(),
})
type Meta = z.infer<typeof Meta>

export class TranscriptStore {
  readonly index = new TranscriptIndex()
  /** Called after rows of the main agent's transcript have been written. */
  onAppend = () => {}
  /** Called with the id of a conversation after its first rows are written. */
  onConversationId = (_sessionId: string) => {}
  /** A sentence for people that says how the stored state was damaged, or null if it was intact. */
  readonly problem: string | null
  readonly #folder: string
  readonly #configFolder: string
  #meta: Meta
  #resumeCall: { readonly call: ToolCall; readonly mode: string } | null = null

  constructor(folder: string, configFolder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
    this.#configFolder = configFolder
    const meta = readMeta(this.#file('meta.json'))
    this.#meta = meta ?? this.#newestTranscript()
    const { key } = this.#meta
    if (key) for (const row of this.#read(key) ?? []) this.index.add(row)
    this.problem = meta ? null : this.#recover()
  }

  /** Moves the unreadable meta.json away and recovers the state from the transcript. Returns a sentence for people. */
  #recover(): string {
    const damagedFile = this.#file('meta.json.damaged')
    renameSync(this.#file('meta.json'), damagedFile)
    this.updateMeta({ reportedCost: this.index.totalCost ?? 0, mayBypass: false })
    return this.sessionId === undefined ? damaged.newConversation(damagedFile) : damaged.continued(damagedFile)
  }

  /** Returns the key of the most recently written transcript of the main agent. The file names of subagent transcripts contain an encoded slash, `%2F`. */
  #newestTranscript(): Meta {
    const modifiedAt = (name: string) => statSync(this.#file(name)).mtimeMs
    const [name] = readdirSync(this.#folder)
      .filter(file => file.endsWith('.jsonl') && !file.includes('%2F'))
      .sort((a, b) => modifiedAt(b) - modifiedAt(a))
    if (name === undefined) return {}
    return { key: { projectKey: '', sessionId: decodeURIComponent(name.slice(0, -'.jsonl'.length)) } }
  }

  get meta(): Meta {
    return this.#meta
  }
  /** Claude Code's id of the conversation; undefined if neither the driver's copy nor the CLI's own transcript contains a message. */
  get sessionId(): string | undefined {
    const { key } = this.#meta
    return key && (this.index.hasMessages || this.#hasCliTranscript(key)) ? key.sessionId : undefined
  }
  /** Returns whether the CLI's own folder has a transcript with a message. A conversation that the person started outside Holdpoint exists only there. */
  #hasCliTranscript(key: SessionKey): boolean {
    return this.#cliTranscriptIncludes(key, '"type":"user"')
  }
  /** Returns whether the CLI's own transcript has a result for the call. The driver's copy lacks this result if the CLI outlived the runner: when its input ends, the CLI records a failure for a call that waits. */
  hasCliResult(callId: string): boolean {
    const { key } = this.#meta
    return key !== undefined && this.#cliTranscriptIncludes(key, `"tool_use_id":${JSON.stringify(callId)}`)
  }
  #cliTranscriptIncludes(key: SessionKey, text: string): boolean {
    const file = this.#cliTranscriptFile(key)
    return existsSync(file) && readFileSync(file, 'utf8').includes(text)
  }
  #cliTranscriptFile({ projectKey, sessionId }: SessionKey): string {
    return join(this.#configFolder, 'projects', projectKey, `${sessionId}.jsonl`)
  }

  updateMeta(change: Meta): void {
    this.#meta = { ...this.#meta, ...change }
    const file = this.#file('meta.json')
    writeFileSync(`${file}.new`, JSON.stringify(this.#meta), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  /** Makes the next `load` add the marker row, so that the next process asks for this call again under the same id. */
  resumeAtCall(call: ToolCall, mode: string): void {
    this.#resumeCall = { call, mode }
  }

  get sdkStore(): SessionStore {
    return {
      append: (key, entries) => this.#append(key, entries),
      load: async key => this.#load(key),
      listSubkeys: async ({ sessionId }) => this.#subkeys(sessionId),
    }
  }

  async #append(key: SessionKey, entries: readonly SessionStoreEntry[]): Promise<void> {
    const fd = openSync(this.#file(fileName(key)), 'a', 0o600)
    try {
      writeSync(fd, entries.map(entry => `${JSON.stringify(entry)}\n`).join(''))
      if (key.subpath === undefined) this.#indexRows(key, entries)
      // Flush to disk asynchronously, so that a slow disk does not block the other sessions of this runner.
      await new Promise<void>((resolve, reject) => {
        fdatasync(fd, error => (error ? reject(error) : resolve()))
      })
    } finally {
      closeSync(fd)
    }
    if (key.subpath === undefined) this.onAppend()
  }

  #indexRows({ projectKey, sessionId }: SessionKey, entries: readonly SessionStoreEntry[]): void {
    for (const entry of entries) this.index.add(entry)
    if (this.#meta.key?.sessionId === sessionId) return
    this.updateMeta({ key: { projectKey, sessionId } })
    this.onConversationId(sessionId)
  }

  /** Returns the rows from which the CLI resumes. For the main agent, returns null if the CLI's own transcript is complete, so that the CLI reads that transcript. If the CLI got the driver's copy, it would run without most of the person's setup. */
  #load(key: SessionKey): SessionStoreEntry[] | null {
    if (key.subpath !== undefined) return this.#read(key)
    const marker = this.#resumeCall ? markerRow(this.#resumeCall.call, this.#resumeCall.mode) : null
    this.#resumeCall = null
    const cliFile = this.#completeCliTranscript(key)
    if (cliFile !== null) {
      if (marker) appendFileSync(cliFile, `${JSON.stringify(marker)}\n`)
      return null
    }
    const rows = this.#read(key)
    return rows && marker ? [...rows, marker] : rows
  }

  /** Returns the path of the CLI's own transcript file if it contains the last row of the driver's copy; otherwise returns null. */
  #completeCliTranscript(key: SessionKey): string | null {
    const file = this.#cliTranscriptFile(key)
    const { lastRowUuid } = this.index
    if (!existsSync(file)) return null
    return lastRowUuid === null || readFileSync(file, 'utf8').includes(lastRowUuid) ? file : null
  }

  #subkeys(sessionId: string): string[] {
    const prefix = `${encodeURIComponent(sessionId)}%2F`
    const names = readdirSync(this.#folder).filter(name => name.startsWith(prefix))
    return names.map(name => decodeURIComponent(name.slice(prefix.length, -'.jsonl'.length)))
  }

  #read(key: SessionKey): SessionStoreEntry[] | null {
    const file = this.#file(fileName(key))
    if (!existsSync(file)) return null
    // A crash during a write can leave an incomplete last line, which parseRow skips.
    return readFileSync(file, 'utf8').split('\n').flatMap(parseRow)
  }

  #file(name: string): string {
    return join(this.#folder, name)
  }
}

/** Encodes a key as one flat file name. */
function fileName({ sessionId, subpath }: SessionKey): string {
  return `${encodeURIComponent(subpath === undefined ? sessionId : `${sessionId}/${subpath}`)}.jsonl`
}

function parseRow(line: string): SessionStoreEntry[] {
  try {
    return [JSON.parse(line) as SessionStoreEntry] // `#append` wrote the line
  } catch {
    return []
  }
}

/** Returns null if the file exists but is damaged. */
function readMeta(file: string): Meta | null {
  if (!existsSync(file)) return {}
  try {
    return Meta.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

/** Builds the row that the CLI itself writes when a hook defers a call. On its next start, the CLI asks for that call again. */
function markerRow({ row, id, tool, input }: ToolCall, permissionMode: string): SessionStoreEntry {
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
      ...{ toolUseID: id, toolName: tool, toolInput: input, permissionMode },
      hookName: 'settings',
      hookEvent: 'PreToolUse',
    },
  }
}
