/** The pending requests of a session and which of them is shown. As in the inbox, a new request never replaces the one on screen. */
import type { Request, RequestId, SessionId } from '@holdpoint/protocol'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useGateway, useRequests } from '../../gateway/gateway-context.ts'
import { orderRequests } from '../inbox/list-order.ts'

export interface PendingRequests {
  readonly pending: readonly Request[]
  /** The request whose card is shown; null if none is pending. */
  readonly shown: Request | null
  readonly show: (id: RequestId) => void
}

export function usePendingRequests(session: SessionId): PendingRequests {
  const pending = usePendingIn(session)
  const [chosen, setChosen] = useState<RequestId | null>(null)
  // The position of the shown request. Once it is answered, the request that takes its position is shown.
  const position = useRef(0)
  const found = pending.findIndex(({ id }) => id === chosen)
  const index = found >= 0 ? found : position.current < pending.length ? position.current : 0
  const shown = pending[index] ?? null
  useLayoutEffect(() => {
    position.current = shown ? index : 0
    setChosen(shown?.id ?? null)
  }, [shown, index])
  return { pending, shown, show: setChosen }
}

function usePendingIn(session: SessionId): readonly Request[] {
  const { inbox } = useGateway()
  const requests = useRequests()
  const pending = useMemo(
    () => inbox.getSnapshot().order.filter(id => requests.get(id)?.session === session),
    [inbox, requests, session],
  )
  const [ids, setIds] = useState<readonly RequestId[]>(pending)
  useLayoutEffect(() => {
    const update = () =>
      setIds(shown => {
        const isVisible = document.visibilityState === 'visible' && inbox.getSnapshot().complete
        const expired = new Set(shown.filter(id => !pending.includes(id)))
        const [first] = shown
        const isOnScreen = (id: RequestId) => id === first
        return orderRequests(shown, pending, { isVisible, isEndHovered: false, expired, isOnScreen })
      })
    update()
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [inbox, pending])
  return useMemo(() => ids.flatMap(id => requests.get(id) ?? []).filter(isPending), [ids, requests])
}

function isPending({ status }: Request): boolean {
  return status === 'pending'
}
