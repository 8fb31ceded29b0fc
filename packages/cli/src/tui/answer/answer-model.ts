/** The state of `holdpoint next`: shows one pending request after the other until they are answered or the person leaves. `holdpoint answer ID` shows only that request. */
import { type Inbox, TypingGuard } from '@holdpoint/client'
import type { Call, Request, RequestId, Session } from '@holdpoint/protocol'
import { cutSpans, type StyledLine } from '../../output/width.ts'
import { sessionSummary } from '../dashboard/session-list.ts'
import { HelpPage } from '../pages/help-page.ts'
import { pageLines, type ScreenPage } from '../pages/screen-page.ts'
import { isTextField } from '../prompt/key-policy.ts'
import { isTypingKey, singleKeypress, typedLetter } from '../prompt/key-result.ts'
import type { ScreenSize } from '../prompt/layout/prompt-layout.ts'
import { isLeaveKey } from '../prompt/prompt.ts'
import { gatewayOptions, PromptController } from '../prompt/prompt-controller.ts'
import { PromptDrafts } from '../prompt/prompt-drafts.ts'
import type { Editor } from '../terminal/editor.ts'
import type { Key } from '../terminal/key-parser.ts'
import { type ScreenFrame, withSpinner } from '../terminal/terminal.ts'
import { answerHelpKeys, answerViewTexts as texts, viewKeys } from './texts.ts'

export interface AnswerModelOptions {
  readonly call: Call
  readonly inbox: Inbox
  readonly me: string
  /** The only request to show; null for all that are pending. */
  readonly only: Request | null
  readonly modesOf: (driver: string) => readonly string[]
  readonly size: () => ScreenSize
  readonly edit: Editor
  /** Called with a request that has been answered here or elsewhere. */
  readonly onResolved: (request: Request, isAnsweredHere: boolean) => void
  readonly changed: () => void
}

export class AnswerModel {
  readonly #options: AnswerModelOptions
  readonly #controller: PromptController
  readonly #drafts: PromptDrafts
  readonly #guard = new TypingGuard(() => performance.now())
  /** Requests that are no longer shown: they are resolved, or the person went on without answering them. */
  readonly #done = new Set<RequestId>()
  /** The help, which covers the request. */
  #page: ScreenPage | null = null
  #isLoading = false
  #end = () => {}
  readonly ending = new Promise<void>(resolve => {
    this.#end = resolve
  })

