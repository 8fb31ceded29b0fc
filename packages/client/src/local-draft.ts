/** Stores a copy of a draft on this device. The copy survives a reload and does not depend on the gateway. */
import type { RequestId } from '@holdpoint/protocol'
import { type AnswerDraft, decodeDraft, encodeDraft, isEmptyDraft } from './draft.ts'

/** The part of a browser's `Storage` that drafts need. */
export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Another draft of the same answer by the same person. */
export interface OtherDraft {
  readonly draft: AnswerDraft
  /** The device on which the draft was typed. `this` means that it was typed on this device before a newer draft came from another device. */
  readonly device: 'this' | 'other'
}
export interface LocalDraft {
  readonly draft: AnswerDraft
  /** When the draft last changed, by the gateway's clock. */
  readonly changedAt: number
  /** When the gateway stored the draft that this tab last saved or loaded, by the gateway's clock. */
  readonly savedAt: number
  /** Whether the draft was typed on this device rather than received from another device. */
  readonly typedHere: boolean
  /** The other draft that was offered to the person. This may be the only copy of that draft. */
  readonly other: OtherDraft | null
}
const emptyLocalDraft: LocalDraft = { draft: {}, changedAt: 0, savedAt: 0, typedHere: false, other: null }

/** Returns the prefix of a person's storage keys. The prefix contains the person, because several people may sign in one after another in the same tab. */
export function draftKeysOf(me: string): string {
  return `draft/${JSON.stringify(me)}/`
}
const keyOf = (me: string, id: RequestId) => draftKeysOf(me) + id

/** Loads the stored draft. Returns an empty draft if no draft is stored, if it cannot be read, or if the browser blocks storage. */
export function readLocalDraft(storage: DraftStorage, me: string, id: RequestId): LocalDraft {
  try {
    const { draft, changedAt, savedAt, typedHere, other } = JSON.parse(storage.getItem(keyOf(me, id)) ?? 'null')
    return {
      draft: decodeDraft(draft),
      changedAt: Number(changedAt) || 0,
      savedAt: Number(savedAt) || 0,
      typedHere: typedHere === true,
      other: other ? { draft: decodeDraft(other.draft), device: other.device === 'this' ? 'this' : 'other' } : null,
    }
  } catch {
    return emptyLocalDraft
  }
}

export function writeLocalDraft(storage: DraftStorage, me: string, id: RequestId, local: LocalDraft): void {
  const { draft, other, ...rest } = local
  const encoded = { ...rest, draft: encodeDraft(draft), other: other && { ...other, draft: encodeDraft(other.draft) } }
  try {
    if (isEmptyDraft(draft) && !other) storage.removeItem(keyOf(me, id))
    else storage.setItem(keyOf(me, id), JSON.stringify(encoded))
  } catch {
    // The browser blocks storage or the storage is full, so the draft is only in memory and at the gateway.
  }
}

export function removeLocalDraft(storage: DraftStorage, me: string, id: RequestId): void {
  writeLocalDraft(storage, me, id, emptyLocalDraft)
}
