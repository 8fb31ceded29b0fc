/** The prompt that is put to the person now: when keys count, what is sent, and what became of it meanwhile. */

import { type Answer, Fault, messageOf, type Request, type RequestId } from '@holdpoint/protocol'
import type { StyledLine } from '../../output/width.ts'
import type { Key } from '../terminal/key-parser.ts'
import type { PromptDrafts } from './draft-sync.ts'
import { type Count, layoutPrompt, type PromptStatus, type ScreenSize } from './layout/prompt-layout.ts'
import { openPrompt, type Prompt, pressPrompt, sawPrompt, type View } from './prompt.ts'
import type { PromptInput } from './prompt-step.ts'

export interface PromptControllerOptions {
  readonly answer: (id: RequestId, answer: Answer) => Promise<unknown>
  readonly edit: (text: string) => Promise<string | null>
  /** Whether the gateway can be reached, as far as is known. */
  readonly isReachable: () => boolean
  readonly drafts: PromptDrafts
  readonly changed: () => void
}

/** Whoever was typing when a prompt appeared did not mean it; nor a key that is held down. */
export const inputCooldownMs = 300

/** That we had been stopped may be heard after the key that was typed meanwhile: what a key decides waits for it so long. */
export const suspendCheckMs = 100

/** Nothing is drawn yet. */
const noView: View = { columns: 0, lines: 0, height: 0, top: 0 }

export class PromptController {
  readonly #options: PromptControllerOptions
  /** Half-filled ones wait for their turn. */
  readonly #prompts = new Map<RequestId, Prompt>()
  readonly #answered = new Set<RequestId>()
  #current: RequestId | null = null
  #quiet: NodeJS.Timeout | null = null
  #sending = false
  #settleDoubt: (meant: boolean) => void = () => {}
  #deciding: Promise<void> = Promise.resolve()
  #view: View = noView

  constructor(options: PromptControllerOptions) {
    this.#options = options
  }

