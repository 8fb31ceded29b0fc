/** One session in a terminal: what is printed for good, what is asked, what the keys do. It draws nothing itself. */
import type { Inbox, RequestEntry, Transcript } from '@holdpoint/client'
import type { Call, Request, Session, SessionId } from '@holdpoint/protocol'
import { blankRow, type Row, row, untrusted } from '../../output/span.ts'
import { type StyledLine, wrap } from '../../output/width.ts'
import { PromptDrafts } from '../prompt/draft-sync.ts'
import type { ScreenSize } from '../prompt/layout/prompt-layout.ts'
import { type KeyHint, keyRows } from '../prompt/layout/prompt-sections.ts'
import { PromptController } from '../prompt/prompt-controller.ts'
import { repeatWithinMs } from '../prompt/repeat-to-confirm.ts'
import { textInputRows } from '../prompt/text-input-view.ts'
import type { Key } from '../terminal/key-parser.ts'
import type { Frame } from '../terminal/terminal.ts'
import { entryRows, type Reader } from '../transcript/entry-rows.ts'
import { TranscriptPrinter } from '../transcript/transcript-printer.ts'
import { Composer } from './composer.ts'

export interface RunOptions {
  readonly call: Call
  readonly inbox: Inbox
  readonly transcript: Transcript
  readonly session: SessionId
  /** It had ended when the person came back to it, and what they say opens it again. */
  readonly reopens: boolean
  readonly me: string
  readonly modes: readonly string[]
  readonly place: () => ScreenSize
  /** Prints for good. */
  readonly print: (rows: readonly Row[]) => void
  readonly edit: (text: string) => Promise<string | null>
  readonly now: () => number
  readonly changed: () => void
}
export type RunEnd = 'ended' | 'left'

/** So long an agent has to begin before the line is the person's again. */
const sentMs = 1000
const lineKeys: readonly KeyHint[] = [
  ['Enter', 'says it'],
  ['/edit', 'opens your editor'],
  ['/end', 'ends the session'],
  ['/leave', 'leaves it'],
]

export class RunModel {
  readonly #options: RunOptions
  readonly #asking: PromptController
  readonly #drafts: PromptDrafts
  readonly #composer: Composer
  readonly #scroll = new TranscriptPrinter()
  #frame = withSpinner([], 'starting')
  #hint: string | null = null
  /** Until the session moves on from here, what was sent is on its way. */
  #sentAt: number | null = null
  #interrupts = { count: 0, at: 0 }
  #isOver = false
  #reopens: boolean
  #depart: (departure: RunEnd) => void = () => {}
  readonly departure = new Promise<RunEnd>(resolve => {
    this.#depart = resolve
  })

