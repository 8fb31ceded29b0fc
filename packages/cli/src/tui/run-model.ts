/** One session in a terminal: what is printed for good, what is asked, what the keys do. It draws nothing itself. */
import type { Inbox, RequestEntry, Transcript } from '@holdpoint/client'
import type { Call, Request, Session, SessionId } from '@holdpoint/protocol'
import { blank, ours, type Row, row } from '../text/span.ts'
import { type Piece, wrap } from '../text/width.ts'
import { Asking } from './asking.ts'
import { entryRows, type Reader } from './entry.ts'
import type { Key } from './key.ts'
import { emptyLine, type Line, lineOf, pressLine } from './line.ts'
import { Scroll } from './scroll.ts'
import { layPrompt, type Place } from './sheet.ts'
import { keyRows, lineRows } from './sheet-rows.ts'

export interface RunOptions {
  readonly call: Call
  readonly inbox: Inbox
  readonly transcript: Transcript
  readonly session: SessionId
  readonly me: string
  readonly modes: readonly string[]
  readonly place: () => Place
  /** Prints for good. */
  readonly print: (rows: readonly Row[]) => void
  readonly edit: (text: string) => Promise<string | null>
  readonly now: () => number
}
export interface RunFrame {
  readonly pieces: readonly Piece[]
  /** What the spinner says; null where nothing is under way. */
  readonly busy: string | null
}
export type Departure = 'ended' | 'left'

/** "Again" means soon: later it is a first time. */
const againMs = 10_000
/** So long an agent has to begin before the line is the person's again. */
const sentMs = 1000

export class RunModel {
  readonly #options: RunOptions
  readonly #asking: Asking
  readonly #scroll = new Scroll()
  readonly #listeners = new Set<() => void>()
  #frame: RunFrame = { pieces: [], busy: 'starting' }
  #composer: Line = emptyLine
  #hint: string | null = null
  /** Until the session moves on from here, what was sent is on its way. */
  #sentAt: number | null = null
  #interrupts = { count: 0, at: 0 }
  #editing = false
  #isOver = false
  #depart: (departure: Departure) => void = () => {}
  readonly departure = new Promise<Departure>(resolve => {
    this.#depart = resolve
  })

