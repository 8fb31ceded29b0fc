/** Syncs unfinished answers with the gateway: the person's other devices show them, and other people see that somebody is answering. */
import { type AnswerDraft, changeDraft, DraftSync, encodeDraft } from '@holdpoint/client'
import type { Call, Frame, RequestId } from '@holdpoint/protocol'
import type { Prompt } from './prompt.ts'
import { draftFromPrompt, withDraft } from './prompt-draft.ts'

export interface PromptDraftsOptions {
  readonly call: Call
  readonly me: string
  readonly frames: (listener: (frame: Frame) => void) => () => void
}

/** A terminal stores no drafts locally: there is no reload after which they would be needed. */
const storage = { getItem: () => null, setItem: () => {}, removeItem: () => {} }
const now = Date.now

export class PromptDrafts {
  readonly #options: PromptDraftsOptions
  readonly #syncs = new Map<RequestId, DraftSync>()

  constructor(options: PromptDraftsOptions) {
    this.#options = options
  }

  /** Starts to sync the draft of a request; `changed` is called when another device or person changes something. */
  open(id: RequestId, changed: () => void): void {
    if (this.#syncs.has(id)) return
    const sync = new DraftSync({ ...this.#options, id, storage, now })
    this.#syncs.set(id, sync)
    sync.subscribe(changed)
    sync.open()
  }
  /** The other people who are answering the request. */
  others(id: RequestId): readonly string[] {
    return this.#syncs.get(id)?.getSnapshot().others ?? []
  }

  /** Sends the person's changes. */
  save(prompt: Prompt): void {
    const sync = this.#syncs.get(prompt.request.id)
    const draft = draftFromPrompt(prompt)
    if (sync && !hasAll(sync.getSnapshot().draft, draft)) sync.change(draft)
  }
  /** The prompt with the synced draft applied; the same object if nothing differs. */
  mergeInto(prompt: Prompt): Prompt {
    const draft = this.#syncs.get(prompt.request.id)?.getSnapshot().draft
    return draft && !hasAll(draft, draftFromPrompt(prompt)) ? withDraft(prompt, draft) : prompt
  }

  /** Pauses syncing while an answer is being sent. */
  hold(id: RequestId): void {
    this.#syncs.get(id)?.pauseSaving()
  }
  release(id: RequestId): void {
    this.#syncs.get(id)?.resumeSaving()
  }
  /** Stops syncing after sending the last changes. */
  remove(id: RequestId): void {
    this.#syncs.get(id)?.close()
    this.#syncs.delete(id)
  }
  /** Sends all unsent changes, then stops syncing. */
  async close(): Promise<void> {
    const syncs = [...this.#syncs.values()]
    this.#syncs.clear()
    await Promise.all(syncs.map(sync => sync.flush()))
    for (const sync of syncs) sync.close()
  }
}

/** Whether the change would leave the draft as it is. */
function hasAll(draft: AnswerDraft, change: AnswerDraft): boolean {
  return JSON.stringify(encodeDraft(changeDraft(draft, change))) === JSON.stringify(encodeDraft(draft))
}
