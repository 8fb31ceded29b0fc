/** The state of `holdpoint run`: what to print, the current prompt or message line, and what the keys do. */
import type { Inbox, RequestEntry, Transcript } from '@holdpoint/client'
import type { Call, Request, Session, SessionId } from '@holdpoint/protocol'
import { blankRow, type Row, row, untrusted } from '../../output/span.ts'
import { type StyledLine, wrap } from '../../output/width.ts'
import type { ScreenSize } from '../prompt/layout/prompt-layout.ts'
import { keyRows } from '../prompt/layout/prompt-sections.ts'
import { PromptController } from '../prompt/prompt-controller.ts'
import { PromptDrafts } from '../prompt/prompt-drafts.ts'
import { repeatWithinMs } from '../prompt/repeat-to-confirm.ts'
import { textInputRows } from '../prompt/text-input-view.ts'
import type { Key } from '../terminal/key-parser.ts'
import type { ScreenFrame } from '../terminal/terminal.ts'
import { type EntryContext, entryRows } from '../transcript/entry-rows.ts'
import { TranscriptPrinter } from '../transcript/transcript-printer.ts'
import { MessageComposer } from './composer.ts'
import { messageKeys, runTexts as texts } from './texts.ts'

export interface RunModelOptions {
  readonly call: Call
  readonly inbox: Inbox
  readonly transcript: Transcript
  readonly session: SessionId
  /** Whether the session has ended, and a message can reopen the session or has just been sent. */
  readonly canReopen: boolean
  readonly me: string
  readonly modes: readonly string[]
  readonly size: () => ScreenSize
  /** Prints output that stays on the terminal. */
  readonly print: (rows: readonly Row[]) => void
  readonly edit: (text: string) => Promise<string | null>
  readonly now: () => number
  readonly changed: () => void
}
export type RunEnd = 'ended' | 'left'

/** After a message is sent, the message line is hidden until the session's state changes, but no longer than this. */
const sendWaitMs = 1000

export class RunModel {
  readonly #options: RunModelOptions
  readonly #controller: PromptController
  readonly #drafts: PromptDrafts
  readonly #composer: MessageComposer
  readonly #printer = new TranscriptPrinter()
  #frame = withSpinner([], 'starting')
  #hint: string | null = null
  /** The session's `stateChangedAt` when a message was sent; null while no message is waiting for a change of state. */
  #sentInState: number | null = null
  #interrupts = { count: 0, at: 0 }
  #isClosed = false
  #canReopen: boolean
  #end: (ending: RunEnd) => void = () => {}
  readonly ending = new Promise<RunEnd>(resolve => {
    this.#end = resolve
  })

