/** Syncs unfinished answers with the gateway, so that the person's other devices show them and other people see who is answering. */
import { type AnswerDraft, changeDraft, DraftSync, encodeDraft } from '@holdpoint/client'
import type { Call, Frame, RequestId } from '@holdpoint/protocol'
import type { Prompt } from './prompt.ts'
import { draftFromPrompt, withDraft } from './prompt-draft.ts'

export interface PromptDraftsOptions {
  readonly call: Call
  readonly me: string
  readonly frames: (listener: (frame: Frame) => void) => () => void
}

/** Stores nothing. A browser needs local drafts after a reload, but a terminal view is never reloaded. */
const storage = { getItem: () => null, setItem: () => {}, removeItem: () => {} }
const now = Date.now

export class PromptDrafts {
  readonly #options: PromptDraftsOptions
  readonly #syncs = new Map<RequestId, DraftSync>()

  constructor(options: PromptDraftsOptions) {
    this.#options = options
  }

  /** Starts to sync the draft of a request. Calls `changed` when another device changes the draft, or when another person starts or stops answering. */
  open(id: RequestId, changed: () => void): void {
    if (this.#syncs.has(id)) return
    const sync = new DraftSync({ ...this.#options, id, storage, now })
    this.#syncs.set(id, sync)
    sync.subscribe(changed)
    sync.open()
  }
  /** Returns the names of the other people who are answering the request. */
  others(id: RequestId): readonly string[] {
    return (this.#syncs.get(id)?.getSnapshot().others ?? []).map(({ name }) => name)
  }

  /** Sends the draft of the prompt if it differs from the synced draft. */
  save(prompt: Prompt): void {
    const sync = this.#syncs.get(prompt.request.id)
    const draft = draftFromPrompt(prompt)
    if (sync && !hasAll(sync.getSnapshot().draft, draft)) sync.change(draft)
  }
  /** Returns the prompt with the synced draft applied, or the same object if the draft changes nothing. */
  mergeInto(prompt: Prompt): Prompt {
    const draft = this.#syncs.get(prompt.request.id)?.getSnapshot().draft
    return draft && !hasAll(draft, draftFromPrompt(prompt)) ? withDraft(prompt, draft) : prompt
  }

  /** Pauses saving while an answer is being sent; `release` resumes saving. */
  hold(id: RequestId): void {
    this.#syncs.get(id)?.pauseSaving()
  }
  release(id: RequestId): void {
    this.#syncs.get(id)?.resumeSaving()
  }
  /** Sends the last changes of a draft and stops syncing the draft. */
  remove(id: RequestId): void {
    this.#syncs.get(id)?.close()
    this.#syncs.delete(id)
  }
  /** Sends the unsent changes of all drafts, then stops syncing. */
  async close(): Promise<void> {
    const syncs = [...this.#syncs.values()]
    this.#syncs.clear()
    await Promise.all(syncs.map(sync => sync.flush()))
    for (const sync of syncs) sync.close()
  }
}

/** Returns whether applying the change leaves the draft as it is. */
function hasAll(draft: AnswerDraft, change: AnswerDraft): boolean {
  return JSON.stringify(encodeDraft(changeDraft(draft, change))) === JSON.stringify(encodeDraft(draft))
}
