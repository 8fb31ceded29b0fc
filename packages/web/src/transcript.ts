/** What was said and done in one session: its log, and the blocks that are under way. */
import type { InboxSnapshot } from '@holdpoint/client'
import {
  type Call,
  type Event,
  type Frame,
  type LiveBlock,
  limits,
  type Request,
  type SessionId,
} from '@holdpoint/protocol'
import { json, prose, words } from './agent-text.ts'
import { el, setText } from './dom.ts'
import { Receipt, summary } from './receipt.ts'
import { said } from './starter.ts'

/** More than this is read elsewhere: a page that holds everything is slow. */
const entriesMax = 600

export class Transcript {
  readonly root = el('div.transcript', { role: 'log', tabIndex: 0, ariaLabel: 'Transcript' })
  readonly #call: Call
  readonly #seen = new Set<string>()
  readonly #entries = new Map<string, HTMLElement>()
  readonly #texts = new Map<string, string>()
  readonly #streamed = new Map<string, string>()
  readonly #requests = new Map<string, { request: Request; receipt: Receipt | null }>()
  #session: SessionId | null = null
  /** Live events wait here while the log is read. */
  #early: Event[] | null = null
  #turn = 0

  constructor(call: Call) {
    this.#call = call
  }

  async show(session: SessionId | null): Promise<void> {
    const turn = ++this.#turn
    this.#session = session
    this.root.replaceChildren()
    for (const kept of [this.#seen, this.#entries, this.#texts, this.#streamed, this.#requests]) kept.clear()
    this.#early = []
    if (session === null) return
    try {
      for (let after: string | undefined, more = true; more; ) {
        const page = await this.#call('listEvents', { id: session, limit: limits.pageMax, ...(after && { after }) })
        if (turn !== this.#turn) return
        for (const event of page.items) this.#add(event)
        after = page.next ?? undefined
        more = page.next !== null
      }
    } catch (error) {
      if (turn === this.#turn) this.root.append(el('p.problem', {}, `The transcript could not be read: ${said(error)}`))
    }
    const early = this.#early
    this.#early = null
    for (const event of early) this.#add(event)
    this.root.scrollTop = this.root.scrollHeight
  }

  frame(frame: Frame): void {
    if (frame.frame === 'hello' && frame.hello.resume === 'gap' && this.#session) void this.show(this.#session)
    if (frame.frame !== 'event' || frame.event.session !== this.#session) return
    if (this.#early) this.#early.push(frame.event)
    else this.#keepingBottom(() => this.#add(frame.event))
  }

  /** Blocks that stream now stand behind everything that is finished. */
  live({ blocks }: InboxSnapshot): void {
    if (this.#early) return
    this.#keepingBottom(() => {
      for (const block of blocks.values()) if (block.session === this.#session) this.#stream(block)
    })
  }

  #stream({ block, offset, text, type, tool, agentPath }: LiveBlock): void {
    const before = (this.#texts.get(block) ?? '').slice(0, offset)
    const all = before.length < offset ? `…${text}` : before + text
    // What has not grown is left alone: someone may be selecting in it.
    if (this.#streamed.get(block) === all) return
    this.#streamed.set(block, all)
    if (type === 'message.delta') this.#put(block, el('div.entry.agent', {}, path(agentPath), prose(trim(all))))
    else this.#put(block, el('div.entry.tool', {}, path(agentPath), 'prepares ', words(tool ?? 'a tool')))
  }

  #keepingBottom(work: () => void): void {
    const { root } = this
    const atBottom = root.scrollHeight - root.scrollTop - root.clientHeight < 48
    work()
    if (atBottom) root.scrollTop = root.scrollHeight
  }

  #add(event: Event): void {
    if (this.#seen.has(event.cursor)) return
    this.#seen.add(event.cursor)
    if (event.type === 'message.added') this.#texts.set(event.block, event.text)
    if (event.type === 'request.opened') this.#requests.set(event.value.id, { request: event.value, receipt: null })
    if (event.type === 'tool.finished') this.#finishTool(event.block, event.ok, event.output)
    if ('delivery' in event) this.#follow(event)
    const drawn = drawEntry(event)
    if (drawn) this.#put(...drawn)
  }

  #follow(event: Extract<Event, { delivery: unknown }>): void {
    const known = this.#requests.get(event.request)
    if (!known) return
    const resolution = event.type === 'request.resolved' ? event.resolution : known.request.resolution
    const request: Request = { ...known.request, status: 'resolved', resolution, delivery: event.delivery }
    const receipt = known.receipt ?? new Receipt(request)
    receipt.update(request)
    this.#requests.set(event.request, { request, receipt })
    if (!known.receipt) this.#put(event.request, el('ul.entry.receipts', {}, receipt.root))
  }

  #finishTool(block: string, ok: boolean, output: unknown): void {
    const entry = this.#entries.get(block)
    const state = entry?.querySelector<HTMLElement>('.state')
    if (!entry || !state) return
    setText(state, ok ? ' ✓' : ' ✕ failed')
    if (output !== undefined) entry.append(typeof output === 'string' ? prose(output) : json(output))
  }

  #put(key: string, entry: HTMLElement): void {
    const known = this.#entries.get(key)
    if (known) known.replaceWith(entry)
    else this.root.append(entry)
    this.#entries.set(key, entry)
    for (const [oldest, node] of this.#entries) {
      if (this.#entries.size <= entriesMax) return
      node.remove()
      this.#entries.delete(oldest)
    }
  }
}

/** What stands in the transcript for an event, and under which key a later one replaces it. */
function drawEntry(event: Event): readonly [key: string, entry: HTMLElement] | null {
  switch (event.type) {
    case 'message.added':
      return [event.block, el(`div.entry.${event.role}`, {}, path(event.agentPath), prose(trim(event.text)))]
    case 'command.added':
      if (event.value.body.kind !== 'message') return null
      return [event.value.id, el('div.entry.person', {}, prose(event.value.body.text))]
    case 'command.done':
      if (event.outcome.ok) return null
      return [event.cursor, el('div.entry.problem', {}, 'Not carried out', prose(event.outcome.reason ?? ''))]
    case 'tool.started': {
      const about = event.title ?? Object.values(event.input).find(value => typeof value === 'string') ?? ''
      const named = [path(event.agentPath), words(event.tool), ' ', about !== '' && words(String(about))]
      const line = el('summary', {}, ...named, el('span.state', {}, ' …'))
      return [event.block, el('details.entry.tool', {}, line, json(event.input))]
    }
    case 'turn.finished':
      return [event.cursor, el('p.entry.hint', {}, `turn ${event.ending}`)]
    case 'error.raised':
      return [event.cursor, el('div.entry.problem', {}, 'The agent met an error', prose(event.message))]
    case 'session.ended':
      return [event.cursor, el('p.entry.hint', {}, `session ended: ${event.value.ending?.reason ?? 'done'}`)]
    case 'request.opened':
      return [event.value.id, el('div.entry.asked', {}, el('span.hand'), ' asked ', words(summary(event.value.ask)))]
    default:
      return null
  }
}

function path(agentPath: readonly string[] | undefined): HTMLElement | null {
  return agentPath && agentPath.length > 0
    ? el('span.path', {}, ...agentPath.flatMap(name => ['→ ', words(name), ' ']))
    : null
}

/** Agents part their blocks with empty lines, which the page does by itself. */
function trim(text: string): string {
  return text.replace(/^\n+|\n+$/g, '')
}