  get prompt(): Prompt | null {
    return this.#current === null ? null : (this.#prompts.get(this.#current) ?? null)
  }
  get standing(): PromptStatus {
    if (this.#sending) return 'sending'
    if (!this.#options.isReachable()) return 'away'
    return this.#quiet ? 'quiet' : 'live'
  }
  /** Whether the answer to it came from here. */
  isOurs(id: RequestId): boolean {
    return this.#answered.has(id)
  }
  /** What the next frame shows of it. */
  lay(place: ScreenSize, count: Count): readonly StyledLine[] {
    const { prompt } = this
    if (!prompt) return []
    const around = () => ({ ...count, others: this.#options.drafts.others(prompt.request.id), standing: this.standing })
    const laid = layoutPrompt(prompt, place, around())
    const appears = this.#view !== noView && this.#view.height === 0 && laid.view.height > 0
    this.#view = laid.view
    if (!appears) return laid.pieces
    // A key that was pressed while nothing was there to be read is not for this.
    this.#beQuiet()
    return layoutPrompt(prompt, place, around()).pieces
  }
  /** That frame is on the terminal. */
  painted(): void {
    const { prompt } = this
    if (prompt) this.#prompts.set(prompt.request.id, sawPrompt(prompt, this.#view))
  }

  /** Puts this request, or none. */
  put(request: Request | null, modes: readonly string[]): void {
    const id = request?.id ?? null
    if (id === this.#current) return
    this.#current = id
    this.#beQuiet()
    if (request && !this.#prompts.has(request.id)) this.#open(request, modes)
    this.#view = noView
  }
  #open(request: Request, modes: readonly string[]): void {
    this.#prompts.set(request.id, openPrompt(request, modes))
    this.#options.drafts.open(request.id, () => this.#learn(request.id))
  }
  /** What came from elsewhere stands in the prompt: nobody answers with words that they have not seen yet. */
  #learn(id: RequestId): void {
    const before = this.#prompts.get(id)
    const prompt = before && this.#options.drafts.merged(before)
    if (prompt && prompt !== before) {
      this.#prompts.set(id, prompt)
      if (id === this.#current) this.#beQuiet()
    }
    this.#options.changed()
  }
  /** Another program had the terminal. */
  returned(): void {
    this.#settleDoubt(false)
    if (!this.prompt) return
    this.#beQuiet()
    this.#options.changed()
  }
  /** What the keys do is shown when they do it. */
  #beQuiet(): void {
    if (this.#quiet) clearTimeout(this.#quiet)
    this.#quiet = setTimeout(() => {
      this.#quiet = null
      this.#options.changed()
    }, inputCooldownMs)
  }
  /** What waits no more is let go, also where it stands behind another. */
  sweep(waits: (id: RequestId) => boolean): void {
    for (const id of [...this.#prompts.keys()]) if (!waits(id)) this.forget(id)
  }
  forget(id: RequestId): void {
    this.#prompts.delete(id)
    this.#options.drafts.forget(id)
    if (this.#current === id) this.#current = null
  }

  /** Whoever leaves means what they decided last. */
  async close(): Promise<void> {
    this.#settleDoubt(true)
    await this.#deciding
  }

  press(key: Key): void {
    if (this.#sending || !this.prompt || !this.#options.isReachable()) return
    if (this.#quiet) this.#beQuiet()
    else void this.#turn(key)
  }
  /** Ctrl+C: no, to this one. */
  reject(): void {
    const { prompt } = this
    if (!prompt || this.#sending) return
    void this.#send(prompt, { kind: prompt.request.ask.kind === 'approval' ? 'deny' : 'decline' })
  }

  async #turn(press: PromptInput): Promise<void> {
    const { prompt: before } = this
    if (!before) return
    const { prompt, answer, edit } = pressPrompt(before, press, this.#view)
    this.#keep(prompt)
    this.#options.drafts.save(prompt)
    if (answer) {
      this.#deciding = this.#decide(prompt, answer)
      await this.#deciding
    }
    if (edit === undefined) return
    const text = await this.#options.edit(edit)
    // Meanwhile it may have been answered, and another may stand in its place: the text is none of that one's.
    if (this.#current !== prompt.request.id) return
    if (text !== null) await this.#turn({ name: 'edited', text })
    else this.#keep({ ...prompt, hint: 'The editor failed; set EDITOR to one that works. Nothing was changed.' })
  }

  async #decide(prompt: Prompt, answer: Answer): Promise<void> {
    this.#sending = true
    this.#options.changed()
    const meant = await new Promise<boolean>(resolve => {
      const timer = setTimeout(() => resolve(true), suspendCheckMs)
      this.#settleDoubt = sure => {
        clearTimeout(timer)
        resolve(sure)
      }
    })
    this.#sending = false
    // Whoever has gone on to another one meanwhile has still decided this one, if it waits.
    if (meant && this.#prompts.has(prompt.request.id)) await this.#send(prompt, answer)
    else this.#options.changed()
  }

  async #send(prompt: Prompt, answer: Answer): Promise<void> {
    const { id } = prompt.request
    this.#sending = true
    this.#answered.add(id)
    this.#options.drafts.hold(id)
    this.#options.changed()
    try {
      await this.#options.answer(id, answer)
    } catch (error) {
      this.#answered.delete(id)
      // Somebody was faster: what they said comes with the request itself.
      if (error instanceof Fault && error.code === 'already_resolved') return
      this.#options.drafts.release(id)
      const words = messageOf(error)
      this.#keep({ ...prompt, hint: `It was not sent: ${words}` })
    } finally {
      this.#sending = false
      this.#options.changed()
    }
  }

  #keep(prompt: Prompt): void {
    if (this.#prompts.has(prompt.request.id)) this.#prompts.set(prompt.request.id, prompt)
    this.#options.changed()
  }
}
