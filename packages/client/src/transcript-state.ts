/** What a session's events add up to for a reader. Folding an event twice changes nothing, and pages may come in from either end. */
import type { Attachment, Command, Event, Request, RequestId, Session, StreamingBlock } from '@holdpoint/protocol'
import { describeChange } from './session-change.ts'
import type { Entry, MessageEntry, NoteEntry, ToolEntry } from './transcript-entry.ts'

type SessionChange = Extract<Event, { type: 'session.opened' | 'session.changed' | 'session.ended' }>
type Growing = Pick<StreamingBlock, 'block' | 'type' | 'offset' | 'text' | 'tool' | 'agentPath'>

export class TranscriptState {
  #entries: Entry[] = []
  /** Places count from the first entry ever folded, so that a page in front moves none of them. */
  readonly #places = new Map<string, number>()
  #first = 0
  /** What is known of entries that stand on a page not read yet. */
  readonly #loose = new Map<string, Event[]>()
  #blocks = new Map<string, Growing>()
  #session: Session | null = null
  /** The first change of the session that is here, and the entry it comes behind: what it says shows once the change before it is known. */
  #firstChange: { readonly event: SessionChange; readonly behind: string | null } | null = null

  /** An empty one for the same session: what streams goes on. */
  renewed(): TranscriptState {
    const fresh = new TranscriptState()
    fresh.#blocks = this.#blocks
    return fresh
  }

