/** The copy of a draft that stays where it was typed, and outlives a reload and its request: whatever the gateway has, what was typed here is here. */
import type { RequestId } from '@holdpoint/protocol'
import { type AnswerDraft, isEmptyDraft, readDraft, spellDraft } from './draft.ts'

/** Such as a browser's storage. */
export type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export interface KeptDraft {
  readonly draft: AnswerDraft
  /** When it became what it is, by the gateway's clock. */
  readonly at: number
  /** The gateway's instant of what this tab has sent there last. */
  readonly savedAt: number
  /** Somebody typed here; else it was only shown here. */
  readonly touched: boolean
}
const nothing: KeptDraft = { draft: {}, at: 0, savedAt: 0, touched: false }

const keyOf = (id: RequestId) => `draft/${id}`

/** A browser may refuse storage; then there is none. */
export function readKept(shelf: Shelf, id: RequestId): KeptDraft {
  try {
    const { draft, at, savedAt, touched } = JSON.parse(shelf.getItem(keyOf(id)) ?? 'null')
    return { draft: readDraft(draft), at: Number(at) || 0, savedAt: Number(savedAt) || 0, touched: touched === true }
  } catch {
    return nothing
  }
}

export function writeKept(shelf: Shelf, id: RequestId, { draft, ...rest }: KeptDraft): void {
  try {
    if (isEmptyDraft(draft)) shelf.removeItem(keyOf(id))
    else shelf.setItem(keyOf(id), JSON.stringify({ ...rest, draft: spellDraft(draft) }))
  } catch {}
}

export function forgetKept(shelf: Shelf, id: RequestId): void {
  writeKept(shelf, id, nothing)
}