  constructor(options: RunModelOptions) {
    this.#options = options
    this.#canReopen = options.canReopen
    const { inbox, edit, call, me } = options
    const changed = () => this.update()
    this.#drafts = new PromptDrafts({ call, me, frames: inbox.onFrame })
    this.#controller = new PromptController({
      answer: (id, answer) => inbox.answer(id, answer),
      edit,
      isReachable: () => !this.#isDisconnected(),
      drafts: this.#drafts,
      changed,
    })
    this.#composer = new MessageComposer({ send: text => this.#send(text), edit, changed })
    inbox.subscribe(changed)
    options.transcript.subscribe(changed)
  }

  get frame(): ScreenFrame {
    return this.#frame
  }

  /** Shows the next request, prints the new rows of the transcript unless a prompt is open, and rebuilds the frame. */
  readonly update = (): void => {
    if (this.#composer.isEditing || this.#isClosed) return
    const session = this.#session()
    if (session && session.state !== 'ended') this.#canReopen = false
    this.#showNextRequest()
    if (!this.#controller.prompt) this.#print()
    this.#frame = this.#buildFrame(session)
    this.#options.changed()
    const { ended } = this.#options.inbox.getSnapshot()
    const hasEnded = session?.state === 'ended' && !this.#canReopen
    if (hasEnded && this.#options.transcript.getSnapshot().loaded) this.#end('ended')
    if (ended) this.#end('left')
  }
  onPainted(): void {
    this.#controller.onPainted()
  }
  onTerminalReturned(): void {
    this.#controller.onTerminalReturned()
  }

  handleKey(key: Key): void {
    if (this.#composer.isEditing) return
    if (key.name === 'ctrl-c') this.#onCtrlC()
    else {
      this.#interrupts = { count: 0, at: 0 }
      if (this.#controller.prompt) this.#controller.handleKey(key)
      else if (this.#isComposing()) this.#onMessageKey(key)
    }
  }
  #onMessageKey(key: Key): void {
    this.#hint = null
    if (key.name === 'ctrl-d' && this.#composer.isEmpty) this.#end('left')
    else this.#composer.handleKey(key)
  }

  #session(): Session | undefined {
    return this.#options.inbox.getSnapshot().sessions.get(this.#options.session)
  }
  #isDisconnected(): boolean {
    return this.#options.inbox.getSnapshot().status === 'reconnecting'
  }
  #entryContext(): EntryContext {
    const { me } = this.#options
    return {
      me,
      columns: this.#options.size().columns,
      isAnsweredHere: ({ id }) => this.#controller.isAnsweredHere(id),
    }
  }

  /** Returns the session's requests that the transcript does not show as resolved yet, oldest first. Requests older than the loaded transcript come from the inbox. */
  #requests(): readonly Request[] {
    const { requests, order } = this.#options.inbox.getSnapshot()
    const entries = this.#options.transcript.getSnapshot().entries.filter(isRequest)
    const known = new Set(entries.map(entry => entry.id))
    const older = order.filter(id => !known.has(id)).flatMap(id => requests.get(id) ?? [])
    const inTranscript = entries
      .filter(entry => entry.request.status === 'pending')
      .map(entry => requests.get(entry.id) ?? entry.request)
    return [...older.filter(({ session }) => session === this.#options.session), ...inTranscript]
  }

  #showNextRequest(): void {
    const { prompt } = this.#controller
    const requests = this.#requests()
    const current = prompt && requests.find(({ id }) => id === prompt.request.id)
    if (current?.status === 'pending') return
    if (prompt) this.#controller.remove(prompt.request.id)
    if (!this.#options.transcript.getSnapshot().loaded) return
    const [next] = requests
    // Keys that the person types for a message must not answer a request.
    if (!this.#composer.isEmpty) return
    // An answered request stays first until the transcript contains its resolution, so that the resolution is printed before the next prompt opens.
    if (next?.status !== 'pending' || this.#controller.isAnsweredHere(next.id)) return
    this.#print()
    this.#controller.show(next, this.#options.modes)
  }

  #print(): void {
    const { entries, loaded } = this.#options.transcript.getSnapshot()
    const rows = loaded ? this.#printer.newRows(entries, this.#entryContext()) : []
    if (rows.length > 0) this.#options.print(rows)
  }

  /** Returns whether the keys go to the message line. The line stays open while it contains text, even if the agent starts to work or opens a request. */
  #isComposing(): boolean {
    const session = this.#session()
    const hasText = !this.#composer.isEmpty
    const isResting = session?.state === 'idle' || session?.state === 'parked' || this.#canReopen
    if (!session || (session.state === 'ended' && !this.#canReopen) || (!hasText && !isResting)) return false
    if (this.#sentInState !== null && this.#sentInState !== session.stateChangedAt) this.#sentInState = null
    return this.#sentInState === null && (hasText || this.#requests().length === 0)
  }

  #buildFrame(session: Session | undefined): ScreenFrame {
    const { transcript, size } = this.#options
    const { columns, height } = size()
    // If the rows do not fit on the screen, show their last lines.
    const lastLines = (rows: readonly Row[], max = height) =>
      rows.flatMap(one => wrap(one, columns)).slice(-Math.max(1, max))
    if (this.#controller.prompt) {
      const position = { at: 1, of: this.#requests().length }
      return { lines: [[], ...this.#controller.layout({ columns, height: height - 1 }, position)], spinner: null }
    }
    const hint = this.#hintRows()
    if (this.#isComposing()) {
      const keys = messageKeys.filter(([key]) => !this.#canReopen || key !== '/end')
      const line = textInputRows({ label: '', line: this.#composer.line }, columns)
      return { lines: lastLines([blankRow, ...hint, ...line, ...keyRows(keys, columns)]), spinner: null }
    }
    const streaming = lastLines(this.#printer.unprintedRows(transcript.getSnapshot().entries), height - 3)
    const busy = this.#isDisconnected() ? texts.reconnecting : session?.state === 'ended' ? null : spinnerText(session)
    return withSpinner([...streaming, ...lastLines(hint, 2)], busy)
  }
  #hintRows(): readonly Row[] {
    const mustSendFirst = !this.#composer.isEmpty && this.#requests().length > 0
    const hint =
      this.#hint ??
      this.#composer.hint ??
      (this.#isDisconnected() && this.#isComposing() ? texts.reconnecting : null) ??
      (this.#canReopen ? texts.ended : null) ??
      (mustSendFirst ? texts.sendFirst : null)
    return hint === null ? [] : [row(untrusted(hint, 'strong'))]
  }

  async #send(text: string): Promise<void> {
    const { call, session: id } = this.#options
    if (text === '/leave') return this.#end('left')
    this.#sentInState = this.#session()?.stateChangedAt ?? null
    try {
      if (text === '/end') {
        await call('endSession', { id })
        this.#canReopen = false
      } else await call('sendMessage', { id, text })
      // Show the message line again even if the agent does not react, because the person may want to write more.
      setTimeout(() => this.#endSendWait(), sendWaitMs)
    } catch (error) {
      this.#sentInState = null
      throw error
    }
  }
  #endSendWait(): void {
    this.#sentInState = null
    this.update()
  }

  /** The first Ctrl+C denies the request on the screen, the second interrupts the turn, the third leaves. Without a request on the screen or without a connection, the first Ctrl+C counts as the second. */
  #onCtrlC(): void {
    const { now } = this.#options
    const before = now() - this.#interrupts.at < repeatWithinMs ? this.#interrupts.count : 0
    const canDeny = this.#controller.prompt !== null && !this.#isDisconnected()
    const count = before === 0 && !canDeny ? 2 : before + 1
    this.#interrupts = { count, at: now() }
    if (count === 1) this.#controller.denyOrDecline()
    else if (count > 2) this.#end('left')
    else this.#interruptTurn()
  }
  #interruptTurn(): void {
    const hasNoTurn = this.#isComposing() || this.#isDisconnected()
    this.#composer.clear()
    this.#hint = hasNoTurn ? texts.leaveByCtrlC : texts.interrupted
    const { call, session: id } = this.#options
    if (!hasNoTurn)
      void call('interruptSession', { id }).catch((error: Error) => {
        this.#hint = texts.notInterrupted(error.message)
        this.update()
      })
    this.update()
  }

  /** The requests that are still pending when the person leaves. */
  get pending(): readonly Request[] {
    return this.#requests().filter(({ status }) => status === 'pending')
  }
  /** Sends an unsent decision and the unsaved drafts, unless the connection is lost. */
  async close(): Promise<void> {
    if (this.#isDisconnected()) return
    await this.#controller.close()
    await this.#drafts.close()
  }
  /** Prints the rows that were held back while a prompt was open, and then the pending requests. The model prints nothing more afterwards. */
  printRemaining(): void {
    this.#isClosed = true
    this.#print()
    const { entries } = this.#options.transcript.getSnapshot()
    const open = entries.filter(isRequest).filter(({ request }) => request.status === 'pending')
    this.#options.print(open.flatMap(entry => entryRows(entry, this.#entryContext())))
  }
}

/** Returns whether a message reopens the session after the session has ended. */
export function isResumable({ capabilities }: Session): boolean {
  return capabilities.includes('resumable')
}
/** Returns a frame with a spinner on its own line below the other lines. If `text` is null, the frame has no spinner. */
function withSpinner(lines: readonly StyledLine[], text: string | null): ScreenFrame {
  return text === null ? { lines, spinner: null } : { lines: [...lines, []], spinner: { line: lines.length, text } }
}
function isRequest(entry: { readonly kind: string }): entry is RequestEntry {
  return entry.kind === 'request'
}
function spinnerText(session: Session | undefined): string {
  return session?.state === 'working' || session?.state === 'starting' ? session.state : texts.waitingForAgent
}
