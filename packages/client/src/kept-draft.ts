/** The copy of a draft that stays where it was typed, and outlives a reload and its request: whatever the gateway has, what was typed here is here. */
import type { RequestId } from '@holdpoint/protocol'
import { type AnswerDraft, isEmptyDraft, readDraft, spellDraft } from './draft.ts'

/** Such as a browser's storage. */
export type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Another beginning of the same answer by the same person. */
export interface OtherDraft {
  readonly draft: AnswerDraft
  /** On another device; or here, before a newer one came from there. */
  readonly where: 'there' | 'here'
}
export interface KeptDraft {
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
const nothing: KeptDraft = { draft: {}, at: 0, savedAt: 0, touched: false, other: null }

/** How the keys of all that this person has begun start. Another who signs in in the same tab has their own. */
export function draftKeysOf(me: string): string {
  return `draft/${JSON.stringify(me)}/`
}
const keyOf = (me: string, id: RequestId) => draftKeysOf(me) + id

/** A browser may refuse storage; then there is none. */
export function readKept(shelf: Shelf, me: string, id: RequestId): KeptDraft {
  try {
    const { draft, at, savedAt, touched, other } = JSON.parse(shelf.getItem(keyOf(me, id)) ?? 'null')
    return {
      draft: readDraft(draft),
      at: Number(at) || 0,
      savedAt: Number(savedAt) || 0,
      touched: touched === true,
      other: other ? { draft: readDraft(other.draft), where: other.where === 'here' ? 'here' : 'there' } : null,
    }
  } catch {
    return nothing
  }
}

export function writeKept(shelf: Shelf, me: string, id: RequestId, kept: KeptDraft): void {
  const { draft, other, ...rest } = kept
  const spelled = { ...rest, draft: spellDraft(draft), other: other && { ...other, draft: spellDraft(other.draft) } }
  try {
    if (isEmptyDraft(draft) && !other) shelf.removeItem(keyOf(me, id))
    else shelf.setItem(keyOf(me, id), JSON.stringify(spelled))
  } catch {}
}

export function forgetKept(shelf: Shelf, me: string, id: RequestId): void {
  writeKept(shelf, me, id, nothing)
}
