/** The copy of a draft on this device. It survives a reload, and is kept whatever the gateway has. */
import type { RequestId } from '@holdpoint/protocol'
import { type AnswerDraft, decodeDraft, encodeDraft, isEmptyDraft } from './draft.ts'

/** The part of a browser's `Storage` that drafts need. */
export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Another draft of the same answer by the same person. */
export interface OtherDraft {
  readonly draft: AnswerDraft
  /** `this`: it was typed here before a newer one came from another device. */
  readonly device: 'this' | 'other'
}
export interface LocalDraft {
  readonly draft: AnswerDraft
  /** When the draft last changed, by the gateway's clock. */
  readonly changedAt: number
  /** The gateway's time of the last draft that this tab saved or loaded. */
  readonly savedAt: number
  /** False if the draft came from another device and was only shown here. */
  readonly typedHere: boolean
  /** The draft that was offered instead. This may be its only copy. */
  readonly other: OtherDraft | null
}
const emptyLocalDraft: LocalDraft = { draft: {}, changedAt: 0, savedAt: 0, typedHere: false, other: null }

/** The prefix of a person's draft keys. Several people may sign in in the same tab, one after another. */
export function draftKeysOf(me: string): string {
  return `draft/${JSON.stringify(me)}/`
}
const keyOf = (me: string, id: RequestId) => draftKeysOf(me) + id

/** An empty draft if there is none, if it is not readable, or if the browser refuses storage. */
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
    // The browser refuses storage; the draft is then only in memory and at the gateway.
  }
}

export function removeLocalDraft(storage: DraftStorage, me: string, id: RequestId): void {
  writeLocalDraft(storage, me, id, emptyLocalDraft)
}
