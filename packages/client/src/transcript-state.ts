/** Builds transcript entries from the events of a session. Applying an event a second time has no effect, and pages can be added at either end. */
import type { Attachment, Command, Event, Request, RequestId, Session, StreamingBlock } from '@holdpoint/protocol'
import { changedRequest } from './changed-request.ts'
import { describeChange } from './session-change.ts'
import type { Entry, MessageEntry, NoteEntry, ToolEntry } from './transcript-entry.ts'
import { firingText, variableChangeText } from './watcher-labels.ts'

type SessionChange = Extract<Event, { type: 'session.opened' | 'session.changed' | 'session.ended' }>
type BlockText = Pick<StreamingBlock, 'block' | 'type' | 'offset' | 'text' | 'tool' | 'agentPath'>

export class TranscriptState {
  #entries: Entry[] = []
  /** The position of each entry by id, relative to the first entry that was ever applied, so that adding a page at the start does not change positions. */
  readonly #positions = new Map<string, number>()
  /** The position of the first entry. */
  #first = 0
  /** Events that belong to entries on a page that is not loaded yet, by entry id. */
  readonly #early = new Map<string, Event[]>()
  #blocks = new Map<string, BlockText>()
  #session: Session | null = null
  /** The first session change in the loaded events, and the entry before this change. The note for this change can be written only after the previous change is loaded. */
  #firstChange: { readonly event: SessionChange; readonly after: string | null } | null = null

  /** Returns a new, empty state for the same session with the same streaming blocks. */
  emptied(): TranscriptState {
    const next = new TranscriptState()
    next.#blocks = this.#blocks
    return next
  }

