/** The requests that the inbox shows. Resolved requests stay for a while as receipts, and are removed when the person is not using the list. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useGateway, useRequests } from '../../gateway/gateway-context.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'
import { heldBack, orderRequests } from './list-order.ts'

/** The minimum time that a receipt stays in the list. */
const receiptMs = 4000
/** Receipts are removed only if the person has not used the list for this long. */
const inactiveMs = 2000
/** The duration of the removal animation. */
export const fadeMs = 160

export interface RequestList {
  readonly ids: readonly RequestId[]
  readonly requests: ReadonlyMap<RequestId, Request>
  /** Pending requests that are not shown yet, because showing them would move other rows. */
  readonly held: readonly RequestId[]
  /** Receipts that are fading out. */
  readonly leaving: ReadonlySet<RequestId>
  readonly showHeld: () => void
  /** Call on every pointer movement in the list. */
  readonly noteActivity: () => void
  readonly setEndHovered: (hovered: boolean) => void
}

const none: ReadonlySet<RequestId> = new Set()

/** The requests that belong in the list, and their order. */
export interface ListView {
  /** The pending requests, in the order in which they are listed. */
  readonly pending: readonly RequestId[]
  /** The group of a request, if the list is grouped. */
  readonly groupOf?: ((id: RequestId) => string) | undefined
  /** Changes when the person asks for other requests or another order. The list then changes at once. */
  readonly key: string
}

/** `isOnScreen` tells whether a part of a request's row is on screen. */
export function useRequestList(view: ListView, isOnScreen: (id: RequestId) => boolean): RequestList {
  const { inbox } = useGateway()
  const requests = useRequests()
  const { pending, groupOf, key } = view
  const [ids, setIds] = useState(pending)
  const [shownKey, setShownKey] = useState(key)
  if (shownKey !== key) {
    setShownKey(key)
    setIds(pending)
  }
  const [leaving, setLeaving] = useState(none)
  const activeAt = useRef(Number.NEGATIVE_INFINITY)
  const isEndHovered = useRef(false)
  const update = useCallback(
    (expired: ReadonlySet<RequestId>) => {
      // Requests may move until the first pages are loaded, because the order is not final before that.
      const isVisible = document.visibilityState === 'visible' && inbox.getSnapshot().complete
      const context = { isVisible, isEndHovered: isEndHovered.current, expired, isOnScreen, groupOf }
      setIds(before => orderRequests(before, pending, context))
    },
    [inbox, pending, isOnScreen, groupOf],
  )
  useLayoutEffect(() => update(none), [update])
  const noteActivity = useCallback(() => {
    activeAt.current = performance.now()
  }, [])
  // Keys count as use of the list wherever the focus is, because nothing may move while the person uses the keyboard.
  useEffect(() => {
    addEventListener('keydown', noteActivity, true)
    return () => removeEventListener('keydown', noteActivity, true)
  }, [noteActivity])
  useReceiptRemoval(ids, requests, activeAt, setLeaving, update)
  useEffect(() => {
    const refresh = () => update(none)
    document.addEventListener('visibilitychange', refresh)
    return () => document.removeEventListener('visibilitychange', refresh)
  }, [update])
  const pendingShown = ids.filter(id => requests.get(id)?.status === 'pending').length
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of the list starts the cooldown
  useLayoutEffect(startCooldown, [ids, pendingShown])
  return {
    ids,
    requests,
    held: useMemo(() => heldBack(ids, pending), [ids, pending]),
    leaving,
    showHeld: () => setIds(pending),
    noteActivity,
    setEndHovered: useCallback(
      (hovered: boolean) => {
        isEndHovered.current = hovered
        if (!hovered) update(none)
      },
      [update],
    ),
  }
}

/** Once the person has stopped using the list, fades out the receipts that were shown for `receiptMs` and then removes them. */
function useReceiptRemoval(
  ids: readonly RequestId[],
  requests: ReadonlyMap<RequestId, Request>,
  activeAt: { readonly current: number },
  setLeaving: (leaving: ReadonlySet<RequestId>) => void,
  update: (expired: ReadonlySet<RequestId>) => void,
): void {
  const resolvedSince = useRef(new Map<RequestId, number>())
  useEffect(() => {
    const resolved = ids.filter(id => requests.get(id)?.status !== 'pending')
    resolvedSince.current = new Map(resolved.map(id => [id, resolvedSince.current.get(id) ?? performance.now()]))
    if (resolved.length === 0) return
    let fading: ReturnType<typeof setTimeout> | undefined
    const timer = setInterval(() => {
      const now = performance.now()
      const expired = resolved.filter(id => now - (resolvedSince.current.get(id) ?? now) > receiptMs)
      if (expired.length === 0 || now - activeAt.current < inactiveMs || fading !== undefined) return
      const removed = new Set(expired)
      setLeaving(removed)
      // Start the cooldown, because the cards below begin to move.
      startCooldown()
      fading = setTimeout(() => {
        update(removed)
        setLeaving(none)
      }, fadeMs)
    }, 250)
    return () => {
      clearInterval(timer)
      clearTimeout(fading)
      if (fading !== undefined) setLeaving(none)
    }
  }, [ids, requests, activeAt, setLeaving, update])
}
