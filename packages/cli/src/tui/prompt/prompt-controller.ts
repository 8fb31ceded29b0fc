/** Controls the prompt on the screen: which request is shown, when keys count, and how the answer is sent. Keeps half-finished prompts while another request is shown. */
import type { Answer, Request, RequestId } from '@holdpoint/protocol'
import { Fault } from '@holdpoint/protocol'
import type { StyledLine } from '../../output/width.ts'
import type { Key } from '../terminal/key-parser.ts'
import type { PromptInput } from './key-result.ts'
import { layoutPrompt, type PromptPosition, type PromptStatus, type ScreenSize } from './layout/prompt-layout.ts'
import { type BodyView, handlePromptKey, markShown, openPrompt, type Prompt } from './prompt.ts'
import type { PromptDrafts } from './prompt-drafts.ts'
import { promptTexts as texts } from './texts.ts'

export interface PromptControllerOptions {
  readonly answer: (id: RequestId, answer: Answer) => Promise<unknown>
  readonly edit: (text: string) => Promise<string | null>
  /** Whether the connection to the gateway is up, as far as the client knows. */
  readonly isReachable: () => boolean
  readonly drafts: PromptDrafts
  readonly changed: () => void
}

/** For this long after a prompt appears or changes, keys are ignored, because the person may have typed them before seeing the prompt. Each ignored key restarts the cooldown. */
export const inputCooldownMs = 300

/** An answer from `handleKey` is sent only after this delay. A SIGCONT during the delay shows that the key was typed while the process was suspended, so the answer is dropped. */
export const suspendCheckMs = 100

const noView: BodyView = { columns: 0, lines: 0, height: 0, top: 0 }

export class PromptController {
  readonly #options: PromptControllerOptions
  readonly #prompts = new Map<RequestId, Prompt>()
  readonly #answered = new Set<RequestId>()
  #current: RequestId | null = null
  #cooldown: NodeJS.Timeout | null = null
  #isSending = false
  #endSuspendCheck: (isConfirmed: boolean) => void = () => {}
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
    return this.#cooldown ? 'cooldown' : 'live'
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
      status: this.status,
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
  show(request: Request | null, modes: readonly string[]): void {
    const id = request?.id ?? null
    if (id === this.#current) return
    this.#current = id
    this.#startCooldown()
    if (request && !this.#prompts.has(request.id)) this.#open(request, modes)
    this.#view = noView
  }
  #open(request: Request, modes: readonly string[]): void {
    this.#prompts.set(request.id, openPrompt(request, modes))
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
    this.#endSuspendCheck(false)
    if (!this.prompt) return
    this.#startCooldown()
    this.#options.changed()
  }
  #startCooldown(): void {
    if (this.#cooldown) clearTimeout(this.#cooldown)
    this.#cooldown = setTimeout(() => {
      this.#cooldown = null
      this.#options.changed()
    }, inputCooldownMs)
  }
  /** Removes the prompts of requests that are no longer pending, including prompts that are not on the screen. */
  removeUnless(isPending: (id: RequestId) => boolean): void {
    for (const id of [...this.#prompts.keys()]) if (!isPending(id)) this.remove(id)
  }
  remove(id: RequestId): void {
    this.#prompts.delete(id)
    this.#options.drafts.remove(id)
    if (this.#current === id) this.#current = null
  }

  /** If a decision is still waiting for the suspend check, sends the decision now. Resolves when the last decision has been sent. */
  async close(): Promise<void> {
    this.#endSuspendCheck(true)
    await this.#decision
  }

  handleKey(key: Key): void {
    if (this.#isSending || !this.prompt || !this.#options.isReachable()) return
    if (this.#cooldown) this.#startCooldown()
    else void this.#handle(key)
  }
  /** Answers the current request after a Ctrl+C: denies an approval, or declines questions or a form. */
  denyOrDecline(): void {
    const { prompt } = this
    if (!prompt || this.#isSending) return
    void this.#send(prompt, { kind: prompt.request.ask.kind === 'approval' ? 'deny' : 'decline' })
  }

  async #handle(input: PromptInput): Promise<void> {
    const { prompt: before } = this
    if (!before) return
    const { prompt, answer, edit } = handlePromptKey(before, input, this.#view)
    this.#update(prompt)
    this.#options.drafts.save(prompt)
    if (answer) {
      this.#decision = this.#decide(prompt, answer)
      await this.#decision
    }
    if (edit === undefined) return
    const text = await this.#options.edit(edit)
    // While the editor was open, the request may have been answered elsewhere. The edited text must not reach a different request.
    if (this.#current !== prompt.request.id) return
    if (text !== null) await this.#handle({ name: 'edited', text })
    else this.#update({ ...prompt, hint: texts.editorFailed })
  }

  async #decide(prompt: Prompt, answer: Answer): Promise<void> {
    this.#isSending = true
    this.#options.changed()
    const isConfirmed = await new Promise<boolean>(resolve => {
      const timer = setTimeout(() => resolve(true), suspendCheckMs)
      this.#endSuspendCheck = confirmed => {
        clearTimeout(timer)
        resolve(confirmed)
      }
    })
    this.#isSending = false
    // The person may be looking at another request by now. The decision is still sent if its own request is pending.
    if (isConfirmed && this.#prompts.has(prompt.request.id)) await this.#send(prompt, answer)
    else this.#options.changed()
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
