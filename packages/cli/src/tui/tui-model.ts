/** Inbox and sessions in a terminal: what is selected, what is open, what the keys do. It draws nothing itself. */
import type { Inbox } from '@holdpoint/client'
import type { Call, DriverInfo, Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { blank, ours, type Row, row, theirs } from '../text/span.ts'
import { type Piece, wrap } from '../text/width.ts'
import { Asking } from './asking.ts'
import { groupsOf, type Item, itemsOf, sessionRow, statePiece } from './board.ts'
import type { Reader } from './entry.ts'
import type { Key } from './key.ts'
import { emptyLine, type Line, lineOf, pressLine } from './line.ts'
import { hasWayBack, openPrompt, type Prompt } from './prompt.ts'
import { Reading } from './reading.ts'
import { layPrompt } from './sheet.ts'
import { type KeyHint, keyRows, lineRows } from './sheet-rows.ts'
import { openStarter, pressStarter, type Starter, starterRows, withDrivers } from './starter.ts'
import { letterOf } from './step.ts'
import { helpRows, previewRows } from './tui-pages.ts'

export interface TuiOptions {
  readonly call: Call
  readonly inbox: Inbox
  readonly me: string
  readonly drivers: () => Promise<readonly DriverInfo[]>
  readonly edit: (text: string) => Promise<string | null>
  readonly now: () => number
  readonly leave: () => void
}
export interface PaneFrame {
  readonly pieces: readonly Piece[]
  readonly busy: string | null
}

const pageLines = 10

export class TuiModel {
  readonly #options: TuiOptions
  readonly #asking: Asking
  readonly #listeners = new Set<() => void>()
  #drivers: readonly DriverInfo[] = []
  #selected: string | null = null
  #place = 0
  /** The session that is open, with its transcript. */
  #open: { readonly id: SessionId; readonly reading: Reading } | null = null
  #wanted: RequestId | null = null
  #composer: Line | null = null
  #starter: Starter | null = null
  #help = false
  #hint: string | null = null
  /** A key that does something for good is pressed twice. */
  #armed: string | null = null
  #version = 0

  constructor(options: TuiOptions) {
    this.#options = options
    this.#asking = new Asking({
      answer: (id, answer) => options.inbox.answer(id, answer),
      edit: options.edit,
      changed: () => this.update(),
    })
    options.inbox.subscribe(this.update)
    void this.#learnDrivers()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  /** Changes with everything that is shown. */
  readonly getSnapshot = (): number => this.#version

  readonly update = (): void => {
    this.#follow()
    this.#version++
    for (const listener of this.#listeners) listener()
  }

  get inbox() {
    return this.#options.inbox.getSnapshot()
  }
  get selected(): string | null {
    return this.#selected
  }
  /** Whether the keys go to the pane and not to the list. */
  get isOpen(): boolean {
    return this.#open !== null || this.#starter !== null || this.#help
  }

  async #learnDrivers(): Promise<void> {
    // Without them a plan is approved as it is, and starting one tells what is wrong.
    this.#drivers = await this.#options.drivers().catch(() => this.#drivers)
    if (this.#starter) this.#starter = withDrivers(this.#starter, this.#drivers)
    this.update()
  }

  /** Selection and prompt follow what has changed: nothing that is gone stays selected or asked. */
  #follow(): void {
    const items = itemsOf(groupsOf(this.inbox))
    const at = items.findIndex(({ id }) => id === this.#selected)
    if (at >= 0) this.#place = at
    else this.#selected = items[Math.min(this.#place, items.length - 1)]?.id ?? null
    const { prompt } = this.#asking
    if (prompt) {
      const request = this.inbox.requests.get(prompt.request.id)
      if (request?.status === 'pending' && this.#open) return
      this.#asking.forget(prompt.request.id)
      this.#wanted = null
    }
    // What somebody is writing is not the answer to it.
    if (!this.#open || this.#composer) return
    const waiting = this.#waitingIn(this.#open.id)
    const next = waiting.find(({ id }) => id === this.#wanted) ?? waiting[0] ?? null
    const modes = this.#drivers.find(({ name }) => name === this.#session()?.driver)?.modes ?? []
    this.#asking.put(next, modes)
  }

  #waitingIn(session: SessionId): readonly Request[] {
    const { order, requests } = this.inbox
    return order
      .flatMap(id => requests.get(id) ?? [])
      .filter(request => request.session === session && !this.#asking.isOurs(request.id))
  }
  #session(): Session | undefined {
    return this.#open ? this.inbox.sessions.get(this.#open.id) : undefined
  }

  press(key: Key): void {
    const armed = this.#armed
    this.#armed = null
    this.#hint = null
    if (this.#help) this.#help = false
    else if (this.#starter) this.#pressStarter(this.#starter, key)
    else if (key.name === 'ctrl-c') this.#interrupt(armed)
    else if (this.#composer) void this.#compose(this.#composer, key)
    else if (this.#open) this.#pressPane(key, armed)
    else this.#pressList(key)
    this.update()
  }

  #interrupt(armed: string | null): void {
    this.#armed = 'leave'
    if (armed === 'leave') this.#options.leave()
    else if (this.#asking.prompt) this.#asking.reject()
    else this.#hint = 'Ctrl+C again leaves.'
  }

  #pressList(key: Key): void {
    const items = itemsOf(groupsOf(this.inbox))
    const item = items.find(({ id }) => id === this.#selected)
    const move = (by: number) => {
      this.#selected = items[Math.max(0, Math.min(items.length - 1, this.#place + by))]?.id ?? null
    }
    const enter = () => {
      if (item) this.#enter(item)
    }
    const deeds: Readonly<Record<string, () => void>> = {
      up: () => move(-1),
      k: () => move(-1),
      down: () => move(1),
      j: () => move(1),
      home: () => move(-items.length),
      end: () => move(items.length),
      enter,
      right: enter,
      n: () => {
        this.#starter = openStarter(this.#drivers)
        void this.#learnDrivers()
      },
      '?': () => {
        this.#help = true
      },
      q: this.#options.leave,
    }
    deeds[letterOf(key) ?? key.name]?.()
  }

  #enter(item: Item): void {
    const id = item.kind === 'request' ? item.request.session : item.id
    this.#wanted = item.kind === 'request' ? item.id : null
    this.#openSession(id)
  }
  #openSession(id: SessionId): void {
    this.#closeSession()
    const reading = new Reading(this.#options.inbox.transcript(id))
    reading.transcript.subscribe(this.update)
    this.#open = { id, reading }
  }
  #closeSession(): void {
    this.#open?.reading.transcript.close()
    this.#open = null
    this.#composer = null
    this.#asking.put(null, [])
  }

  #pressPane(key: Key, armed: string | null): void {
    const { prompt } = this.#asking
    if (key.name === 'escape' && !(prompt && hasWayBack(prompt))) this.#closeSession()
    else if (key.name === 'tab') this.#nextWaiting()
    else if (prompt) this.#asking.press(key)
    else this.#pressReading(key, armed)
  }
  #pressReading(key: Key, armed: string | null): void {
    const scroll = (lines: number) => () => this.#open?.reading.scroll(lines)
    const write = () => {
      this.#composer = emptyLine
    }
    const close = () => this.#closeSession()
    const deeds: Readonly<Record<string, () => void>> = {
      up: scroll(1),
      down: scroll(-1),
      pageup: scroll(pageLines),
      pagedown: scroll(-pageLines),
      left: close,
      q: close,
      enter: write,
      i: write,
      '?': () => {
        this.#help = true
      },
      I: () => this.#twice('interrupt', armed, 'I again interrupts the turn.'),
      E: () => this.#twice('end', armed, 'E again ends the session.'),
    }
    deeds[letterOf(key) ?? key.name]?.()
  }

  #twice(what: 'interrupt' | 'end', armed: string | null, hint: string): void {
    const id = this.#open?.id
    if (!id) return
    if (armed !== what) {
      this.#armed = what
      this.#hint = hint
      return
    }
    const done =
      what === 'end' ? this.#options.call('endSession', { id }) : this.#options.call('interruptSession', { id })
    void done.catch((error: Error) => this.#complain(error))
  }
  #complain(error: Error): void {
    this.#hint = error.message
    this.update()
  }

  /** The one that waits behind this one, wherever that is. */
  #nextWaiting(): void {
    const { order, requests } = this.inbox
    const shown = this.#asking.prompt?.request.id
    const id = order[((shown ? order.indexOf(shown) : -1) + 1) % order.length]
    const next = id === undefined || id === shown ? undefined : requests.get(id)
    if (!next) return
    this.#asking.put(null, [])
    this.#selected = next.id
    this.#wanted = next.id
    if (next.session !== this.#open?.id) this.#openSession(next.session)
  }

  async #compose(line: Line, key: Key): Promise<void> {
    if (key.name === 'escape') this.#composer = null
    else if (key.name !== 'enter') this.#composer = pressLine(line, key) ?? line
    else if (line.text.trim() === '/edit') {
      const text = await this.#options.edit('')
      this.#composer = lineOf((text ?? '').trimEnd())
    } else if (line.text.trim() !== '') await this.#send(line.text.trim())
    this.update()
  }
  async #send(text: string): Promise<void> {
    const id = this.#open?.id
    if (!id) return
    this.#composer = null
    try {
      await this.#options.call('sendMessage', { id, text })
    } catch (error) {
      this.#composer = lineOf(text)
      this.#hint = error instanceof Error ? error.message : String(error)
    }
  }

  #pressStarter(starter: Starter, key: Key): void {
    const pressed = key.name === 'ctrl-c' ? ({ left: true } as const) : pressStarter(starter, key)
    if ('starter' in pressed) this.#starter = pressed.starter
    else this.#starter = null
    if ('start' in pressed) void this.#start(pressed.start)
  }
  async #start({ driver, prompt }: { driver: string; prompt: string }): Promise<void> {
    try {
      const title = prompt.split('\n')[0]?.slice(0, 80) || driver
      const session = await this.#options.call('startSession', { driver, prompt, title, cwd: process.cwd() })
      this.#selected = session.id
      this.#openSession(session.id)
      this.update()
    } catch (error) {
      this.#complain(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** What the pane shows in so much room. */
  pane(columns: number, height: number): PaneFrame {
    const laid = (rows: readonly Row[]) => rows.flatMap(one => wrap(one, columns))
    if (this.#help) return { pieces: laid(helpRows), busy: null }
    if (this.#starter) return { pieces: laid(starterRows(this.#starter, columns)).slice(0, height), busy: null }
    if (!this.#open) return { pieces: this.#preview(columns, height), busy: null }
    return this.#sessionPane(this.#open.reading, columns, height)
  }

  #preview(columns: number, height: number): readonly Piece[] {
    const item = itemsOf(groupsOf(this.inbox)).find(({ id }) => id === this.#selected)
    if (item?.kind !== 'request')
      return previewRows(item?.session ?? null, this.inbox, this.#options.now()).flatMap(one => wrap(one, columns))
    const head = item.session ? [wrap(sessionRow(item.session), columns)[0] ?? []] : []
    const place = { columns, height: height - 2 }
    return [...head, [], ...layPrompt(openPrompt(item.request, []), place, { at: 1, of: 1 }, 'preview').pieces]
  }

  /** What was said stands right above what is asked; the last line is the spinner's. */
  #sessionPane(reading: Reading, columns: number, height: number): PaneFrame {
    const session = this.#session()
    const head: Piece[] = session ? [wrap(sessionRow(session), columns)[0] ?? [], statePiece(session, columns)] : []
    const reader: Reader = { me: this.#options.me, columns, isOurs: ({ id }) => this.#asking.isOurs(id) }
    const { prompt } = this.#asking
    const most = height - head.length - 3
    const below = prompt ? [[], ...this.#promptPieces(prompt, columns, most)] : this.#footPieces(columns, reading)
    const room = Math.max(0, height - head.length - below.length - 2)
    const talk = reading.pieces(reader, room)
    const pad: Piece[] = Array.from({ length: Math.max(0, room - talk.length) }, () => [])
    const busy = !prompt && (session?.state === 'working' || session?.state === 'starting') ? session.state : null
    return { pieces: [...head, [], ...pad, ...talk, ...below], busy }
  }
  #promptPieces(prompt: Prompt, columns: number, height: number): readonly Piece[] {
    const waiting = this.#waitingIn(prompt.request.session)
    const at = Math.max(1, waiting.findIndex(({ id }) => id === prompt.request.id) + 1)
    const count = { at, of: Math.max(1, waiting.length) }
    const { pieces, view } = layPrompt(prompt, { columns, height }, count, this.#asking.standing)
    this.#asking.drawn(view)
    return pieces
  }
  #footPieces(columns: number, reading: Reading): readonly Piece[] {
    const waits = this.#composer && (this.#session()?.pending ?? 0) > 0
    const held = waits ? [blank, row(ours('The agent asks something: send your line, or Esc shows it.', 'strong'))] : []
    const back = reading.back > 0 ? [row(ours(`── ${reading.back} lines further down ──`, 'quiet'))] : []
    const line = this.#composer ? [blank, ...lineRows('Say', this.#composer)] : []
    return [...back, ...held, ...line].flatMap(one => wrap(one, columns))
  }

  /** What can be done now, for the last line of the screen. */
  keys(columns: number): Row {
    if (this.#hint !== null) return row(theirs(this.#hint, 'strong'))
    return keyRows(this.#keyHints(), columns)[0] ?? blank
  }
  #keyHints(): readonly KeyHint[] {
    if (this.#help) return [['any key', 'goes back']]
    if (this.#starter) return []
    if (this.#composer)
      return [
        ['Enter', 'sends it'],
        ['/edit', 'opens your editor'],
        ['Esc', 'goes back'],
      ]
    if (this.#asking.prompt)
      return [
        ['Tab', 'next that waits'],
        ['Esc', 'back to the list'],
      ]
    if (this.#open)
      return [
        ['Enter', 'write'],
        ['Esc', 'back to the list'],
        ['↑↓', 'scroll'],
        ['I', 'interrupt'],
        ['E', 'end'],
        ['?', 'help'],
      ]
    return [
      ['↑↓', 'move'],
      ['Enter', 'open'],
      ['n', 'new session'],
      ['?', 'help'],
      ['q', 'leave'],
    ]
  }

  close(): void {
    this.#closeSession()
  }
}
