/** Tracks the active card, to which keyboard shortcuts apply. When its request is resolved, the next pending card becomes active. */
import type { RequestId } from '@holdpoint/protocol'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { bringIntoView } from '../../shortcuts/viewport.ts'
import { showToast } from '../../ui/toast.tsx'
import { nextPending } from './list-order.ts'
import { requestGone } from './texts.ts'
import type { RequestList } from './use-request-list.ts'
import { itemOf } from './use-visibility.ts'

/** Makes a request active. With `move`, also focuses the card and scrolls the card into view. */
export type Activate = (id: RequestId | null, move?: boolean) => void

export function useActive(
  { ids, requests }: RequestList,
  listRef: RefObject<HTMLElement | null>,
  linked: RequestId | null,
): readonly [RequestId | null, Activate] {
  const [active, setActive] = useState<RequestId | null>(null)
  const isPending = (id: RequestId) => requests.get(id)?.status === 'pending'
  const activate = useCallback<Activate>(
    (id, move = false) => {
      setActive(id)
      if (!move) return
      const item = id && itemOf(listRef.current, id)
      if (item) bringIntoView(item)
      else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    },
    [listRef],
  )
  useLinkedRequest(linked, ids, activate)
  // When the active request is resolved, the next request becomes active. The cooldown protects the next request from a key meant for the resolved request.
  const current =
    active !== null && !isPending(active)
      ? (nextPending(ids, active, 1, isPending) ?? nextPending(ids, active, -1, isPending))
      : active
  useEffect(() => {
    if (current === active) return
    setActive(current)
    // If the focus was in the card that disappeared, move the focus to the next card without scrolling.
    const focusLost = document.activeElement === null || document.activeElement === document.body
    if (current && focusLost) itemOf(listRef.current, current)?.focus({ preventScroll: true })
  }, [current, active, listRef])
  return [current, activate]
}

/** Activates the request in the URL as soon as the list shows it, or says that the request is no longer pending. */
function useLinkedRequest(linked: RequestId | null, ids: readonly RequestId[], activate: Activate): void {
  const complete = useInboxPart(snapshot => snapshot.complete && snapshot.status === 'live')
  // Check the snapshot instead of the list, because the list may hold back a pending request.
  const isPending = useInboxPart(({ requests }) => linked !== null && requests.get(linked)?.status === 'pending')
  const handled = useRef<RequestId | null>(null)
  useEffect(() => {
    if (!linked || handled.current === linked) return
    if (ids.includes(linked)) requestAnimationFrame(() => activate(linked, true))
    else if (complete && !isPending) showToast(requestGone)
    else return
    handled.current = linked
  }, [linked, ids, complete, isPending, activate])
}