  entries(): readonly Entry[] {
    const entries = [...this.#entries]
    for (const block of this.#blocks.values()) {
      const known = this.#find(block.block)
      const entry = streamingEntry(block, known)
      if (known) entries[this.#index(block.block)] = entry
      else entries.push(entry)
    }
    return entries
  }

  /** Adds the page directly before the loaded events. */
  prepend(events: readonly Event[]): void {
    const page = new TranscriptState()
    for (const event of events) page.apply(event)
    for (const [id, early] of this.#early)
      if (page.#positions.has(id)) {
        for (const event of early) page.apply(event)
        this.#early.delete(id)
      }
    for (const [id, early] of page.#early) this.#early.set(id, [...early, ...(this.#early.get(id) ?? [])])
    const earlier = page.#entries.map(entry => mergeRepeated(entry, this.#find(entry.id)))
    if (earlier.some(entry => this.#positions.has(entry.id))) this.#remove(new Set(page.#positions.keys()))
    this.#first -= earlier.length
    for (const [i, entry] of earlier.entries()) this.#positions.set(entry.id, this.#first + i)
    this.#entries = [...earlier, ...this.#entries]
    this.#addFirstChangeNote(page)
  }

  /** Adds the note for the first session change in the loaded events if `page` contains the session's previous state, which the note needs. */
  #addFirstChangeNote(page: TranscriptState): void {
    const change = this.#firstChange
    const before = page.#session
    if (!before) {
      if (change && change.after === null) this.#firstChange = { ...change, after: page.#entries.at(-1)?.id ?? null }
      return
    }
    this.#session ??= before
    this.#firstChange = page.#firstChange
    const text = change && describeChange(before, change.event.value)
    if (!text) return
    const { cursor, at } = change.event
    const note: NoteEntry = { kind: 'note', id: cursor, at, text }
    if (this.#positions.has(cursor)) this.#put(note)
    else this.#insert(note, change.after === null ? page.#entries.length : this.#index(change.after) + 1)
  }

  /** Inserts an entry and moves the entries before it by one position. Usually only one page of entries has to be moved. */
  #insert(entry: Entry, index: number): void {
    this.#entries.splice(index, 0, entry)
    this.#first--
    for (const [i, moved] of this.#entries.slice(0, index + 1).entries()) this.#positions.set(moved.id, this.#first + i)
  }

  #remove(ids: ReadonlySet<string>): void {
    const change = this.#firstChange
    if (change?.after != null) {
      const upToChange = this.#entries.slice(0, this.#index(change.after) + 1)
      this.#firstChange = { ...change, after: upToChange.findLast(entry => !ids.has(entry.id))?.id ?? null }
    }
    this.#entries = this.#entries.filter(entry => !ids.has(entry.id))
    this.#positions.clear()
    for (const [i, entry] of this.#entries.entries()) this.#positions.set(entry.id, this.#first + i)
  }

  setStreamingBlocks(blocks: readonly BlockText[]): void {
    this.#blocks = new Map(blocks.map(block => [block.block, block]))
  }
  addDelta(delta: BlockText): void {
    const known = this.#blocks.get(delta.block)
    const endOffset = known ? known.offset + known.text.length : 0
    if (known && delta.offset < endOffset) return
    const follows = known && delta.offset === endOffset
    this.#blocks.set(delta.block, follows ? { ...known, text: known.text + delta.text } : delta)
  }

  apply(event: Event): void {
    const { cursor, at } = event
    switch (event.type) {
      case 'message.added':
        this.#blocks.delete(event.block)
        this.#put(messageEntry(event))
        return
      case 'tool.started':
        this.#blocks.delete(event.block)
        // A resumed process repeats the event although the tool call has not started again, so ignore the event.
        if (this.#find(event.block)?.kind !== 'tool') this.#put(toolEntry(event))
        return
      case 'tool.finished':
        this.#blocks.delete(event.block)
        this.#change(event.block, event, entry => (entry.kind === 'tool' ? finishedTool(entry, event) : entry))
        return
      case 'turn.finished': {
        const { ending, usage, cost } = event
        this.#put({ kind: 'turn', id: cursor, at, ending, ...(usage && { usage }), ...(cost && { cost }) })
        return
      }
      case 'error.raised': {
        const { message, code } = event
        this.#put({ kind: 'error', id: cursor, at, message, ...(code && { code }) })
        return
      }
      case 'command.added':
        this.#addCommand(at, event.value)
        return
      case 'command.taken':
        this.#changeMessageState(event.command, event, 'taken')
        return
      case 'command.done':
        this.#changeMessageState(event.command, event, event.outcome.ok ? 'done' : 'failed', event.outcome.reason)
        return
      case 'session.opened':
      case 'session.changed':
      case 'session.ended': {
        const text = describeChange(this.#session, event.value)
        this.#firstChange ??= { event, after: this.#entries.at(-1)?.id ?? null }
        this.#session = event.value
        if (event.type === 'session.ended') this.#blocks = new Map()
        if (text !== null) this.#put({ kind: 'note', id: cursor, at, text })
        return
      }
      case 'watch.fired':
      case 'variable.changed': {
        const text = event.type === 'watch.fired' ? firingText(event) : variableChangeText(event)
        if (text !== null) this.#put({ kind: 'note', id: cursor, at, text })
        return
      }
      default:
        this.#applyToRequest(event)
    }
  }

  #applyToRequest(event: Event): void {
    switch (event.type) {
      case 'request.opened': {
        const { value } = event
        if (this.#positions.has(value.id)) return
        this.#put({ kind: 'request', id: value.id, at: event.at, request: value, agentPath: value.agentPath })
        return
      }
      case 'request.overdue':
        this.#changeRequest(event.request, event, { overdue: true })
        return
      case 'request.resolved': {
        const { resolution, delivery } = event
        this.#changeRequest(event.request, event, { status: 'resolved', resolution, delivery })
        return
      }
      case 'request.handed':
      case 'request.taken':
      case 'request.unknown':
      case 'request.undeliverable':
        this.#changeRequest(event.request, event, { delivery: event.delivery })
    }
  }

  #addCommand(at: number, { id, body, madeBy, madeById }: Command): void {
    if (this.#positions.has(id)) return
    const who = { by: madeBy, ...(madeById && { byId: madeById }) }
    if (body.kind === 'message') this.#put(personMessage(at, id, who, body))
    if (body.kind === 'interrupt') this.#put({ kind: 'note', id, at, text: `${madeBy} interrupted the turn`, ...who })
  }

  #changeMessageState(id: string, event: Event, state: MessageEntry['state'], problem?: string): void {
    this.#change(id, event, entry => {
      // After a crash a command may be taken a second time, but a command that is done stays done.
      if (entry.kind !== 'message' || (state === 'taken' && entry.state !== 'waiting')) return entry
      return { ...entry, ...(state && { state }), ...(problem && { problem }) }
    })
  }

  #changeRequest(id: RequestId, event: Event, change: Partial<Request>): void {
    this.#change(id, event, entry =>
      entry.kind === 'request' ? { ...entry, request: changedRequest(entry.request, change) } : entry,
    )
  }

  #change(id: string, event: Event, change: (entry: Entry) => Entry): void {
    const entry = this.#find(id)
    if (entry) this.#entries[this.#index(id)] = change(entry)
    else this.#early.set(id, [...(this.#early.get(id) ?? []), event])
  }

  #put(entry: Entry): void {
    if (this.#positions.has(entry.id)) this.#entries[this.#index(entry.id)] = entry
    else {
      this.#positions.set(entry.id, this.#first + this.#entries.length)
      this.#entries.push(entry)
    }
  }

  #find(id: string): Entry | undefined {
    return this.#positions.has(id) ? this.#entries[this.#index(id)] : undefined
  }
  #index(id: string): number {
    return (this.#positions.get(id) ?? this.#first) - this.#first
  }
}

function messageEntry(event: Extract<Event, { type: 'message.added' }>): MessageEntry {
  const { block, at, role, text, partial = false, agentPath = [] } = event
  return { kind: 'message', id: block, at, role, text, streaming: false, partial, agentPath }
}

function toolEntry(event: Extract<Event, { type: 'tool.started' }>): ToolEntry {
  const { block, at, tool, title, input, agentPath = [] } = event
  return {
    kind: 'tool',
    id: block,
    at,
    tool,
    ...(title && { title }),
    input,
    inputText: '',
    state: 'running',
    agentPath,
  }
}

function finishedTool(entry: ToolEntry, { at, ok, output }: Extract<Event, { type: 'tool.finished' }>): ToolEntry {
  return { ...entry, state: ok ? 'ok' : 'failed', endedAt: at, ...(output !== undefined && { output }) }
}

/** Merges an entry with a later entry of the same id. The result has the position of the earlier entry and the content of the later entry. */
function mergeRepeated(earlier: Entry, later: Entry | undefined): Entry {
  if (earlier.kind !== 'tool' || later?.kind !== 'tool') return later ?? earlier
  const { state, endedAt, output } = later
  if (endedAt === undefined) return earlier
  return { ...earlier, state, endedAt, ...(output !== undefined && { output }) }
}

function personMessage(
  at: number,
  id: string,
  who: Pick<MessageEntry, 'by' | 'byId'>,
  { text, attachments }: { text: string; attachments?: readonly Attachment[] | undefined },
): MessageEntry {
  const optional = attachments ? { attachments } : {}
  return {
    kind: 'message',
    id,
    at,
    role: 'person',
    text,
    streaming: false,
    partial: false,
    agentPath: [],
    ...who,
    state: 'waiting',
    ...optional,
  }
}

function streamingEntry(
  { block, type, offset, text, tool, agentPath = [] }: BlockText,
  known: Entry | undefined,
): Entry {
  const at = known?.at ?? Number.MAX_SAFE_INTEGER
  if (type === 'tool.delta')
    return {
      kind: 'tool',
      id: block,
      at,
      tool: tool ?? '',
      input: null,
      inputText: text,
      state: 'preparing',
      agentPath,
    }
  const before = known?.kind === 'message' ? known.text.slice(0, offset) : ''
  const missesStart = before.length < offset
  const shown = missesStart ? `…${text}` : before + text
  return {
    kind: 'message',
    id: block,
    at,
    role: 'agent',
    text: shown,
    streaming: true,
    ...(missesStart && { missesStart }),
    partial: false,
    agentPath,
  }
}
