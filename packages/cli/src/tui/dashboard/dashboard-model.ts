/** Inbox and sessions in a terminal: what is selected, what is open, what the keys do. It draws nothing itself. */
import type { Inbox } from '@holdpoint/client'
import type { Call, DriverInfo, Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { startSession } from '../../gateway-client/start-session.ts'
import { blankRow, type Row, row, trusted, untrusted } from '../../output/span.ts'
import { cutSpans, type StyledLine, wrap } from '../../output/width.ts'
import { PromptDrafts } from '../prompt/draft-sync.ts'
import { layoutPrompt } from '../prompt/layout/prompt-layout.ts'
import { keyRows } from '../prompt/layout/prompt-sections.ts'
import { leavesBy, openPrompt, type Prompt } from '../prompt/prompt.ts'
import { PromptController } from '../prompt/prompt-controller.ts'
import { decisionOf, letterOf } from '../prompt/prompt-step.ts'
import { RepeatToConfirm } from '../prompt/repeat-to-confirm.ts'
import { Composer } from '../run/composer.ts'
import type { Key } from '../terminal/key-parser.ts'
import type { Reader } from '../transcript/entry-rows.ts'
import { TranscriptPane } from '../transcript/transcript-pane.ts'
import { HelpPage, keyHints, previewRows, sayRows } from './help-page.ts'
import { groupsOf, type Item, itemsOf, sessionPieces, sessionSpans } from './session-list.ts'
import { openStartDialog, pressStartDialog, type StartDialog, startDialogRows, withDrivers } from './start-dialog.ts'

export interface DashboardOptions {
  readonly call: Call
  readonly url: string
  /** Where sessions start; undefined where the gateway, elsewhere, decides. */
  readonly folder: string | undefined
  readonly inbox: Inbox
  readonly me: string
  readonly drivers: () => Promise<readonly DriverInfo[]>
  readonly edit: (text: string) => Promise<string | null>
  readonly now: () => number
  readonly leave: () => void
  readonly changed: () => void
}
export interface PaneFrame {
  readonly pieces: readonly StyledLine[]
  readonly busy: string | null
}

const pageLines = 10
/** So high a pane has room for the session above what it asks. */
const tallFrom = 14

export class DashboardModel {
  readonly #options: DashboardOptions
  readonly #asking: PromptController
  readonly #drafts: PromptDrafts
  #drivers: readonly DriverInfo[] = []
  #selected: string | null = null
  #place = 0
  /** The session that is open, with its transcript. */
  #open: { readonly id: SessionId; readonly reading: TranscriptPane } | null = null
  #wanted: RequestId | null = null
  /** What is half said to a session stays with it. */
  readonly #composers = new Map<SessionId, Composer>()
  /** Whether the keys go to a line for the open session. */
  #writes = false
  #starter: StartDialog | null = null
  #help: HelpPage | null = null
  #hint: string | null = null
  readonly #again = new RepeatToConfirm(() => performance.now())

  constructor(options: DashboardOptions) {
    this.#options = options
    const { inbox, edit, call, me } = options
    this.#drafts = new PromptDrafts({ call, me, frames: inbox.onFrame })
    this.#asking = new PromptController({
      answer: (id, answer) => inbox.answer(id, answer),
      edit,
      isReachable: () => !this.#isAway(),
      drafts: this.#drafts,
      changed: this.update,
    })
    inbox.subscribe(this.update)
    void this.#learnDrivers()
  }

  readonly update = (): void => {
    this.#follow()
    this.#options.changed()
  }

  painted(): void {
    this.#asking.painted()
  }
  returned(): void {
    this.#asking.returned()
  }

  get inbox() {
    return this.#options.inbox.getSnapshot()
  }
  get #composer(): Composer | null {
    return (this.#open && this.#composers.get(this.#open.id)) ?? null
  }
  get selected(): string | null {
    return this.#selected
  }
  /** Whether the keys go to the pane and not to the list. */
  get isOpen(): boolean {
    return this.#open !== null || this.#starter !== null || this.isWide
  }
  /** Whether the pane wants the whole width. */
  get isWide(): boolean {
    return this.#help !== null
  }
  #isAway(): boolean {
    return this.inbox.status === 'reconnecting'
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
    const asked = this.#asking.prompt
    const { requests } = this.inbox
    this.#asking.sweep(id => requests.get(id)?.status === 'pending')
    if (this.#asking.prompt) return
    if (asked) this.#wanted = null
    // What somebody is writing is not the answer to it.
    if (!this.#open || this.#writes) return
    const waiting = this.#waitingIn(this.#open.id)
    const next = waiting.find(({ id }) => id === this.#wanted) ?? waiting[0] ?? null
    const modes = this.#drivers.find(({ name }) => name === this.#session()?.driver)?.modes ?? []
    this.#asking.put(next, modes)
    // Ctrl+C says no to this one first.
    if (next) this.#again.take()
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
    if (this.#composer?.isEditing) return
    const armed = this.#again.take()
    this.#hint = null
    if (this.#help) this.#help = this.#help.press(key) ? this.#help : null
    else if (this.#starter) this.#pressStarter(this.#starter, key)
    else if (key.name === 'ctrl-c') this.#interrupt(armed)
    else if (this.#writes) this.#compose(key)
    else if (this.#open) this.#pressPane(key, armed)
    else this.#pressList(key)
    this.update()
  }

  #interrupt(armed: string | null): void {
    this.#again.arm('leave')
    if (armed === 'leave') this.#options.leave()
    else if (this.#asking.prompt && !this.#isAway()) this.#asking.reject()
    else this.#hint = 'Ctrl+C again leaves.'
  }

  #compose(key: Key): void {
    if (key.name === 'escape') this.#writes = false
    else this.#composer?.press(key)
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
        this.#starter = openStartDialog(this.#drivers)
        void this.#learnDrivers()
      },
      '?': () => {
        this.#help = new HelpPage()
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
    const reading = new TranscriptPane(this.#options.inbox.transcript(id))
    reading.transcript.subscribe(this.update)
    this.#open = { id, reading }
    const { edit } = this.#options
    if (!this.#composers.has(id))
      this.#composers.set(id, new Composer({ send: text => this.#send(id, text), edit, changed: this.update }))
  }
  #closeSession(): void {
    this.#open?.reading.transcript.close()
    this.#open = null
    this.#writes = false
    this.#asking.put(null, [])
  }

  #pressPane(key: Key, armed: string | null): void {
    const { prompt } = this.#asking
    const back = key.name === 'escape' || (prompt && key.name === 'left') ? key.name : null
    if (back && !(prompt && !leavesBy(prompt, back))) this.#closeSession()
    else if (key.name === 'tab') this.#nextWaiting()
    else if (prompt) this.#asking.press(key)
    else this.#pressReading(key, armed)
  }
  #pressReading(key: Key, armed: string | null): void {
    const scroll = (lines: number) => () => this.#open?.reading.scroll(lines)
    const write = () => {
      this.#writes = true
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
        this.#help = new HelpPage()
      },
    }
    const decision = decisionOf(key)
    if (decision === 'I') this.#twice('interrupt', armed, 'I again interrupts the turn.')
    else if (decision === 'E') this.#twice('end', armed, 'E again ends the session.')
    else deeds[letterOf(key) ?? key.name]?.()
  }

  #twice(what: 'interrupt' | 'end', armed: string | null, hint: string): void {
    const id = this.#open?.id
    if (!id) return
    if (armed !== what) {
      this.#again.arm(what)
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

  /** It closes when it is sent; what could not be comes back. */
  async #send(id: SessionId, text: string): Promise<void> {
    this.#writes = false
    try {
      await this.#options.call('sendMessage', { id, text })
    } catch (error) {
      this.#writes = this.#open?.id === id
      throw error
    }
  }

  #pressStarter(starter: StartDialog, key: Key): void {
    const pressed = key.name === 'ctrl-c' ? ({ left: true } as const) : pressStartDialog(starter, key)
    if ('starter' in pressed) this.#starter = pressed.starter
    else this.#starter = null
    if ('start' in pressed) void this.#start(pressed.start)
  }
  async #start({ driver, prompt }: { driver: string; prompt: string }): Promise<void> {
    try {
      const session = await startSession(this.#options, { driver, prompt })
      this.#selected = session.id
      this.#openSession(session.id)
      this.update()
    } catch (error) {
      this.#complain(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** What the pane shows in so much room: never more lines than that. */
  pane(columns: number, height: number): PaneFrame {
    const laid = (rows: readonly Row[]) => rows.flatMap(one => wrap(one, columns))
    if (this.#help) return { pieces: this.#help.pieces(columns, height), busy: null }
    if (this.#starter) {
      const rows = startDialogRows(this.#starter, this.#options.folder, columns)
      return { pieces: laid(rows).slice(-height), busy: null }
    }
    if (!this.#open) return { pieces: this.#preview(columns, height), busy: null }
    return this.#sessionPane(this.#open.reading, columns, height)
  }

  #preview(columns: number, height: number): readonly StyledLine[] {
    const item = itemsOf(groupsOf(this.inbox)).find(({ id }) => id === this.#selected)
    if (item?.kind !== 'request') {
      const rows = previewRows(item?.session ?? null, this.inbox, this.#options.now())
      return rows.flatMap(one => wrap(one, columns)).slice(0, height)
    }
    const head = item.session ? [cutSpans(sessionSpans(item.session), columns), []] : []
    const place = { columns, height: height - head.length }
    return [...head, ...layoutPrompt(openPrompt(item.request, []), place, { at: 1, of: 1, standing: 'preview' }).pieces]
  }

  /** What was said stands right above what is asked; the last line is the spinner's. On a small screen what is asked has all of it. */
  #sessionPane(reading: TranscriptPane, columns: number, height: number): PaneFrame {
    const session = this.#session()
    const { prompt } = this.#asking
    const head = session && !(prompt && height < tallFrom) ? [...sessionPieces(session, columns), []] : []
    const reader: Reader = { me: this.#options.me, columns, isOurs: ({ id }) => this.#asking.isOurs(id) }
    const below = prompt
      ? this.#promptPieces(prompt, columns, height - head.length)
      : [...this.#footPieces(columns, reading), []]
    const room = Math.max(0, height - head.length - below.length)
    const talk = reading.pieces(reader, prompt ? Math.max(0, room - 1) : room)
    const pad: StyledLine[] = Array.from({ length: Math.max(0, room - talk.length) }, () => [])
    const space = prompt ? [...pad.slice(1), ...talk, ...pad.slice(0, 1)] : [...pad, ...talk]
    const busy = !prompt && (session?.state === 'working' || session?.state === 'starting') ? session.state : null
    return { pieces: [...head, ...space, ...below].slice(-height), busy }
  }
  #promptPieces(prompt: Prompt, columns: number, height: number): readonly StyledLine[] {
    const waiting = this.#waitingIn(prompt.request.session)
    const at = Math.max(1, waiting.findIndex(({ id }) => id === prompt.request.id) + 1)
    return this.#asking.lay({ columns, height }, { at, of: Math.max(1, waiting.length) })
  }
  #footPieces(columns: number, reading: TranscriptPane): readonly StyledLine[] {
    const waits = this.#writes && (this.#session()?.pending ?? 0) > 0
    const held = waits
      ? [blankRow, row(trusted('The agent asks something: send your line, or Esc shows it.', 'strong'))]
      : []
    const back = reading.back > 0 ? [row(trusted(`── ${reading.back} lines further down ──`, 'quiet'))] : []
    const say = this.#composer ? sayRows(this.#composer.line, this.#writes, columns) : []
    return [...back, ...held, ...say].flatMap(one => wrap(one, columns))
  }

  /** What can be done now, for the last line of the screen. */
  keys(columns: number): StyledLine {
    const hint = this.#hint ?? this.#composer?.hint ?? null
    if (hint !== null) return cutSpans([untrusted(hint, 'strong')], columns)
    return keyRows(keyHints[this.#where()], columns)[0]?.spans ?? []
  }
  #where(): keyof typeof keyHints {
    if (this.#help) return this.#help.hasMore ? 'helpMore' : 'help'
    if (this.#starter) return 'starter'
    if (this.#writes) return 'composer'
    if (this.#asking.prompt) return 'prompt'
    return this.#open ? 'session' : 'list'
  }

  /** What is half written stays at the gateway, where that can be reached. */
  async close(): Promise<void> {
    this.#closeSession()
    if (this.#isAway()) return
    await this.#asking.close()
    await this.#drafts.close()
  }
}
