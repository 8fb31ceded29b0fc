/** The copy of a draft that stays where it was typed, and outlives a reload and its request: whatever the gateway has, what was typed here is here. */
import type { RequestId } from '@holdpoint/protocol'
import { type AnswerDraft, decodeDraft, encodeDraft, isEmptyDraft } from './draft.ts'

/** Such as a browser's storage. */
export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Another beginning of the same answer by the same person. */
export interface OtherDraft {
  readonly draft: AnswerDraft
  /** On another device; or here, before a newer one came from there. */
  readonly where: 'there' | 'here'
}
export interface LocalDraft {
  readonly draft: AnswerDraft
  /** When it became what it is, by the gateway's clock. */
  readonly at: number
  /** The gateway's instant of what was there when this was typed: sent by this tab last, or taken from there. */
  readonly savedAt: number
  /** Somebody typed here; else it was only shown here. */
  readonly touched: boolean
  /** What the reader was offered instead: it may be nowhere else any more. */
  readonly other: OtherDraft | null
}
const nothing: LocalDraft = { draft: {}, at: 0, savedAt: 0, touched: false, other: null }

/** How the keys of all that this person has begun start. Another who signs in in the same tab has their own. */
export function draftKeysOf(me: string): string {
  return `draft/${JSON.stringify(me)}/`
}
const keyOf = (me: string, id: RequestId) => draftKeysOf(me) + id

/** A browser may refuse storage; then there is none. */
export function readLocalDraft(shelf: DraftStorage, me: string, id: RequestId): LocalDraft {
  try {
    const { draft, at, savedAt, touched, other } = JSON.parse(shelf.getItem(keyOf(me, id)) ?? 'null')
    return {
      draft: decodeDraft(draft),
      at: Number(at) || 0,
      savedAt: Number(savedAt) || 0,
      touched: touched === true,
      other: other ? { draft: decodeDraft(other.draft), where: other.where === 'here' ? 'here' : 'there' } : null,
    }
  } catch {
    return nothing
  }
}

export function writeLocalDraft(shelf: DraftStorage, me: string, id: RequestId, kept: LocalDraft): void {
  const { draft, other, ...rest } = kept
  const spelled = { ...rest, draft: encodeDraft(draft), other: other && { ...other, draft: encodeDraft(other.draft) } }
  try {
    if (isEmptyDraft(draft) && !other) shelf.removeItem(keyOf(me, id))
    else shelf.setItem(keyOf(me, id), JSON.stringify(spelled))
  } catch {}
}

export function removeLocalDraft(shelf: DraftStorage, me: string, id: RequestId): void {
  writeLocalDraft(shelf, me, id, nothing)
}
