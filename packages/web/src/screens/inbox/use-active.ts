/** Which card has the keyboard: the last one the person moved to; when it is resolved, the next pending one. */
import type { RequestId } from '@holdpoint/protocol'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { bringIntoView } from '../../shortcuts/viewport.ts'
import { showToast } from '../../ui/toast.tsx'
import { nextPending } from './list-order.ts'
import { requestGone } from './texts.ts'
import type { RequestList } from './use-request-list.ts'
import { itemOf } from './use-visibility.ts'

/** With `move`, the focus and the scroll position follow. */
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
  // When the active request is resolved, the next one becomes active; the cooldown protects it for a moment.
  const current =
    active !== null && !isPending(active)
      ? (nextPending(ids, active, 1, isPending) ?? nextPending(ids, active, -1, isPending))
      : active
  useEffect(() => {
    if (current === active) return
    setActive(current)
    // The resolved card had the focus and is gone: focus the next one, without scrolling.
    const focusLost = document.activeElement === null || document.activeElement === document.body
    if (current && focusLost) itemOf(listRef.current, current)?.focus({ preventScroll: true })
  }, [current, active, listRef])
  return [current, activate]
}

/** Activates the request that the URL names, as soon as the list shows it. */
function useLinkedRequest(linked: RequestId | null, ids: readonly RequestId[], activate: Activate): void {
  const complete = useInboxPart(snapshot => snapshot.complete && snapshot.status === 'live')
  // The list may show a new request later than the snapshot has it.
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
