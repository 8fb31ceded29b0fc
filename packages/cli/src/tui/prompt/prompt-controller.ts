/** Controls the prompt on the screen: which request is shown, when keys count, and how the answer is sent. Keeps half-finished prompts while another request is shown. */
import { type Inbox, letterPauseMs, type TypingGuard, unknownRisk } from '@holdpoint/client'
import type { Answer, Call, Capability, JsonObject, Request, RequestId, Risk, SessionId } from '@holdpoint/protocol'
import { Fault } from '@holdpoint/protocol'
import { loadRuleOffers, type RuleOffers } from '../../gateway-client/rule-offers.ts'
import type { StyledLine } from '../../output/width.ts'
import type { Editor } from '../terminal/editor.ts'
import type { Key } from '../terminal/key-parser.ts'
import { editorExtension } from './editor-extension.ts'
import { isTextField, keyPolicy } from './key-policy.ts'
import { type ApprovalInput, isTypingKey } from './key-result.ts'
import { layoutPrompt, type PromptPosition, type PromptStatus, type ScreenSize } from './layout/prompt-layout.ts'
import { type BodyView, handlePromptKey, markShown, openPrompt, type Prompt } from './prompt.ts'
import type { PromptDrafts } from './prompt-drafts.ts'
import { stopAnswer, stopQuestion } from './stop-answer.ts'
import { approvalTexts, promptTexts as texts } from './texts.ts'

export interface PromptControllerOptions {
  readonly answer: (id: RequestId, answer: Answer) => Promise<unknown>
  readonly edit: Editor
  /** Loads the rules that would allow a request from now on. */
  readonly offers: (id: RequestId) => Promise<RuleOffers>
  /** Loads what an edited input touches. */
  readonly risk: (id: RequestId, input: JsonObject) => Promise<Risk>
  /** Returns whether the connection to the gateway is up, as far as the client knows. */
  readonly isReachable: () => boolean
  /** Returns whether the agent of a session is disconnected from the gateway. */
  readonly isAgentDisconnected: (session: SessionId) => boolean
  /** The capabilities of a session's agent, if the session is known. */
  readonly capabilitiesOf: (session: SessionId) => readonly Capability[] | undefined
  readonly drafts: PromptDrafts
  /** Tracks all keys of the view, including those that were not for this prompt. */
  readonly guard: TypingGuard
  readonly changed: () => void
}

/** Returns the options that come from the inbox and the gateway, which are the same in every view. */
export function gatewayOptions(inbox: Inbox, call: Call) {
  const session = (id: SessionId) => inbox.getSnapshot().sessions.get(id)
  return {
    answer: (id, answer) => inbox.answer(id, answer),
    offers: id => loadRuleOffers(call, id),
    risk: async (id, input) => (await call('checkInput', { id, input })).risk,
    isAgentDisconnected: id => session(id)?.state === 'disconnected',
    capabilitiesOf: id => session(id)?.capabilities,
  } satisfies Partial<PromptControllerOptions>
}

/** For this long after a prompt appears or changes, keys are ignored, because the person may have typed them before seeing the prompt. Each ignored key restarts the cooldown. */
export const inputCooldownMs = 300

/** If the process was busy or stopped, timers fire before the keys that were pressed meanwhile are read. After four iterations of the event loop, those keys and a pending SIGCONT have been handled. */
function afterPendingInput(callback: () => void, iterations = 4): void {
  if (iterations === 0) callback()
  else setImmediate(() => afterPendingInput(callback, iterations - 1))
}

const noView: BodyView = { columns: 0, lines: 0, height: 0, top: 0 }

export class PromptController {
  readonly #options: PromptControllerOptions
  readonly #prompts = new Map<RequestId, Prompt>()
  readonly #answered = new Set<RequestId>()
  #current: RequestId | null = null
  #cooldown: NodeJS.Timeout | null = null
  /** A key that is carried out when the timer fires, unless another key follows. */
  #held: { readonly key: Key; readonly text: string; readonly timer: NodeJS.Timeout } | null = null
  /** Redraws the prompt when keys count again after typing. */
  #typingTimer: NodeJS.Timeout | null = null
  /** Whether the person was typing something else when the prompt appeared, and has not paused since. */
  #interruptsTyping = false
  #isSending = false
  #decision: Promise<void> = Promise.resolve()
  #view: BodyView = noView

