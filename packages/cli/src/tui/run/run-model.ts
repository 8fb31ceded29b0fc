/** The state of `holdpoint run`: what to print, the current prompt or message line, and what the keys do. */
import {
  acceptsMessages,
  actionLabel,
  attachCommand,
  type Inbox,
  isInterruptible,
  letterPauseMs,
  type RequestEntry,
  type Transcript,
  TypingGuard,
} from '@holdpoint/client'
import type { Call, Request, Session, SessionId } from '@holdpoint/protocol'
import { type Row, row, trusted, untrusted, untrustedCode, untrustedLine } from '../../output/span.ts'
import { cutSpans, type StyledLine, wrap } from '../../output/width.ts'
import { HelpPage } from '../pages/help-page.ts'
import { pageLines, type ScreenPage } from '../pages/screen-page.ts'
import { ToolOutputPage, toolCalls } from '../pages/tool-output-page.ts'
import { isTextField } from '../prompt/key-policy.ts'
import { isTypingKey, singleKeypress } from '../prompt/key-result.ts'
import type { ScreenSize } from '../prompt/layout/prompt-layout.ts'
import { type KeyHint, keyRows } from '../prompt/layout/prompt-sections.ts'
import { isLeaveKey } from '../prompt/prompt.ts'
import { gatewayOptions, PromptController } from '../prompt/prompt-controller.ts'
import { PromptDrafts } from '../prompt/prompt-drafts.ts'
import { RepeatToConfirm } from '../prompt/repeat-to-confirm.ts'
import { textInputRows } from '../prompt/text-input-view.ts'
import type { Editor } from '../terminal/editor.ts'
import type { Key } from '../terminal/key-parser.ts'
import { type ScreenFrame, withSpinner } from '../terminal/terminal.ts'
import { type EntryContext, entryRows } from '../transcript/entry-rows.ts'
import { TranscriptPrinter } from '../transcript/transcript-printer.ts'
import { MessageComposer } from './composer.ts'
import { helpKeys, lineKeys, outputKey, requestKeys, runTexts as texts } from './texts.ts'

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
  readonly edit: Editor
  readonly now: () => number
  readonly changed: () => void
}
export type RunEnd = 'ended' | 'left'

/**
 * The part of the screen that gets the keys.
 * - `auto`: the next request, unless the message line has text or the person has just typed in the line.
 * - `line`, `request`: the part that the person has chosen with Esc or Tab.
 */
type Focus = 'auto' | 'line' | 'request'

export class RunModel {
  readonly #options: RunModelOptions
  readonly #controller: PromptController
  readonly #drafts: PromptDrafts
  readonly #composer: MessageComposer
  readonly #printer = new TranscriptPrinter()
  #frame = withSpinner([], 'starting')
  #hint: string | null = null
  #focus: Focus = 'auto'
  /** The help or a tool call, which covers the request or the message line. */
  #page: ScreenPage | null = null
  readonly #guard: TypingGuard
  readonly #confirmation: RepeatToConfirm
  /** Shows a waiting request when the person has paused. */
  #pauseTimer: NodeJS.Timeout | undefined
  #isClosed = false
  #canReopen: boolean
  #end: (ending: RunEnd) => void = () => {}
  readonly ending = new Promise<RunEnd>(resolve => {
    this.#end = resolve
  })

