/** The list as it is drawn: it takes in what comes, and lets go of what is folded once nobody is busy in it. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useGateway, useRequests } from '../../gateway/gateway-context.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'
import { heldBack, orderRequests } from './list-order.ts'

/** A folded one stays readable for so long, and until hand and eye are at rest for so long. */
const foldedMs = 4000
const restMs = 2000

export interface RequestList {
  readonly ids: readonly RequestId[]
  readonly requests: ReadonlyMap<RequestId, Request>
  readonly held: readonly RequestId[]
  /** Folded ones that are just going. */
  readonly leaving: ReadonlySet<RequestId>
  readonly takeHeld: () => void
  /** A hand is in the list. */
  readonly stir: () => void
  readonly holdEnd: (held: boolean) => void
}

const none: ReadonlySet<RequestId> = new Set()

export function useRequestList(): RequestList {
  const { inbox } = useGateway()
  const requests = useRequests()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order is made of the requests, and changes with them
  const pending = useMemo(() => inbox.getSnapshot().order, [inbox, requests])
  const [ids, setIds] = useState(pending)
  const [leaving, setLeaving] = useState(none)
  const stirredAt = useRef(Number.NEGATIVE_INFINITY)
  const endHeld = useRef(false)
  const update = useCallback(
    (left: ReadonlySet<RequestId>) => {
      // While much is still being fetched, what there is has no place of its own yet.
      const looking = document.visibilityState === 'visible' && inbox.getSnapshot().complete
      const openedAt = (id: RequestId) => requests.get(id)?.openedAt ?? 0
      const circumstances = { looking, endHeld: endHeld.current, left, openedAt }
      setIds(before => orderRequests(before, pending, circumstances))
    },
    [inbox, pending, requests],
  )
  useLayoutEffect(() => update(none), [update])
  useFolding(ids, requests, stirredAt, setLeaving, update)
  useEffect(() => {
    const look = () => update(none)
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [update])
  const standing = ids.filter(id => requests.get(id)?.status === 'pending').length
  // What moved or folded by itself is not decided upon for a moment.
  // biome-ignore lint/correctness/useExhaustiveDependencies: noted whenever the list is another
  useLayoutEffect(startCooldown, [ids, standing])
  return {
    ids,
    requests,
    held: useMemo(() => heldBack(ids, pending), [ids, pending]),
    leaving,
    takeHeld: () => setIds(pending),
    stir: useCallback(() => {
      stirredAt.current = performance.now()
    }, []),
    holdEnd: useCallback(
      (held: boolean) => {
        endHeld.current = held
        if (!held) update(none)
      },
      [update],
    ),
  }
}

/** Lets folded ones go, when it is time: first they fade, then they are gone. */
function useFolding(
  ids: readonly RequestId[],
  requests: ReadonlyMap<RequestId, Request>,
  stirredAt: { readonly current: number },
  setLeaving: (leaving: ReadonlySet<RequestId>) => void,
  update: (left: ReadonlySet<RequestId>) => void,
): void {
  const foldedAt = useRef(new Map<RequestId, number>())
  useEffect(() => {
    const folded = ids.filter(id => requests.get(id)?.status !== 'pending')
    foldedAt.current = new Map(folded.map(id => [id, foldedAt.current.get(id) ?? performance.now()]))
    if (folded.length === 0) return
    let fading: ReturnType<typeof setTimeout> | undefined
    const timer = setInterval(() => {
      const now = performance.now()
      const over = folded.filter(id => now - (foldedAt.current.get(id) ?? now) > foldedMs)
      if (over.length === 0 || now - stirredAt.current < restMs || fading !== undefined) return
      const left = new Set(over)
      setLeaving(left)
      // From now on what stands below them moves.
      startCooldown()
      fading = setTimeout(() => {
        update(left)
        setLeaving(none)
      }, fadeMs)
    }, 250)
    return () => {
      clearInterval(timer)
      clearTimeout(fading)
      if (fading !== undefined) setLeaving(none)
    }
  }, [ids, requests, stirredAt, setLeaving, update])
}

/** As long as the style's motion takes. */
export const fadeMs = 160
