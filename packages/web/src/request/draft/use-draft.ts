/** A card's draft as React sees it: begun with the card, sent on when the person looks away. */
import { type AnswerDraft, type DraftSnapshot, DraftSync } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { type RefObject, useEffect, useMemo, useSyncExternalStore } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { draftStorage } from '../../storage/draft-storage.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'

export interface Drafting extends DraftSnapshot {
  readonly change: (change: AnswerDraft) => void
  /** Uses the other beginning instead of this one. */
  readonly swap: () => void
  /** Stays with this one. */
  readonly stay: () => void
  /** Sends nothing while an answer is on its way. */
  readonly hold: () => void
  readonly release: () => void
}

export function useDraft({ id }: Request, card: RefObject<HTMLElement | null>): Drafting {
  const { call, inbox, me } = useGateway()
  const keeper = useMemo(() => {
    const now = () => Date.now() + inbox.getSnapshot().clockSkewMs
    return new DraftSync({
      call,
      id,
      me,
      frames: inbox.onFrame,
      storage: draftStorage,
      now,
      onRemoteChange: startCooldown,
    })
  }, [call, id, me, inbox])
  useEffect(() => {
    const flush = () => void keeper.flush()
    const leave = () => keeper.saveBeforeUnload()
    const element = card.current
    keeper.open()
    element?.addEventListener('focusout', flush)
    addEventListener('pagehide', leave)
    // A phone ends what is hidden without a further word.
    document.addEventListener('visibilitychange', leave)
    return () => {
      element?.removeEventListener('focusout', flush)
      removeEventListener('pagehide', leave)
      document.removeEventListener('visibilitychange', leave)
      keeper.close()
    }
  }, [keeper, card])
  const snapshot = useSyncExternalStore(keeper.subscribe, keeper.getSnapshot)
  const hands = useMemo(
    () => ({
      change: (change: AnswerDraft) => keeper.change(change),
      swap: () => keeper.takeOther(),
      stay: () => keeper.keepMine(),
      hold: () => keeper.pauseSaving(),
      release: () => keeper.resumeSaving(),
    }),
    [keeper],
  )
  return useMemo(() => ({ ...snapshot, ...hands }), [snapshot, hands])
}
