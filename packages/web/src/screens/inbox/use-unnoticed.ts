/** Finds new requests that the person may not notice: they have not been on screen yet, or stand below less urgent ones, because nothing on the screen may move. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { useEffect, useMemo, useRef } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { misplaced } from './list-order.ts'

/** `order` is the order in which the requests belong. */
export function useUnnoticed(
  { ids, requests }: { readonly ids: readonly RequestId[]; readonly requests: ReadonlyMap<RequestId, Request> },
  order: readonly RequestId[],
  seen: ReadonlySet<RequestId>,
  complete: boolean,
): readonly RequestId[] {
  const { inbox } = useGateway()
  const known = useRef<ReadonlySet<RequestId> | null>(null)
  useEffect(() => {
    // Requests that the inbox is still loading do not count as new.
    if (!complete) known.current = null
    else known.current ??= new Set(inbox.getSnapshot().order)
  }, [inbox, complete])
  return useMemo(() => {
    if (!known.current) return []
    const isPending = (id: RequestId) => requests.get(id)?.status === 'pending'
    const below = misplaced(ids.filter(isPending), order)
    return ids.filter(id => !known.current?.has(id) && isPending(id) && (!seen.has(id) || below.has(id)))
  }, [ids, order, requests, seen])
}
