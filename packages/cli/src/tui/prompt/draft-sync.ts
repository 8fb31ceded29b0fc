/** What is half written in prompts, kept at the gateway: the person's other devices show it, and others see that somebody answers. */
import { type AnswerDraft, changeDraft, DraftSync, encodeDraft } from '@holdpoint/client'
import type { Call, Frame, RequestId } from '@holdpoint/protocol'
import type { Prompt } from './prompt.ts'
import { draftOf, withDraft } from './prompt-draft.ts'

export interface PromptDraftsOptions {
  readonly call: Call
  readonly me: string
  readonly frames: (listener: (frame: Frame) => void) => () => void
}

/** A terminal that is gone has nothing that would come back with it, so neither is anything compared by its time. */
const storage = { getItem: () => null, setItem: () => {}, removeItem: () => {} }
const now = Date.now

export class PromptDrafts {
  readonly #options: PromptDraftsOptions
  readonly #keepers = new Map<RequestId, DraftSync>()

  constructor(options: PromptDraftsOptions) {
    this.#options = options
  }

  /** Keeps this request's from now on; tells whenever something has come from elsewhere. */
  open(id: RequestId, changed: () => void): void {
    if (this.#keepers.has(id)) return
    const keeper = new DraftSync({ ...this.#options, id, storage, now })
    this.#keepers.set(id, keeper)
    keeper.subscribe(changed)
    keeper.open()
  }
  /** Who else is writing an answer to it. */
  others(id: RequestId): readonly string[] {
    return this.#keepers.get(id)?.getSnapshot().others ?? []
  }

  /** What the person has written goes on its way. */
  save(prompt: Prompt): void {
    const keeper = this.#keepers.get(prompt.request.id)
    const draft = draftOf(prompt)
    if (keeper && !holds(keeper.getSnapshot().draft, draft)) keeper.change(draft)
  }
  /** The prompt with what is kept; the same one where it says that already. */
  merged(prompt: Prompt): Prompt {
    const kept = this.#keepers.get(prompt.request.id)?.getSnapshot().draft
    return kept && !holds(kept, draftOf(prompt)) ? withDraft(prompt, kept) : prompt
  }

  /** While an answer is on its way nothing is sent beside it. */
  hold(id: RequestId): void {
    this.#keepers.get(id)?.pauseSaving()
  }
  release(id: RequestId): void {
    this.#keepers.get(id)?.resumeSaving()
  }
  /** What is not sent yet is; of one that is answered the keeper knows that nothing is to be. */
  forget(id: RequestId): void {
    this.#keepers.get(id)?.close()
    this.#keepers.delete(id)
  }
  /** What is not kept yet is, before the person is gone. */
  async close(): Promise<void> {
    const keepers = [...this.#keepers.values()]
    this.#keepers.clear()
    await Promise.all(keepers.map(keeper => keeper.flush()))
    for (const keeper of keepers) keeper.close()
  }
}

/** Whether a draft says all of this already. */
function holds(draft: AnswerDraft, change: AnswerDraft): boolean {
  return JSON.stringify(encodeDraft(changeDraft(draft, change))) === JSON.stringify(encodeDraft(draft))
}
