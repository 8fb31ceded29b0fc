/** A card's draft as React sees it: begun with the card, sent on when the person looks away. */
import type { Request } from '@holdpoint/protocol'
import { type RefObject, useEffect, useMemo, useSyncExternalStore } from 'react'
import { useDesk } from '../desk.ts'
import type { AnswerDraft } from './draft.ts'
import { DraftKeeper, type DraftSnapshot } from './draft-keeper.ts'

export interface Drafting extends DraftSnapshot {
  readonly change: (change: AnswerDraft) => void
  /** Sends nothing while an answer is on its way. */
  readonly hold: () => void
  readonly release: () => void
}

/** Read when it is needed: a browser may refuse even to name it. */
const storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
  getItem: key => sessionStorage.getItem(key),
  setItem: (key, value) => sessionStorage.setItem(key, value),
  removeItem: key => sessionStorage.removeItem(key),
}

export function useDraft({ id }: Request, card: RefObject<HTMLElement | null>): Drafting {
  const { call, inbox, me } = useDesk()
  const keeper = useMemo(() => new DraftKeeper({ call, id, me, frames: inbox.onFrame, storage }), [call, id, me, inbox])
  useEffect(() => {
    const flush = () => void keeper.flush()
    const element = card.current
    keeper.open()
    element?.addEventListener('focusout', flush)
    addEventListener('pagehide', flush)
    return () => {
      element?.removeEventListener('focusout', flush)
      removeEventListener('pagehide', flush)
      keeper.close()
    }
  }, [keeper, card])
  const snapshot = useSyncExternalStore(keeper.subscribe, keeper.getSnapshot)
  const hands = useMemo(
    () => ({
      change: (change: AnswerDraft) => keeper.change(change),
      hold: () => keeper.hold(),
      release: () => keeper.release(),
    }),
    [keeper],
  )
  return useMemo(() => ({ ...snapshot, ...hands }), [snapshot, hands])
}