  entries(): readonly Entry[] {
    const entries = [...this.#entries]
    for (const block of this.#blocks.values()) {
      const known = this.#find(block.block)
      const entry = streaming(block, known)
      if (known) entries[this.#index(block.block)] = entry
      else entries.push(entry)
    }
    return entries
  }

  /** The page that lies right before everything that is here. */
  prepend(events: readonly Event[]): void {
    const page = new TranscriptState()
    for (const event of events) page.fold(event)
    for (const [id, loose] of this.#loose)
      if (page.#places.has(id)) {
        for (const event of loose) page.fold(event)
        this.#loose.delete(id)
      }
    for (const [id, loose] of page.#loose) this.#loose.set(id, [...loose, ...(this.#loose.get(id) ?? [])])
    const earlier = page.#entries.map(entry => retold(entry, this.#find(entry.id)))
    if (earlier.some(entry => this.#places.has(entry.id))) this.#remove(new Set(page.#places.keys()))
    this.#first -= earlier.length
    for (const [i, entry] of earlier.entries()) this.#places.set(entry.id, this.#first + i)
    this.#entries = [...earlier, ...this.#entries]
    this.#joinChanges(page)
  }

  /** Between two pages: what the first change of the later one says, now that the change before it is known. */
  #joinChanges(page: TranscriptState): void {
    const change = this.#firstChange
    const before = page.#session
    if (!before) {
      if (change && change.behind === null) this.#firstChange = { ...change, behind: page.#entries.at(-1)?.id ?? null }
      return
    }
    this.#session ??= before
    this.#firstChange = page.#firstChange
    const text = change && describeChange(before, change.event.value)
    if (!text) return
    const { cursor, at } = change.event
    const note: NoteEntry = { kind: 'note', id: cursor, at, text }
    if (this.#places.has(cursor)) this.#put(note)
    else this.#insert(note, change.behind === null ? page.#entries.length : this.#index(change.behind) + 1)
  }

  /** What stands before it moves by one place; as a rule that is one page. */
  #insert(entry: Entry, index: number): void {
    this.#entries.splice(index, 0, entry)
    this.#first--
    for (const [i, moved] of this.#entries.slice(0, index + 1).entries()) this.#places.set(moved.id, this.#first + i)
  }

  #remove(ids: ReadonlySet<string>): void {
    const change = this.#firstChange
    if (change?.behind != null) {
      const until = this.#entries.slice(0, this.#index(change.behind) + 1)
      this.#firstChange = { ...change, behind: until.findLast(entry => !ids.has(entry.id))?.id ?? null }
    }
    this.#entries = this.#entries.filter(entry => !ids.has(entry.id))
    this.#places.clear()
    for (const [i, entry] of this.#entries.entries()) this.#places.set(entry.id, this.#first + i)
  }

  stream(blocks: readonly Growing[]): void {
    this.#blocks = new Map(blocks.map(block => [block.block, block]))
  }
  grow(delta: Growing): void {
    const known = this.#blocks.get(delta.block)
    const reached = known ? known.offset + known.text.length : 0
    if (known && delta.offset < reached) return
    const follows = known && delta.offset === reached
    this.#blocks.set(delta.block, follows ? { ...known, text: known.text + delta.text } : delta)
  }

  fold(event: Event): void {
    const { cursor, at } = event
    switch (event.type) {
      case 'message.added':
        this.#blocks.delete(event.block)
        this.#put(messageOf(event))
        return
      case 'tool.started':
        this.#blocks.delete(event.block)
        // Told again after a resume, it has not begun anew.
        if (this.#find(event.block)?.kind !== 'tool') this.#put(toolOf(event))
        return
      case 'tool.finished':
        this.#blocks.delete(event.block)
        this.#change(event.block, event, entry => (entry.kind === 'tool' ? finished(entry, event) : entry))
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
        this.#command(at, event.value)
        return
      case 'command.taken':
        this.#changeFate(event.command, event, 'taken')
        return
      case 'command.done':
        this.#changeFate(event.command, event, event.outcome.ok ? 'done' : 'failed', event.outcome.reason)
        return
      case 'session.opened':
      case 'session.changed':
      case 'session.ended': {
        const text = describeChange(this.#session, event.value)
        this.#firstChange ??= { event, behind: this.#entries.at(-1)?.id ?? null }
        this.#session = event.value
        if (event.type === 'session.ended') this.#blocks = new Map()
        if (text !== null) this.#put({ kind: 'note', id: cursor, at, text })
        return
      }
      default:
        this.#request(event)
    }
  }

  #request(event: Event): void {
    switch (event.type) {
      case 'request.opened': {
        const { value } = event
        if (this.#places.has(value.id)) return
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

  #command(at: number, { id, body, madeBy }: Command): void {
    if (this.#places.has(id)) return
    if (body.kind === 'message') this.#put(saidBy(at, id, madeBy, body))
    if (body.kind === 'interrupt') this.#put({ kind: 'note', id, at, text: `${madeBy} interrupted the turn` })
  }

  #changeFate(id: string, event: Event, fate: MessageEntry['fate'], problem?: string): void {
    this.#change(id, event, entry => {
      // A command taken again after a crash is no less done.
      if (entry.kind !== 'message' || (fate === 'taken' && entry.fate !== 'waiting')) return entry
      return { ...entry, ...(fate && { fate }), ...(problem && { problem }) }
    })
  }

  #changeRequest(id: RequestId, event: Event, change: Partial<Request>): void {
    this.#change(id, event, entry =>
      entry.kind === 'request' ? { ...entry, request: { ...entry.request, ...change } } : entry,
    )
  }

  #change(id: string, event: Event, change: (entry: Entry) => Entry): void {
    const entry = this.#find(id)
    if (entry) this.#entries[this.#index(id)] = change(entry)
    else this.#loose.set(id, [...(this.#loose.get(id) ?? []), event])
  }

  #put(entry: Entry): void {
    if (this.#places.has(entry.id)) this.#entries[this.#index(entry.id)] = entry
    else {
      this.#places.set(entry.id, this.#first + this.#entries.length)
      this.#entries.push(entry)
    }
  }

  #find(id: string): Entry | undefined {
    return this.#places.has(id) ? this.#entries[this.#index(id)] : undefined
  }
  #index(id: string): number {
    return (this.#places.get(id) ?? this.#first) - this.#first
  }
}

function messageOf(event: Extract<Event, { type: 'message.added' }>): MessageEntry {
  const { block, at, role, text, partial = false, agentPath = [] } = event
  return { kind: 'message', id: block, at, role, text, streaming: false, partial, agentPath }
}

function toolOf(event: Extract<Event, { type: 'tool.started' }>): ToolEntry {
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

function finished(entry: ToolEntry, { at, ok, output }: Extract<Event, { type: 'tool.finished' }>): ToolEntry {
  return { ...entry, state: ok ? 'ok' : 'failed', endedAt: at, ...(output !== undefined && { output }) }
}

/** What an entry is, if it was told again later: it keeps its place, and words are as they were said last. */
function retold(earlier: Entry, later: Entry | undefined): Entry {
  if (earlier.kind !== 'tool' || later?.kind !== 'tool') return later ?? earlier
  const { state, endedAt, output } = later
  if (endedAt === undefined) return earlier
  return { ...earlier, state, endedAt, ...(output !== undefined && { output }) }
}

function saidBy(
  at: number,
  id: string,
  by: string,
  { text, attachments }: { text: string; attachments?: readonly Attachment[] | undefined },
): MessageEntry {
  const more = attachments ? { attachments } : {}
  return {
    kind: 'message',
    id,
    at,
    role: 'person',
    text,
    streaming: false,
    partial: false,
    agentPath: [],
    by,
    fate: 'waiting',
    ...more,
  }
}

function streaming({ block, type, offset, text, tool, agentPath = [] }: Growing, known: Entry | undefined): Entry {
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
  const all = before.length < offset ? `…${text}` : before + text
  return { kind: 'message', id: block, at, role: 'agent', text: all, streaming: true, partial: false, agentPath }
}