  constructor(options: RunOptions) {
    this.#options = options
    this.#reopens = options.reopens
    const { inbox, edit, call, me } = options
    const changed = () => this.update()
    this.#drafts = new PromptDrafts({ call, me, frames: inbox.onFrame })
    this.#asking = new PromptController({
      answer: (id, answer) => inbox.answer(id, answer),
      edit,
      isReachable: () => !this.#isAway(),
      drafts: this.#drafts,
      changed,
    })
    this.#composer = new Composer({ send: text => this.#say(text), edit, changed })
    inbox.subscribe(changed)
    options.transcript.subscribe(changed)
  }

  get frame(): Frame {
    return this.#frame
  }

  /** Brings everything up to what inbox and transcript know now. */
  readonly update = (): void => {
    if (this.#composer.isEditing || this.#isOver) return
    const session = this.#session()
    if (session && session.state !== 'ended') this.#reopens = false
    this.#putNext()
    if (!this.#asking.prompt) this.#print()
    this.#frame = this.#draw(session)
    this.#options.changed()
    const { ended } = this.#options.inbox.getSnapshot()
    const over = session?.state === 'ended' && !this.#reopens
    if (over && this.#options.transcript.getSnapshot().loaded) this.#depart('ended')
    if (ended) this.#depart('left')
  }
  painted(): void {
    this.#asking.painted()
  }
  returned(): void {
    this.#asking.returned()
  }

  press(key: Key): void {
    if (this.#composer.isEditing) return
    if (key.name === 'ctrl-c') this.#interrupt()
    else {
      this.#interrupts = { count: 0, at: 0 }
      if (this.#asking.prompt) this.#asking.press(key)
      else if (this.#composes()) this.#compose(key)
    }
  }
  #compose(key: Key): void {
    this.#hint = null
    if (key.name === 'ctrl-d' && this.#composer.isEmpty) this.#depart('left')
    else this.#composer.press(key)
  }

  #session(): Session | undefined {
    return this.#options.inbox.getSnapshot().sessions.get(this.#options.session)
  }
  #isAway(): boolean {
    return this.#options.inbox.getSnapshot().status === 'reconnecting'
  }
  #reader(): Reader {
    const { me } = this.#options
    return { me, columns: this.#options.place().columns, isOurs: ({ id }) => this.#asking.isOurs(id) }
  }

  /** Requests that wait here, oldest first. Older ones than the transcript has are known to the inbox. */
  #waiting(): readonly Request[] {
    const { requests, order } = this.#options.inbox.getSnapshot()
    const entries = this.#options.transcript.getSnapshot().entries.filter(isRequest)
    const known = new Set(entries.map(entry => entry.id))
    const older = order.filter(id => !known.has(id)).flatMap(id => requests.get(id) ?? [])
    const here = entries
      .filter(entry => entry.request.status === 'pending')
      .map(entry => requests.get(entry.id) ?? entry.request)
    return [...older.filter(({ session }) => session === this.#options.session), ...here]
  }

  #putNext(): void {
    const { prompt } = this.#asking
    const waiting = this.#waiting()
    const held = prompt && waiting.find(({ id }) => id === prompt.request.id)
    if (held?.status === 'pending') return
    if (prompt) this.#asking.forget(prompt.request.id)
    if (!this.#options.transcript.getSnapshot().loaded) return
    const [next] = waiting
    // What somebody is writing is not the answer to it.
    if (!this.#composer.isEmpty) return
    // One that has just been resolved is first told of.
    if (next?.status !== 'pending' || this.#asking.isOurs(next.id)) return
    this.#print()
    this.#asking.put(next, this.#options.modes)
  }

  #print(): void {
    const { entries, loaded } = this.#options.transcript.getSnapshot()
    const rows = loaded ? this.#scroll.advance(entries, this.#reader()) : []
    if (rows.length > 0) this.#options.print(rows)
  }

  /** Whether the keys go to a line of the person's own; one that is begun stays, whatever the agent does. */
  #composes(): boolean {
    const session = this.#session()
    const begun = !this.#composer.isEmpty
    const rests = session?.state === 'idle' || session?.state === 'parked' || this.#reopens
    if (!session || (session.state === 'ended' && !this.#reopens) || (!begun && !rests)) return false
    if (this.#sentAt !== null && this.#sentAt !== session.stateChangedAt) this.#sentAt = null
    return this.#sentAt === null && (begun || this.#waiting().length === 0)
  }

  #draw(session: Session | undefined): Frame {
    const { transcript, place } = this.#options
    const { columns, height } = place()
    // Never more than the screen has: of what is too long the end is in sight.
    const laid = (rows: readonly Row[], most = height) =>
      rows.flatMap(one => wrap(one, columns)).slice(-Math.max(1, most))
    if (this.#asking.prompt) {
      const count = { at: 1, of: this.#waiting().length }
      return { lines: [[], ...this.#asking.lay({ columns, height: height - 1 }, count)], spinner: null }
    }
    const hint = this.#hintRows()
    if (this.#composes()) {
      const keys = lineKeys.filter(([key]) => !this.#reopens || key !== '/end')
      const line = textInputRows({ label: '', line: this.#composer.line }, columns)
      return { lines: laid([blankRow, ...hint, ...line, ...keyRows(keys, columns)]), spinner: null }
    }
    const rest = laid(this.#scroll.rest(transcript.getSnapshot().entries), height - 3)
    const busy = this.#isAway() ? awayWords : session?.state === 'ended' ? null : busyWords(session)
    return withSpinner([...rest, ...laid(hint, 2)], busy)
  }
  #hintRows(): readonly Row[] {
    const writing = !this.#composer.isEmpty && this.#waiting().length > 0
    const words =
      this.#hint ??
      this.#composer.hint ??
      (this.#isAway() && this.#composes() ? 'The gateway is away; trying again.' : null) ??
      (this.#reopens ? 'This session has ended: what you say opens it again.' : null) ??
      (writing ? 'The agent asks something: send your line or clear it (Ctrl+U) first.' : null)
    return words === null ? [] : [row(untrusted(words, 'strong'))]
  }

  async #say(text: string): Promise<void> {
    const { call, session: id } = this.#options
    if (text === '/leave') return this.#depart('left')
    this.#sentAt = this.#session()?.stateChangedAt ?? null
    try {
      if (text === '/end') {
        await call('endSession', { id })
        this.#reopens = false
      } else await call('sendMessage', { id, text })
      // Nothing may come of it for long: the agent may be away, and there may be more to say.
      setTimeout(() => this.#moveOn(), sentMs)
    } catch (error) {
      this.#sentAt = null
      throw error
    }
  }
  #moveOn(): void {
    this.#sentAt = null
    this.update()
  }

  /** First: no to what is asked. Again: stop the turn. A third time: leave. Without a gateway there is nothing to say no to. */
  #interrupt(): void {
    const { now } = this.#options
    const before = now() - this.#interrupts.at < repeatWithinMs ? this.#interrupts.count : 0
    const asked = this.#asking.prompt !== null && !this.#isAway()
    const count = before === 0 && !asked ? 2 : before + 1
    this.#interrupts = { count, at: now() }
    if (count === 1) this.#asking.reject()
    else if (count > 2) this.#depart('left')
    else this.#stopTurn()
  }
  #stopTurn(): void {
    const idle = this.#composes() || this.#isAway()
    this.#composer.clear()
    this.#hint = idle ? 'Ctrl+C again leaves.' : 'Interrupted; Ctrl+C again leaves.'
    const { call, session: id } = this.#options
    if (!idle) void call('interruptSession', { id }).catch((error: Error) => this.#complain(error))
    this.update()
  }
  #complain(error: Error): void {
    this.#hint = `It could not be interrupted: ${error.message}`
    this.update()
  }

  /** What stays when the person goes. */
  get pending(): readonly Request[] {
    return this.#waiting().filter(({ status }) => status === 'pending')
  }
  /** What is half written stays at the gateway, where that can be reached. */
  async close(): Promise<void> {
    if (this.#isAway()) return
    await this.#asking.close()
    await this.#drafts.close()
  }
  /** Prints what was held back while a prompt was open; nothing comes after it. */
  settle(): void {
    this.#isOver = true
    this.#print()
    const { entries } = this.#options.transcript.getSnapshot()
    const open = entries.filter(isRequest).filter(({ request }) => request.status === 'pending')
    this.#options.print(open.flatMap(entry => entryRows(entry, this.#reader())))
  }
}

/** Whether what is said to it, once it has ended, brings its agent back. */
export function canReopen({ capabilities }: Session): boolean {
  return capabilities.includes('resumable')
}
/** The spinner has a line of its own below the others; null for none. */
function withSpinner(lines: readonly StyledLine[], text: string | null): Frame {
  return text === null ? { lines, spinner: null } : { lines: [...lines, []], spinner: { line: lines.length, text } }
}
function isRequest(entry: { readonly kind: string }): entry is RequestEntry {
  return entry.kind === 'request'
}
const awayWords = 'the gateway is away; trying again'
function busyWords(session: Session | undefined): string {
  return session?.state === 'working' || session?.state === 'starting' ? session.state : 'waiting for the agent'
}
