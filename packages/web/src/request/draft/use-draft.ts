/** Connects a card to its draft. Loads the draft when the card mounts, and saves the draft when the focus leaves the card or the page is hidden. */
import { type AnswerDraft, type DraftSnapshot, DraftSync } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { type RefObject, useEffect, useMemo, useSyncExternalStore } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { draftStorage } from '../../storage/draft-storage.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'

export interface CardDraft extends DraftSnapshot {
  readonly change: (change: AnswerDraft) => void
  /** Replaces this draft with the other draft that was found. */
  readonly takeOther: () => void
  /** Dismisses the other draft. */
  readonly keepMine: () => void
  /** Stops saving the draft while an answer is being sent. */
  readonly pauseSync: () => void
  readonly resumeSync: () => void
}

export function useDraft({ id }: Request, card: RefObject<HTMLElement | null>): CardDraft {
  const { call, inbox, me } = useGateway()
  const sync = useMemo(() => {
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
    const flush = () => void sync.flush()
    const leave = () => sync.saveBeforeUnload()
    const element = card.current
    sync.open()
    element?.addEventListener('focusout', flush)
    addEventListener('pagehide', leave)
    // Phones may close a hidden page without a pagehide event, so save as soon as the page is hidden.
    document.addEventListener('visibilitychange', leave)
    return () => {
      element?.removeEventListener('focusout', flush)
      removeEventListener('pagehide', leave)
      document.removeEventListener('visibilitychange', leave)
      sync.close()
    }
  }, [sync, card])
  const snapshot = useSyncExternalStore(sync.subscribe, sync.getSnapshot)
  const actions = useMemo(
    () => ({
      change: (change: AnswerDraft) => sync.change(change),
      takeOther: () => sync.takeOther(),
      keepMine: () => sync.keepMine(),
      pauseSync: () => sync.pauseSaving(),
      resumeSync: () => sync.resumeSaving(),
    }),
    [sync],
  )
  return useMemo(() => ({ ...snapshot, ...actions }), [snapshot, actions])
}
