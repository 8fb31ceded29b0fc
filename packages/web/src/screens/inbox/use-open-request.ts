/** Tracks the open request, whose card is shown, and whether keyboard shortcuts act on it. When it is resolved, the next pending request opens. */
import type { RequestId } from '@holdpoint/protocol'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { cardElementId } from '../../request/card-panel.tsx'
import { openFromList, replaceRoute } from '../../routes.ts'
import { bringIntoView } from '../../shortcuts/viewport.ts'
import { showToast } from '../../ui/toast.tsx'
import { nextPending } from './list-order.ts'
import { requestGone } from './texts.ts'
import type { RequestList } from './use-request-list.ts'
import { itemOf } from './use-visibility.ts'

/** Makes a request active. With `move`, also focuses its row and scrolls the row into view. */
export type Activate = (id: RequestId | null, move?: boolean) => void

export interface OpenRequest {
  /** The request that keyboard shortcuts act on. The page never chooses the first one itself: a person has to move to it. */
  readonly active: RequestId | null
  /** The request whose card is shown. */
  readonly shown: RequestId | null
  readonly activate: Activate
  /** Opens the card of a request. On a narrow screen, the card covers the list. */
  readonly open: (id: RequestId) => void
}

interface Current {
  readonly id: RequestId | null
  readonly isActive: boolean
}

export interface OpenRequestOptions {
  readonly list: Pick<RequestList, 'requests'>
  /** The requests that the list shows. */
  readonly ids: readonly RequestId[]
  readonly listRef: RefObject<HTMLElement | null>
  /** The request in the URL. On a narrow screen, its card covers the list. */
  readonly linked: RequestId | null
  readonly isWide: boolean
}

export function useOpenRequest({ list, ids, listRef, linked, isWide }: OpenRequestOptions): OpenRequest {
  const { requests } = list
  const [stored, setStored] = useState<Current>({ id: null, isActive: false })
  const complete = useInboxPart(snapshot => snapshot.complete)
  const isPending = (id: RequestId) => requests.get(id)?.status === 'pending'
  const current = currentOf(stored, ids, isPending, complete)
  if (current !== stored) setStored(current)
  const activate = useCallback<Activate>(
    (id, move = false) => {
      setStored(before => ({ id: id ?? before.id, isActive: id !== null }))
      if (!move) return
      const item = id && itemOf(listRef.current, id)
      if (item) bringIntoView(item)
      else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    },
    [listRef],
  )
  const open = useCallback(
    (id: RequestId) => {
      activate(id, isWide)
      if (!isWide) openFromList({ request: id })
    },
    [activate, isWide],
  )
  const chosen = current.isActive || !isWide ? current.id : null
  useRoutedRequest({ current: current.id, chosen, ids, linked, isWide, activate })
  useFocusOnNext(current, listRef, isWide ? null : linked)
  const shown = isWide || linked ? current.id : null
  return { active: current.isActive ? current.id : null, shown, activate, open }
}

/** Returns the stored request while it is pending and listed; otherwise the next one. */
function currentOf(
  stored: Current,
  ids: readonly RequestId[],
  isPending: (id: RequestId) => boolean,
  complete: boolean,
): Current {
  const { id, isActive } = stored
  const isListed = id !== null && ids.includes(id)
  // Until all requests are loaded, a more urgent one may still come first.
  const isKept = isListed && isPending(id) && (isActive || complete || id === ids[0])
  if (isKept) return stored
  const next = isListed
    ? (nextPending(ids, id, 1, isPending) ?? nextPending(ids, id, -1, isPending))
    : nextPending(ids, null, 1, isPending)
  const nextIsActive = isActive && isListed && next !== null
  return next === id && nextIsActive === isActive ? stored : { id: next, isActive: nextIsActive }
}

interface RoutedRequestOptions extends Omit<OpenRequestOptions, 'list' | 'listRef'> {
  readonly current: RequestId | null
  /** The request that the URL names; null while the page shows a request that the person did not move to. */
  readonly chosen: RequestId | null
  readonly activate: Activate
}

/** The person stays at a request for this long before the URL names it, because browsers limit how often the URL may change. */
const followMs = 300

/** Opens the request in the URL as soon as the list shows it, or says that it is no longer pending. The URL then follows the open request, so that a reload and the back button return to it. */
function useRoutedRequest({ current, chosen, ids, linked, isWide, activate }: RoutedRequestOptions): void {
  const complete = useInboxPart(snapshot => snapshot.complete && snapshot.status === 'live')
  // Check the snapshot instead of the list, because the list may hold back a pending request.
  const isPending = useInboxPart(({ requests }) => linked !== null && requests.get(linked)?.status === 'pending')
  const handled = useRef<RequestId | null>(null)
  useLayoutEffect(() => {
    if (!linked) handled.current = null
    else if (handled.current === linked) {
      if (current === linked || isWide) return
      handled.current = current
      replaceRoute({ screen: 'inbox', ...(current && { request: current }) })
    } else if (ids.includes(linked) && isPending) {
      handled.current = linked
      activate(linked)
      if (isWide) requestAnimationFrame(() => activate(linked, true))
    } else if (complete && !isPending) {
      handled.current = linked
      showToast(requestGone)
      if (!isWide) replaceRoute({ screen: 'inbox' })
    }
  }, [linked, current, ids, complete, isPending, isWide, activate])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect above may have handled the linked request when one of these changed
  useEffect(() => {
    if (!isWide || chosen === linked || (linked !== null && handled.current !== linked)) return
    const timer = setTimeout(() => {
      handled.current = chosen
      replaceRoute({ screen: 'inbox', ...(chosen && { request: chosen }) })
    }, followMs)
    return () => clearTimeout(timer)
  }, [chosen, linked, isWide, complete, isPending])
}

/** If the focus was in the card that disappeared or on the row of another request, moves the focus to the row of the next request without scrolling, or to its card if that covers the list. */
function useFocusOnNext({ id, isActive }: Current, listRef: RefObject<HTMLElement | null>, covering: RequestId | null) {
  const isCovered = covering !== null
  useEffect(() => {
    if (!id || !isActive) return
    const focused = document.activeElement
    const isLost = !focused || focused === document.body || !focused.checkVisibility()
    const focusLost = isLost || focused.matches('li[data-request]')
    if (!focusLost && !isCovered) return
    const target = isCovered ? document.getElementById(cardElementId(id)) : itemOf(listRef.current, id)
    if (target && !target.contains(focused)) target.focus({ preventScroll: true })
  }, [id, isActive, isCovered, listRef])
}