  constructor(options: PromptControllerOptions) {
    this.#options = options
  }

  get prompt(): Prompt | null {
    return this.#current === null ? null : (this.#prompts.get(this.#current) ?? null)
  }
  get status(): PromptStatus {
    if (this.#isSending) return 'sending'
    if (!this.#options.isReachable()) return 'disconnected'
    if (this.#held) return 'held'
    if (this.#cooldown) return 'cooldown'
    const takesText = this.prompt !== null && isTextField(this.prompt)
    return this.#options.guard.isTyping && (this.#interruptsTyping || !takesText) ? 'typing' : 'live'
  }
  /** Whether a key was pressed that is carried out unless another key follows. */
  get isHolding(): boolean {
    return this.#held !== null
  }
  isAnsweredHere(id: RequestId): boolean {
    return this.#answered.has(id)
  }
  /** Returns the lines of the prompt for the next frame. */
  layout(size: ScreenSize, position: PromptPosition): readonly StyledLine[] {
    const { prompt } = this
    if (!prompt) return []
    const context = () => ({
      ...position,
      others: this.#options.drafts.others(prompt.request.id),
      isAgentDisconnected: this.#options.isAgentDisconnected(prompt.request.session),
      status: this.status,
      held: this.#held?.text ?? '',
    })
    const { lines, view } = layoutPrompt(prompt, size, context())
    const becameVisible = this.#view !== noView && this.#view.height === 0 && view.height > 0
    this.#view = view
    if (!becameVisible) return lines
    // Keys that were pressed while the screen was too small to show the request must not answer it.
    this.#startCooldown()
    return layoutPrompt(prompt, size, context()).lines
  }
  /** Call this after the frame was written to the terminal; only then do its lines count as shown. */
  onPainted(): void {
    const { prompt } = this
    if (prompt) this.#prompts.set(prompt.request.id, markShown(prompt, this.#view))
  }

  /** Shows the prompt of a request; null hides the prompt. */
  show(request: Request | null, modes: readonly string[] = []): void {
    const id = request?.id ?? null
    if (id === this.#current) return
    this.dropHeld()
    this.#current = id
    const { guard } = this.#options
    this.#startCooldown(Math.max(inputCooldownMs, letterPauseMs - guard.quietMs))
    this.#interruptsTyping = guard.isTyping
    if (this.#interruptsTyping) this.#awaitPause()
    if (request && !this.#prompts.has(request.id)) this.#open(request, modes)
    this.#view = noView
  }
  #open(request: Request, modes: readonly string[]): void {
    this.#prompts.set(request.id, openPrompt(request, modes, this.#options.capabilitiesOf(request.session)))
    this.#options.drafts.open(request.id, () => this.#onDraftChange(request.id))
  }
  /** Applies a draft from another device. If the draft changes the prompt on the screen, a cooldown gives the person time to read the change. */
  #onDraftChange(id: RequestId): void {
    const before = this.#prompts.get(id)
    const prompt = before && this.#options.drafts.mergeInto(before)
    if (prompt && prompt !== before) {
      this.#prompts.set(id, prompt)
      if (id === this.#current) this.#startCooldown()
    }
    this.#options.changed()
  }
  /** Call this when the shell or an editor has returned the terminal, because keys that were typed meanwhile must not answer the request. */
  onTerminalReturned(): void {
    if (!this.prompt) return
    this.#startCooldown()
    this.#options.changed()
  }
  /** A key that was pressed before the prompt changed must not act on the changed prompt. */
  #startCooldown(ms = inputCooldownMs): void {
    if (this.dropHeld() && this.prompt)
      this.#prompts.set(this.prompt.request.id, { ...this.prompt, hint: texts.changed })
    if (this.#cooldown) clearTimeout(this.#cooldown)
    this.#cooldown = setTimeout(() => {
      this.#cooldown = null
      this.#options.changed()
    }, ms)
  }
  /** Removes the prompts of requests that are no longer pending, including prompts that are not on the screen. */
  removeUnless(isPending: (id: RequestId) => boolean): void {
    for (const id of [...this.#prompts.keys()]) if (!isPending(id)) this.remove(id)
  }
  remove(id: RequestId): void {
    this.#prompts.delete(id)
    this.#options.drafts.remove(id)
    if (this.#current !== id) return
    this.#current = null
    this.dropHeld()
  }

  /** Handles Ctrl+C: denies or declines the request and stops the turn. Returns true if the person must confirm that first, because the request is new or unread, or an answer is unfinished. */
  stop(isConfirmed: boolean): boolean {
    const { prompt } = this
    if (!prompt || this.#isSending || !this.#options.isReachable()) return false
    const isNew = this.status !== 'live'
    this.dropHeld()
    const question = stopQuestion(isNew ? { ...prompt, isFullyShown: false } : prompt)
    if (question !== null && !isConfirmed) {
      this.#update({ ...prompt, hint: question })
      return true
    }
    this.#decision = this.#send(prompt, stopAnswer(prompt))
    return false
  }
  /** Drops a held key. Resolves when the last decision has been sent. */
  async close(): Promise<void> {
    this.dropHeld()
    await this.#decision
  }

  handleKey(key: Key): void {
    const { prompt } = this
    const { guard, isReachable } = this.#options
    if (!prompt) return
    if (this.#isSending || !isReachable()) this.#note(key, true)
    else if (this.#held) this.#takeBack(prompt, key)
    else if (this.#cooldown) {
      this.#startCooldown(isTypingKey(key) ? letterPauseMs : inputCooldownMs)
      this.#note(key, handlePromptKey(prompt, key, this.#view).ignored === true)
    } else if (this.#interruptsTyping && guard.isTyping) this.#note(key, true)
    else {
      this.#interruptsTyping = false
      this.#carryOut(prompt, key)
    }
  }
  #carryOut(prompt: Prompt, key: Key): void {
    const { guard } = this.#options
    const result = handlePromptKey(prompt, key, this.#view)
    const policy = keyPolicy(prompt, key, result, guard)
    const wasTyping = guard.isTyping
    this.#note(key, policy === 'text' || isTextField(prompt))
    if (policy === 'act') void this.#handle(key)
    else if (policy === 'hold') this.#hold(prompt, key, texts.held(result))
    else if (policy === 'again') this.#update({ ...prompt, hint: texts.enterAgain })
    // The hint of the first ignored key stays, so that the screen does not change with every letter of a text.
    else if (!wasTyping) this.#update({ ...prompt, hint: result.ignored ? result.prompt.hint : texts.tooSoon })
  }
  /** While the person types, every key continues the typing. */
  #note(key: Key, isText: boolean): void {
    const { guard, changed } = this.#options
    if (guard.isTyping || (isText && isTypingKey(key))) {
      guard.noteText()
      this.#awaitPause()
      changed()
    } else if (isTypingKey(key)) guard.noteCommand()
  }
  #awaitPause(): void {
    if (this.#typingTimer) clearTimeout(this.#typingTimer)
    const onPause = () => {
      this.#typingTimer = null
      // A timer can fire a moment too early.
      if (this.#options.guard.isTyping) this.#awaitPause()
      else this.#interruptsTyping = false
      this.#options.changed()
    }
    this.#typingTimer = setTimeout(onPause, Math.ceil(this.#options.guard.pauseLeftMs))
  }

  #hold(prompt: Prompt, key: Key, text: string): void {
    const timer = setTimeout(
      () => afterPendingInput(() => this.#held?.timer === timer && this.confirmHeld()),
      letterPauseMs,
    )
    this.#held = { key, text, timer }
    this.#update({ ...prompt, hint: null })
  }
  /** Carries out a held key at once. */
  confirmHeld(): void {
    const key = this.dropHeld()
    if (key && this.#options.isReachable()) void this.#handle(key)
    else this.#options.changed()
  }
  /** Drops a held key, because another key shows that it was part of a text or that the person has changed their mind. */
  #takeBack(prompt: Prompt, key: Key): void {
    this.dropHeld()
    this.#note(key, true)
    // A person who continues typing in a text field must not lose a letter.
    const typed = isTextField(prompt) && isTypingKey(key) && key.name !== 'enter'
    const next = typed ? handlePromptKey(prompt, key, this.#view).prompt : prompt
    this.#update({ ...next, hint: texts.takenBack })
    this.#options.drafts.save(next)
  }
  /** Takes back a held key, and returns it. */
  dropHeld(): Key | null {
    const held = this.#held
    this.#held = null
    if (held) clearTimeout(held.timer)
    return held?.key ?? null
  }

  async #handle(input: ApprovalInput): Promise<void> {
    const { prompt: before } = this
    if (!before) return
    const { prompt, answer, edit, loadsOffers, checksInput } = handlePromptKey(before, input, this.#view)
    this.#update(prompt)
    this.#options.drafts.save(prompt)
    if (answer) {
      this.#decision = this.#send(prompt, answer)
      await this.#decision
    }
    if (loadsOffers) await this.#loadOffers(prompt)
    if (checksInput) await this.#loadRisk(prompt, checksInput)
    if (edit === undefined) return
    const text = await this.#options.edit(edit, editorExtension(prompt))
    // While the editor was open, the request may have been answered elsewhere. The edited text must not reach a different request.
    if (this.#current !== prompt.request.id) return
    if (text !== null) await this.#handle({ name: 'edited', text })
    else this.#update({ ...prompt, hint: texts.editorFailed })
  }

  /** Adds the offered rules to the list that the person has opened, unless the person has left it meanwhile. */
  async #loadOffers({ request: { id } }: Prompt): Promise<void> {
    const isWaiting = () => {
      const state = this.#current === id ? this.prompt?.state : undefined
      return state?.kind === 'approval' && state.step === 'always' && state.offers === null
    }
    try {
      const offers = await this.#options.offers(id)
      if (!isWaiting()) return
      // The list appears now, so a key that was pressed before must not choose from it.
      this.#startCooldown()
      await this.#handle({ name: 'offers', offers })
    } catch (error) {
      const { prompt } = this
      if (prompt?.state.kind !== 'approval' || !isWaiting()) return
      const hint = approvalTexts.offersFailed(error instanceof Error ? error.message : String(error))
      this.#update({ ...prompt, state: { ...prompt.state, step: 'decide' }, hint })
    }
  }

  /** Adds the risk of an edited input to its prompt. */
  async #loadRisk({ request: { id } }: Prompt, input: JsonObject): Promise<void> {
    const risk = await this.#options.risk(id, input).catch(() => unknownRisk)
    const prompt = this.#prompts.get(id)
    if (!prompt) return
    // This needs no cooldown, because a key that would allow the request before its risk is known has no effect.
    const view = this.#current === id ? this.#view : { ...noView, top: prompt.top }
    const next = handlePromptKey(prompt, { name: 'risk', input, risk }, view).prompt
    this.#update({ ...next, hint: prompt.hint })
  }

  async #send(prompt: Prompt, answer: Answer): Promise<void> {
    const { id } = prompt.request
    this.#isSending = true
    this.#answered.add(id)
    this.#options.drafts.hold(id)
    this.#options.changed()
    try {
      await this.#options.answer(id, answer)
    } catch (error) {
      this.#answered.delete(id)
      // The request was answered elsewhere first. Its prompt is removed when the resolved request arrives, so no hint is needed.
      if (error instanceof Fault && error.code === 'already_resolved') return
      this.#options.drafts.release(id)
      this.#update({ ...prompt, hint: texts.notSent(error instanceof Error ? error.message : String(error)) })
    } finally {
      this.#isSending = false
      this.#options.changed()
    }
  }

  #update(prompt: Prompt): void {
    if (this.#prompts.has(prompt.request.id)) this.#prompts.set(prompt.request.id, prompt)
    this.#options.changed()
  }
}