  constructor(options: RunModelOptions) {
    this.#options = options
    this.#canReopen = options.canReopen
    const { inbox, edit, call, me, now } = options
    const changed = () => this.update()
    this.#guard = new TypingGuard(now)
    this.#confirmation = new RepeatToConfirm(now)
    this.#drafts = new PromptDrafts({ call, me, frames: inbox.onFrame })
    this.#controller = new PromptController({
      ...gatewayOptions(inbox, call),
      edit,
      isReachable: () => !this.#isDisconnected(),
      drafts: this.#drafts,
      guard: this.#guard,
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
    if (!this.#controller.prompt && session) this.#printAttachCommand(session)
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
    const armed = this.#confirmation.take()
    this.#hint = null
    if (key.name === 'ctrl-d') this.#leave()
    else if (this.#page) this.#onPageKey(this.#page, key)
    else if (key.name === 'ctrl-c') this.#onCtrlC(armed)
    else if (key.name === 'ctrl-o') this.#openPage(new ToolOutputPage(() => this.#toolCalls()))
    else if (this.#isHelpKey(key)) this.#openPage(new HelpPage(helpKeys))
    else if (this.#controller.prompt) this.#onRequestKey(key)
    else if (this.#hasLine()) this.#onLineKey(key)
    this.update()
  }
  /** In a text field, a question mark is text. In the empty message line it asks for help. */
  #isHelpKey(key: Key): boolean {
    if (singleKeypress(key) !== '?' || this.#guard.isTyping) return false
    const { prompt } = this.#controller
    return prompt ? !isTextField(prompt) : this.#composer.isEmpty
  }
  #openPage(page: ScreenPage): void {
    this.#controller.dropHeld()
    this.#guard.noteCommand()
    this.#page = page
  }
  #onPageKey(page: ScreenPage, key: Key): void {
    if (page.handleKey(key)) return
    this.#page = null
    this.#controller.onTerminalReturned()
    // A key that closes the page may be the start of a text.
    if (!isTypingKey(key) || singleKeypress(key) === 'q' || singleKeypress(key) === '?') return
    this.#guard.noteText()
    this.#awaitPause()
    if (!this.#controller.prompt && this.#hasLine()) this.#onLineKey(key)
  }
  #toolCalls() {
    return toolCalls(this.#options.transcript.getSnapshot().entries)
  }
  #onRequestKey(key: Key): void {
    const { prompt, isHolding } = this.#controller
    if (key.name === 'tab' && isHolding) this.#controller.confirmHeld()
    else if (key.name === 'tab' || (key.name === 'escape' && !isHolding && prompt && isLeaveKey(prompt, 'escape')))
      this.#focusOn('line')
    else this.#controller.handleKey(key)
  }
  #onLineKey(key: Key): void {
    if (key.name === 'tab' || key.name === 'escape') {
      if (this.pending.length > 0) this.#focusOn('request')
      return
    }
    this.#guard.noteText()
    this.#awaitPause()
    const hadText = !this.#composer.isEmpty
    this.#composer.handleKey(key)
    if (hadText && this.#composer.isEmpty) this.#focus = 'auto'
  }
  #awaitPause(): void {
    clearTimeout(this.#pauseTimer)
    const onPause = () => {
      // A timer can fire a moment too early.
      if (this.#guard.isTyping) this.#awaitPause()
      else this.update()
    }
    this.#pauseTimer = setTimeout(onPause, Math.ceil(this.#guard.pauseLeftMs))
  }
  #focusOn(focus: Focus): void {
    this.#focus = focus
    this.#guard.noteCommand()
    if (focus === 'line') this.#controller.show(null)
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

  /** Returns the session's requests that the transcript does not show as resolved yet. The oldest comes first, not the most urgent as in the inbox, because nothing after a pending request is printed until it is resolved. Requests older than the loaded transcript come from the inbox. */
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
    const before = this.#controller.prompt
    const requests = this.#requests()
    this.#controller.removeUnless(id => requests.some(one => one.id === id && one.status === 'pending'))
    if (this.#controller.prompt) return
    if (before) this.#focus = 'auto'
    if (!this.#options.transcript.getSnapshot().loaded || !this.#mayShowRequest()) return
    const [next] = requests
    // An answered request stays first until the transcript contains its resolution, so that the resolution is printed before the next prompt opens.
    if (next?.status !== 'pending' || this.#controller.isAnsweredHere(next.id)) return
    this.#print()
    this.#controller.show(next, this.#options.modes)
  }
  /** Keys that the person types for a message must not answer a request. */
  #mayShowRequest(): boolean {
    if (this.#focus !== 'auto') return this.#focus === 'request'
    return this.#composer.isEmpty && !this.#guard.isTyping
  }

  #print(): void {
    const { entries, loaded } = this.#options.transcript.getSnapshot()
    const rows = loaded ? this.#printer.newRows(entries, this.#entryContext()) : []
    if (rows.length > 0) this.#options.print(rows)
  }

  /** Prints once how to open the conversation in the agent's own terminal program. */
  #printAttachCommand(session: Session): void {
    const command = attachCommand(session)
    if (command === null || command === this.#attachCommand) return
    this.#attachCommand = command
    this.#options.print([row(trusted(texts.attach, 'quiet'), untrustedCode(command))])
  }
  #attachCommand: string | null = null

  /** Returns whether the session takes messages. */
  #hasLine(): boolean {
    const session = this.#session()
    return session !== undefined && acceptsMessages(session) && (session.state !== 'ended' || this.#canReopen)
  }
  /** Returns whether a person can interrupt the current turn. */
  #canInterrupt(): boolean {
    const session = this.#session()
    return session !== undefined && isInterruptible(session) && this.#hasTurn()
  }
  #hasTurn(): boolean {
    const state = this.#session()?.state
    return (state === 'working' || state === 'starting') && !this.#isDisconnected()
  }

  #buildFrame(session: Session | undefined): ScreenFrame {
    const { columns, height } = this.#options.size()
    if (this.#page) return { lines: pageLines(this.#page, columns, height), spinner: null }
    if (this.#controller.prompt) return { lines: this.#requestLines(columns, height), spinner: null }
    const bottom = this.#lineRows(columns).flatMap(one => wrap(one, columns))
    const entries = this.#options.transcript.getSnapshot().entries
    const streaming = this.#printer.unprintedRows(entries, this.#entryContext()).flatMap(one => wrap(one, columns))
    // If the rows do not fit on the screen, show their last lines.
    const room = Math.max(0, height - bottom.length - 1)
    const above = room === 0 ? [] : streaming.slice(-room)
    return withSpinner(above, this.#spinnerText(session), bottom.slice(-Math.max(1, height - above.length - 1)))
  }
  #requestLines(columns: number, height: number): readonly StyledLine[] {
    const unsent = this.#composer.line.text
    const kept = unsent === '' ? [] : [cutSpans([trusted(texts.kept, 'quiet'), untrustedLine(unsent)], columns)]
    const viewKeys = this.#withOutputKey(requestKeys)
    const position = { at: 1, of: this.#requests().length, viewKeys }
    return [[], ...this.#controller.layout({ columns, height: height - 1 - kept.length }, position), ...kept]
  }
  #lineRows(columns: number): readonly Row[] {
    const hint = this.#hintText()
    const hints = hint === null ? [] : [row(untrusted(hint, 'strong'))]
    const isClosed = this.#session()?.state === 'ended' && !this.#canReopen
    if (!this.#hasLine()) return isClosed ? hints : [...hints, ...keyRows(lineKeys.noMessages, columns)]
    const keys = lineKeys[this.pending.length > 0 ? 'asked' : this.#canInterrupt() ? 'working' : 'idle']
    const shown = this.#withOutputKey(keys).filter(([key]) => !this.#canReopen || key !== '/end')
    return [...hints, ...textInputRows({ label: '', line: this.#composer.line }, columns), ...keyRows(shown, columns)]
  }
  #withOutputKey(keys: readonly KeyHint[]): readonly KeyHint[] {
    return this.#toolCalls().length > 0 ? [...keys.slice(0, -1), outputKey, ...keys.slice(-1)] : keys
  }
  #hintText(): string | null {
    const [request] = this.pending
    const waiting = request && texts.asked(actionLabel(request.ask), !this.#composer.isEmpty)
    return this.#hint ?? this.#composer.hint ?? (this.#canReopen ? texts.ended : (waiting ?? null))
  }
  #spinnerText(session: Session | undefined): string | null {
    if (this.#isDisconnected()) return texts.reconnecting
    if (!session) return texts.waitingForAgent
    return this.#hasTurn() && this.pending.length === 0 ? session.state : null
  }

  async #send(text: string): Promise<void> {
    const { call, session: id } = this.#options
    this.#focus = 'auto'
    if (text === '/leave') return this.#leave()
    if (text === '/help') return this.#openPage(new HelpPage(helpKeys))
    if (text === '/end') {
      await call('endSession', { id })
      this.#canReopen = false
      return
    }
    await call('sendMessage', { id, text })
    if (this.#hasTurn()) this.#hint = texts.queued
  }

  /** On a request, Ctrl+C denies and stops the turn, and first asks if the person may not want that. While the agent works, a second Ctrl+C interrupts the turn. */
  #onCtrlC(armed: string | null): void {
    const { prompt } = this.#controller
    if (prompt && !this.#isDisconnected()) {
      // A key that is held down repeats, so the second Ctrl+C counts only after a pause.
      const isConfirmed = armed === prompt.request.id && this.#guard.quietMs >= letterPauseMs
      this.#guard.noteCommand()
      if (this.#controller.stop(isConfirmed)) this.#confirmation.arm(prompt.request.id)
    } else if (armed === 'leave' || this.pending.length > 0) this.#leave()
    else if (armed === 'interrupt' && this.#canInterrupt()) this.#interruptTurn()
    else {
      this.#confirmation.arm(this.#canInterrupt() ? 'interrupt' : 'leave')
      this.#hint = this.#canInterrupt() ? texts.interruptByCtrlC : texts.leaveByCtrlC
    }
  }
  #interruptTurn(): void {
    this.#confirmation.arm('leave')
    this.#hint = texts.interrupted
    const { call, session: id } = this.#options
    void call('interruptSession', { id }).catch((error: Error) => {
      this.#hint = texts.notInterrupted(error.message)
      this.update()
    })
  }
  #leave(): void {
    this.#controller.dropHeld()
    this.#end('left')
  }

  /** The requests that are still pending when the person leaves. */
  get pending(): readonly Request[] {
    return this.#requests().filter(({ status }) => status === 'pending')
  }
  /** The message that the person has typed and not sent. */
  get unsent(): string {
    return this.#composer.line.text.trim()
  }
  /** Sends an unsent decision and the unsaved drafts, unless the connection is lost. */
  async close(): Promise<void> {
    clearTimeout(this.#pauseTimer)
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
function isRequest(entry: { readonly kind: string }): entry is RequestEntry {
  return entry.kind === 'request'
}