  constructor(options: RunOptions) {
    this.#options = options
    this.#asking = new Asking({
      answer: (id, answer) => options.inbox.answer(id, answer),
      edit: options.edit,
      changed: () => this.update(),
    })
    options.inbox.subscribe(() => this.update())
    options.transcript.subscribe(() => this.update())
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  readonly getSnapshot = (): RunFrame => this.#frame

  /** Brings everything up to what inbox and transcript know now. */
  readonly update = (): void => {
    if (this.#editing || this.#isOver) return
    const session = this.#session()
    this.#putNext()
    if (!this.#asking.prompt) this.#print()
    this.#frame = this.#draw(session)
    for (const listener of this.#listeners) listener()
    const { ended } = this.#options.inbox.getSnapshot()
    if (session?.state === 'ended' && this.#options.transcript.getSnapshot().loaded) this.#depart('ended')
    if (ended) this.#depart('left')
  }

  press(key: Key): void {
    if (this.#editing) return
    if (key.name === 'ctrl-c') this.#interrupt()
    else {
      this.#interrupts = { count: 0, at: 0 }
      if (this.#asking.prompt) this.#asking.press(key)
      else if (this.#composes()) this.#compose(key)
    }
  }
  #compose(key: Key): void {
    this.#hint = null
    if (key.name === 'enter') void this.#say(this.#composer.text.trim())
    else if (key.name === 'ctrl-d' && this.#composer.text === '') this.#depart('left')
    else this.#composer = pressLine(this.#composer, key) ?? this.#composer
    this.update()
  }

  #session(): Session | undefined {
    return this.#options.inbox.getSnapshot().sessions.get(this.#options.session)
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
    if (this.#composer.text !== '') return
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
    const begun = this.#composer.text !== ''
    if (!session || session.state === 'ended') return false
    if (!begun && session.state !== 'idle' && session.state !== 'parked') return false
    if (this.#sentAt !== null && this.#sentAt !== session.stateChangedAt) this.#sentAt = null
    return this.#sentAt === null && (begun || this.#waiting().length === 0)
  }

  #draw(session: Session | undefined): RunFrame {
    const { inbox, transcript, place } = this.#options
    const { columns, height } = place()
    const laid = (rows: readonly Row[]) => rows.flatMap(one => wrap(one, columns))
    const { prompt } = this.#asking
    if (prompt) {
      const count = { at: 1, of: this.#waiting().length }
      const { pieces, view } = layPrompt(prompt, { columns, height: height - 1 }, count, this.#asking.standing)
      this.#asking.drawn(view)
      return { pieces: [[], ...pieces], busy: null }
    }
    const writing = this.#composer.text !== '' && this.#waiting().length > 0
    const held = writing ? 'The agent asks something: send your line or clear it (Ctrl+U) first.' : null
    const words = this.#hint ?? held
    const hint = words === null ? [] : [row(ours(words, 'strong'))]
    if (this.#composes()) {
      const keys = keyRows(
        [
          ['Enter', 'says it'],
          ['/edit', 'opens your editor'],
          ['/end', 'ends the session'],
          ['/leave', 'leaves it'],
        ],
        columns,
      )
      return { pieces: laid([blank, ...hint, ...lineRows('', this.#composer), ...keys]), busy: null }
    }
    const rest = laid(this.#scroll.rest(transcript.getSnapshot().entries))
    const away = inbox.getSnapshot().status === 'reconnecting'
    const busy = away ? 'the gateway is away; trying again' : session?.state === 'ended' ? null : busyWords(session)
    return { pieces: [...rest.slice(-Math.max(1, height - 3)), ...laid(hint)], busy }
  }

  async #say(text: string): Promise<void> {
    const { call, session: id } = this.#options
    if (text === '') return
    if (text === '/leave') return this.#depart('left')
    if (text === '/edit') return this.#editMessage()
    this.#composer = emptyLine
    this.#sentAt = this.#session()?.stateChangedAt ?? null
    this.update()
    try {
      if (text === '/end') await call('endSession', { id })
      else await call('sendMessage', { id, text })
      setTimeout(() => this.#moveOn(), sentMs)
    } catch (error) {
      this.#sentAt = null
      this.#composer = lineOf(text)
      this.#hint = `It was not sent: ${error instanceof Error ? error.message : String(error)}`
      this.update()
    }
  }

  /** Nothing has come of it so far: the agent may be away, and there may be more to say. */
  #moveOn(): void {
    this.#sentAt = null
    this.update()
  }

  async #editMessage(): Promise<void> {
    this.#editing = true
    const text = await this.#options.edit('')
    this.#editing = false
    this.#composer = lineOf((text ?? '').replace(/\s+$/, ''))
    this.#hint = text === null ? 'The editor failed; set EDITOR to one that works.' : null
    this.update()
  }

  /** First: no to what is asked. Again: stop the turn. A third time: leave. */
  #interrupt(): void {
    const { now } = this.#options
    const before = now() - this.#interrupts.at < againMs ? this.#interrupts.count : 0
    const asked = this.#asking.prompt !== null
    const count = before === 0 && !asked ? 2 : before + 1
    this.#interrupts = { count, at: now() }
    if (count === 1) this.#asking.reject()
    else if (count > 2) this.#depart('left')
    else this.#stopTurn()
  }
  #stopTurn(): void {
    const idle = this.#composes()
    this.#composer = emptyLine
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
  /** Prints what was held back while a prompt was open; nothing comes after it. */
  settle(): void {
    this.#isOver = true
    this.#print()
    const { entries } = this.#options.transcript.getSnapshot()
    const open = entries.filter(isRequest).filter(({ request }) => request.status === 'pending')
    this.#options.print(open.flatMap(entry => entryRows(entry, this.#reader())))
  }
}

function isRequest(entry: { readonly kind: string }): entry is RequestEntry {
  return entry.kind === 'request'
}
function busyWords(session: Session | undefined): string {
  return session?.state === 'working' || session?.state === 'starting' ? session.state : 'waiting for the agent'
}
