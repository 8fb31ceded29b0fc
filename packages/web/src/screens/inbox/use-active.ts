/** Which card the keys go to: the one that was reached last, and when it is resolved the next one that waits. */
import type { RequestId } from '@holdpoint/protocol'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { bringIntoView } from '../../shortcuts/viewport.ts'
import { showToast } from '../../ui/toast.tsx'
import { step } from './list-order.ts'
import type { RequestList } from './use-request-list.ts'
import { itemOf } from './use-visibility.ts'

/** With `move`, focus and screen follow. */
export type Reach = (id: RequestId | null, move?: boolean) => void

export function useActive(
  { ids, requests }: RequestList,
  place: RefObject<HTMLElement | null>,
  wanted: RequestId | null,
): readonly [RequestId | null, Reach] {
  const [active, setActive] = useState<RequestId | null>(null)
  const waits = (id: RequestId) => requests.get(id)?.status === 'pending'
  const reach = useCallback<Reach>(
    (id, move = false) => {
      setActive(id)
      if (!move) return
      const item = id && itemOf(place.current, id)
      if (item) bringIntoView(item)
      else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    },
    [place],
  )
  useWanted(wanted, ids, reach)
  // The place stays, so the next one comes under the keys; for a moment they do nothing to it.
  const current =
    active !== null && !waits(active) ? (step(ids, active, 1, waits) ?? step(ids, active, -1, waits)) : active
  useEffect(() => {
    if (current === active) return
    setActive(current)
    // The card that was answered took the focus with it; it goes on to the next one, and nothing scrolls for that.
    const lost = document.activeElement === null || document.activeElement === document.body
    if (current && lost) itemOf(place.current, current)?.focus({ preventScroll: true })
  }, [current, active, place])
  return [current, reach]
}

/** Goes to the request that the address names, as soon as it is here. */
function useWanted(wanted: RequestId | null, ids: readonly RequestId[], reach: Reach): void {
  const complete = useInboxPart(snapshot => snapshot.complete && snapshot.status === 'live')
  // The list shows a moment later what has come.
  const waits = useInboxPart(({ requests }) => wanted !== null && requests.get(wanted)?.status === 'pending')
  const found = useRef<RequestId | null>(null)
  useEffect(() => {
    if (!wanted || found.current === wanted) return
    if (ids.includes(wanted)) requestAnimationFrame(() => reach(wanted, true))
    else if (complete && !waits) showToast('That request does not wait any more.')
    else return
    found.current = wanted
  }, [wanted, ids, complete, waits, reach])
}