  constructor(options: AnswerModelOptions) {
    this.#options = options
    const { inbox, call, me, edit } = options
    this.#drafts = new PromptDrafts({ call, me, frames: inbox.onFrame })
    this.#controller = new PromptController({
      ...gatewayOptions(inbox, call),
      edit,
      isReachable: () => inbox.getSnapshot().status !== 'reconnecting',
      drafts: this.#drafts,
      guard: this.#guard,
      changed: () => this.update(),
    })
    inbox.subscribe(() => this.update())
  }

  readonly update = (): void => {
    const { ended, status, complete } = this.#options.inbox.getSnapshot()
    this.#finishResolved()
    const isLoaded = status === 'live' && complete && !this.#isLoading
    if (!this.#controller.prompt && isLoaded) this.#showNext()
    if (ended) this.#end()
    this.#options.changed()
  }
  onPainted(): void {
    this.#controller.onPainted()
  }
  onTerminalReturned(): void {
    this.#controller.onTerminalReturned()
  }

  get frame(): ScreenFrame {
    const { columns, height } = this.#options.size()
    if (this.#page) return { lines: pageLines(this.#page, columns, height), spinner: null }
    const request = this.#controller.prompt?.request
    if (!request) return withSpinner([], texts.loading)
    const queue = this.#queue()
    const header: readonly StyledLine[] = [[], ...this.#headerLines(request, columns)]
    const position = {
      at: Math.max(1, queue.findIndex(({ id }) => id === request.id) + 1),
      of: Math.max(1, queue.length),
      viewKeys: queue.length > 1 ? viewKeys.several : viewKeys.one,
    }
    const lines = this.#controller.layout({ columns, height: height - header.length }, position)
    return { lines: [...header, ...lines], spinner: null }
  }
  #headerLines({ session }: Request, columns: number): readonly StyledLine[] {
    const known = this.#session(session)
    return known ? [cutSpans(sessionSummary(known), columns)] : []
  }
  #session(id: Session['id']): Session | undefined {
    return this.#options.inbox.getSnapshot().sessions.get(id)
  }

  handleKey(key: Key): void {
    const { prompt, isHolding } = this.#controller
    const leaves = key.name === 'ctrl-c' || key.name === 'ctrl-d'
    if (leaves) this.#leave()
    else if (this.#page) this.#onPageKey(this.#page, key)
    else if (!prompt) return
    else if (key.name === 'tab' && isHolding) this.#controller.confirmHeld()
    else if (key.name === 'tab') this.#skip(prompt.request.id)
    else if (key.name === 'escape' && !isHolding && isLeaveKey(prompt, 'escape')) this.#leave()
    else if (singleKeypress(key) === '?' && !isTextField(prompt) && !this.#guard.isTyping) this.#openHelp()
    else this.#controller.handleKey(key)
    this.update()
  }
  #leave(): void {
    this.#controller.dropHeld()
    this.#end()
  }
  /** With a single request, there is no next request. */
  #skip(id: RequestId): void {
    if (this.#queue().length < 2) return
    this.#done.add(id)
    this.#controller.show(null)
  }
  #openHelp(): void {
    this.#controller.dropHeld()
    this.#guard.noteCommand()
    this.#page = new HelpPage(answerHelpKeys)
  }
  #onPageKey(page: ScreenPage, key: Key): void {
    if (page.handleKey(key)) return
    this.#page = null
    this.#controller.onTerminalReturned()
    // A key other than `?` may be the start of a text.
    if (!isTypingKey(key) || typedLetter(key) === '?') return
    this.#guard.noteText()
    setTimeout(this.update, Math.ceil(this.#guard.pauseLeftMs) + 1)
  }

  /** The requests that are not answered yet, the most urgent first. */
  #queue(): readonly Request[] {
    const { order, requests } = this.#options.inbox.getSnapshot()
    const { only } = this.#options
    return order
      .flatMap(id => requests.get(id) ?? [])
      .filter(({ id }) => !this.#done.has(id) && (only === null || only.id === id))
  }
  #showNext(): void {
    const [next] = this.#queue()
    const driver = next && this.#session(next.session)?.driver
    if (next) this.#controller.show(next, driver === undefined ? [] : this.#options.modesOf(driver))
    else this.#end()
  }
  /** Closes the prompt of a request that was answered here or elsewhere, and reports its outcome. */
  #finishResolved(): void {
    const request = this.#controller.prompt?.request
    if (!request) return
    const isAnswered = this.#controller.isAnsweredHere(request.id) && this.#controller.status !== 'sending'
    const isPending = this.#options.inbox.getSnapshot().requests.get(request.id)?.status === 'pending'
    if (isPending && !isAnswered) return
    this.#done.add(request.id)
    this.#controller.show(null)
    void this.#report(request.id)
  }
  async #report(id: RequestId): Promise<void> {
    this.#isLoading = true
    const isAnsweredHere = this.#controller.isAnsweredHere(id)
    // The inbox no longer contains the resolved request, so fetch it. If that fails, the person sees the next request.
    const request = await this.#options.call('getRequest', { id }).catch(() => null)
    if (request) this.#options.onResolved(request, isAnsweredHere)
    this.#isLoading = false
    this.update()
  }

  /** Sends the unsaved drafts, unless the connection is lost. */
  async close(): Promise<void> {
    if (this.#options.inbox.getSnapshot().status === 'reconnecting') return
    await this.#controller.close()
    await this.#drafts.close()
  }
}
