/** The state of `holdpoint tui`: the selected item, the open session or dialog, and what the keys do. */
import { acceptsMessages, type Inbox, isInterruptible, letterPauseMs, Transcript, TypingGuard } from '@holdpoint/client'
import type { Call, DriverInfo, Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { startSession } from '../../gateway-client/start-session.ts'
import { HelpPage } from '../pages/help-page.ts'
import type { ScreenPage } from '../pages/screen-page.ts'
import { ToolOutputPage, toolCalls } from '../pages/tool-output-page.ts'
import { isTextField } from '../prompt/key-policy.ts'
import { isTypingKey, singleKeypress, typedLetter } from '../prompt/key-result.ts'
import { isLeaveKey } from '../prompt/prompt.ts'
import { gatewayOptions, PromptController } from '../prompt/prompt-controller.ts'
import { PromptDrafts } from '../prompt/prompt-drafts.ts'
import { RepeatToConfirm } from '../prompt/repeat-to-confirm.ts'
import { promptTexts } from '../prompt/texts.ts'
import type { MessageComposer } from '../run/composer.ts'
import type { Editor } from '../terminal/editor.ts'
import type { Key } from '../terminal/key-parser.ts'
import { TranscriptPane } from '../transcript/transcript-pane.ts'
import { ListState } from './list-state.ts'
import { SessionComposers } from './session-composers.ts'
import type { ListItem } from './session-list.ts'
import { handleStartDialogKey, openStartDialog, type StartDialog, withDrivers } from './start-dialog.ts'
import { helpLines, dashboardTexts as texts } from './texts.ts'

export interface DashboardOptions {
  readonly call: Call
  readonly url: string
  /** The folder for new sessions; undefined if the gateway runs on another machine and chooses the folder. */
  readonly folder: string | undefined
  readonly inbox: Inbox
  readonly me: string
  readonly drivers: () => Promise<readonly DriverInfo[]>
  readonly edit: Editor
  readonly now: () => number
  readonly leave: () => void
  readonly changed: () => void
}

const scrollPageLines = 10

export class DashboardModel {
  readonly options: DashboardOptions
  readonly controller: PromptController
  readonly #drafts: PromptDrafts
  #drivers: readonly DriverInfo[] = []
  readonly list = new ListState(() => this.inbox)
  #isZoomed = false
  #open: { readonly id: SessionId; readonly transcript: TranscriptPane } | null = null
  /** The request to show first in the open session. */
  #wantedRequest: RequestId | null = null
  readonly #composers = new SessionComposers(id => ({
    send: text => this.#send(id, text),
    edit: this.options.edit,
    changed: this.update,
  }))
  #isComposing = false
  #startDialog: StartDialog | null = null
  /** The help or a tool call, which covers the list and the pane. */
  #page: ScreenPage | null = null
  #hint: string | null = null
  readonly #confirmation = new RepeatToConfirm(() => performance.now())
  readonly #guard = new TypingGuard(() => performance.now())

  constructor(options: DashboardOptions) {
    this.options = options
    const { inbox, edit, call, me } = options
    this.#drafts = new PromptDrafts({ call, me, frames: inbox.onFrame })
    this.controller = new PromptController({
      ...gatewayOptions(inbox, call),
      edit,
      isReachable: () => !this.#isDisconnected(),
      drafts: this.#drafts,
      guard: this.#guard,
      changed: this.update,
    })
    inbox.subscribe(this.update)
    void this.#loadDrivers()
  }

  readonly update = (): void => {
    this.list.sync()
    this.#syncPrompt()
    this.options.changed()
  }

  onPainted(): void {
    this.controller.onPainted()
  }
  onTerminalReturned(): void {
    this.controller.onTerminalReturned()
  }

  get inbox() {
    return this.options.inbox.getSnapshot()
  }
  /** Whether the open request or session takes the whole width. */
  get isZoomed(): boolean {
    return this.#isZoomed
  }
  /** The transcript of the open session. */
  get transcript(): TranscriptPane | null {
    return this.#open?.transcript ?? null
  }
  get session(): Session | undefined {
    return this.#open ? this.inbox.sessions.get(this.#open.id) : undefined
  }
  get composer(): MessageComposer | null {
    return this.#open && this.#composers.of(this.#open.id)
  }
  /** Whether the keys go to the message line of the open session. */
  get isComposing(): boolean {
    return this.#isComposing
  }
  get startDialog(): StartDialog | null {
    return this.#startDialog
  }
  get page(): ScreenPage | null {
    return this.#page
  }
  get hint(): string | null {
    return this.#hint ?? this.composer?.hint ?? null
  }
  /** Whether the keys go to the pane and not to the list. */
  get hasPaneFocus(): boolean {
    return this.#open !== null || this.#startDialog !== null || this.#page !== null
  }
  #isDisconnected(): boolean {
    return this.inbox.status === 'reconnecting'
  }

  async #loadDrivers(): Promise<void> {
    // If loading fails, the drivers that were loaded before stay. Without any, plans are approved without a choice of modes, and the start dialog offers no agents.
    this.#drivers = await this.options.drivers().catch(() => this.#drivers)
    if (this.#startDialog) this.#startDialog = withDrivers(this.#startDialog, this.#drivers)
    this.update()
  }

  /** Removes the prompts of resolved requests and, if no prompt is left on the screen, shows the next request of the open session. */
  #syncPrompt(): void {
    const before = this.controller.prompt
    const { requests } = this.inbox
    this.controller.removeUnless(id => requests.get(id)?.status === 'pending')
    if (this.controller.prompt) return
    if (before) this.#wantedRequest = null
    // Keys that the person types for a message must not answer a request.
    if (!this.#open || this.#isComposing) return
    const pending = this.pendingIn(this.#open.id)
    const next = pending.find(({ id }) => id === this.#wantedRequest) ?? pending[0] ?? null
    const modes = this.#drivers.find(({ name }) => name === this.session?.driver)?.modes ?? []
    this.controller.show(next, modes)
  }

  /** Returns the session's pending requests that were not answered in this terminal. */
  pendingIn(session: SessionId): readonly Request[] {
    const { order, requests } = this.inbox
    return order
      .flatMap(id => requests.get(id) ?? [])
      .filter(request => request.session === session && !this.controller.isAnsweredHere(request.id))
  }

  handleKey(key: Key): void {
    if (this.composer?.isEditing) return
    const armed = this.#confirmation.take()
    this.#hint = null
    // Leaving never answers a request. An open dialog is closed first.
    const leaves = key.name === 'ctrl-c' || key.name === 'ctrl-d'
    // Escape is never part of a text, so it ends the typing. Every other key continues it.
    if (key.name === 'escape') this.#guard.noteCommand()
    else if (this.#guard.isTyping) this.#guard.noteText()
    if (leaves && this.#startDialog) this.#startDialog = null
    else if (leaves) this.#leave()
    else if (this.#page) this.#onPageKey(this.#page, key)
    else if (this.#startDialog) this.#onStartDialogKey(this.#startDialog, key)
    else if (this.#isComposing) this.#onMessageKey(key)
    else if (this.#open) this.#onPaneKey(key, armed)
    else if (this.list.isFiltering) this.#onFilterKey(key)
    else this.#onListKey(key)
    this.update()
  }
  #leave(): void {
    this.controller.dropHeld()
    this.options.leave()
  }

  #onPageKey(page: ScreenPage, key: Key): void {
    if (page.handleKey(key)) return
    this.#page = null
    this.controller.onTerminalReturned()
    // A key other than `?` may be the start of a text, so it counts as typing.
    if (!isTypingKey(key) || typedLetter(key) === '?') return
    this.#guard.noteText()
    setTimeout(this.update, Math.ceil(this.#guard.pauseLeftMs) + 1)
  }
  #onFilterKey(key: Key): void {
    if (isTypingKey(key)) this.#guard.noteText()
    this.list.handleFilterKey(key)
    // Enter ends the typing, so that the next Enter opens an item.
    if (key.name === 'enter') this.#guard.noteCommand()
  }
  readonly #toggleZoom = (): void => {
    this.#isZoomed = !this.#isZoomed
  }
  readonly #openHelp = (): void => {
    this.#page = new HelpPage(helpLines)
  }
  #onMessageKey(key: Key): void {
    if (key.name === 'escape') this.#isComposing = false
    else {
      this.#guard.noteText()
      this.composer?.handleKey(key)
    }
  }
  /** Runs the action of a key. A letter without an action counts as text that the person meant for something else, and so do the keys that follow. */
  #act(actions: Readonly<Record<string, () => void>>, key: Key): void {
    const action = actions[typedLetter(key) ?? key.name]
    if (!isTypingKey(key)) action?.()
    else if (this.#guard.isTyping) this.#hint = promptTexts.typing
    else if (action && (key.alone || key.name === 'enter')) action()
    else this.#guard.noteText()
  }

  #onListKey(key: Key): void {
    const move = (by: number) => () => this.list.move(by)
    const open = () => {
      const item = this.list.selectedItem
      if (item) this.#openItem(item)
    }
    const actions: Readonly<Record<string, () => void>> = {
      up: move(-1),
      k: move(-1),
      down: move(1),
      j: move(1),
      home: move(Number.NEGATIVE_INFINITY),
      end: move(Number.POSITIVE_INFINITY),
      enter: open,
      right: open,
      tab: () => this.#openNextRequest(),
      escape: () => void this.list.clearFilter(),
      '/': () => this.list.startFilter(),
      z: this.#toggleZoom,
      n: () => {
        this.#startDialog = openStartDialog(this.#drivers)
        void this.#loadDrivers()
      },
      '?': this.#openHelp,
      q: () => this.#leave(),
    }
    this.#act(actions, key)
  }

  #openItem(item: ListItem): void {
    this.#wantedRequest = item.kind === 'request' ? item.id : null
    this.#openSession(item.kind === 'request' ? item.request.session : item.id)
  }
  #openSession(id: SessionId): void {
    this.#closeSession()
    const transcript = new TranscriptPane(new Transcript(this.options.inbox.transcriptOptions(id)))
    transcript.transcript.subscribe(this.update)
    this.#open = { id, transcript }
  }
  #closeSession(): void {
    this.#open?.transcript.transcript.close()
    this.#open = null
    this.#isComposing = false
    this.controller.show(null)
  }

  #onPaneKey(key: Key, armed: string | null): void {
    const { prompt, isHolding } = this.controller
    const viewKey = prompt && !isTextField(prompt) && this.#guard.acceptsLetter ? singleKeypress(key) : null
    const actions = new Map([
      ['q', () => this.#closeSession()],
      ['z', this.#toggleZoom],
      ['?', this.#openHelp],
    ])
    const action = viewKey !== null && !isHolding ? actions.get(viewKey) : undefined
    if (key.name === 'ctrl-o') this.#openToolOutput()
    else if (action) {
      this.#guard.noteCommand()
      action()
    } else if (key.name === 'tab') {
      this.controller.confirmHeld()
      this.#openNextRequest()
    } else if (this.#closesPane(key) && !isHolding) this.#closeSession()
    else if (prompt) this.controller.handleKey(key)
    else this.#onTranscriptKey(key, armed)
  }
  #openToolOutput(): void {
    this.controller.dropHeld()
    const transcript = this.#open?.transcript.transcript
    this.#page = new ToolOutputPage(() => toolCalls(transcript?.getSnapshot().entries ?? []))
  }
  #closesPane({ name }: Key): boolean {
    const { prompt } = this.controller
    if (name !== 'escape' && !(prompt && name === 'left')) return false
    return !prompt || isLeaveKey(prompt, name)
  }
  #onTranscriptKey(key: Key, armed: string | null): void {
    const scroll = (lines: number) => () => this.#open?.transcript.scroll(lines)
    const write = () => {
      const { session } = this
      if (session && !acceptsMessages(session)) this.#hint = texts.noMessages
      else this.#isComposing = true
    }
    const close = () => this.#closeSession()
    const actions: Readonly<Record<string, () => void>> = {
      up: scroll(1),
      down: scroll(-1),
      pageup: scroll(scrollPageLines),
      pagedown: scroll(-scrollPageLines),
      left: close,
      q: close,
      enter: write,
      i: write,
      o: () => this.#openToolOutput(),
      z: this.#toggleZoom,
      '?': this.#openHelp,
    }
    const letter = this.#guard.isTyping ? null : singleKeypress(key)
    const canInterrupt = this.session === undefined || isInterruptible(this.session)
    if (letter === 'I' && !canInterrupt) this.#hint = texts.noInterrupt
    else if (letter === 'I') this.#confirmTwice('interrupt', armed, texts.interruptAgain)
    else if (letter === 'E') this.#confirmTwice('end', armed, texts.endAgain)
    else this.#act(actions, key)
  }

  #confirmTwice(action: 'interrupt' | 'end', armed: string | null, hint: string): void {
    const id = this.#open?.id
    if (!id) return
    // A text may begin with the same letter twice, so the second letter confirms only after a pause.
    const isConfirmed = armed === action && this.#guard.quietMs >= letterPauseMs
    this.#guard.noteCommand()
    if (!isConfirmed) {
      this.#confirmation.arm(action)
      this.#hint = hint
      return
    }
    const { call } = this.options
    const done = action === 'end' ? call('endSession', { id }) : call('interruptSession', { id })
    void done.catch((error: Error) => this.#showError(error))
  }
  #showError(error: Error): void {
    this.#hint = error.message
    this.update()
  }

  /** Opens the next pending request of any session. */
  #openNextRequest(): void {
    const { order, requests } = this.inbox
    const current = this.controller.prompt?.request.id
    const id = order[((current ? order.indexOf(current) : -1) + 1) % order.length]
    const next = id === undefined || id === current ? undefined : requests.get(id)
    if (!next) return
    this.controller.show(null)
    this.list.select(next.id)
    this.#wantedRequest = next.id
    if (next.session !== this.#open?.id) this.#openSession(next.session)
  }

  /** Closes the message line and sends the message. If sending fails, the message line opens again. */
  async #send(id: SessionId, text: string): Promise<void> {
    this.#isComposing = false
    try {
      await this.options.call('sendMessage', { id, text })
    } catch (error) {
      this.#isComposing = this.#open?.id === id
      throw error
    }
  }

  #onStartDialogKey(dialog: StartDialog, key: Key): void {
    // An Enter at the end of a text that was meant for something else must not choose an agent.
    const isStray = key.name === 'enter' && dialog.line === null && this.#guard.isTyping
    const result = isStray ? { dialog } : handleStartDialogKey(dialog, key)
    const moved = 'dialog' in result && result.dialog.selection !== dialog.selection
    if (isTypingKey(key) && (dialog.line || isStray || (key.name === 'text' && !moved))) this.#guard.noteText()
    this.#startDialog = 'dialog' in result ? result.dialog : null
    if ('start' in result) void this.#start(result.start)
  }
  async #start({ driver, prompt }: { driver: string; prompt: string }): Promise<void> {
    try {
      const session = await startSession(this.options, { driver, prompt })
      this.list.select(session.id)
      this.#openSession(session.id)
      this.update()
    } catch (error) {
      this.#showError(error instanceof Error ? error : new Error(String(error)))
    }
  }
  get unsent(): SessionComposers['unsent'] {
    return this.#composers.unsent
  }
  /** Closes the open session. Sends an unsent decision and the unsaved drafts, unless the connection is lost. */
  async close(): Promise<void> {
    this.#closeSession()
    if (this.#isDisconnected()) return
    await this.controller.close()
    await this.#drafts.close()
  }
}
