/** What came after the list was opened and has not been on the screen: it stands further down, and is announced. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { useEffect, useMemo, useRef } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'

export function useNewBelow(
  ids: readonly RequestId[],
  requests: ReadonlyMap<RequestId, Request>,
  seen: ReadonlySet<RequestId>,
  complete: boolean,
): readonly RequestId[] {
  const { inbox } = useGateway()
  const known = useRef<ReadonlySet<RequestId> | null>(null)
  useEffect(() => {
    // What is still being fetched was there before.
    if (!complete) known.current = null
    else known.current ??= new Set(inbox.getSnapshot().order)
  }, [inbox, complete])
  return useMemo(
    () =>
      known.current
        ? ids.filter(id => !known.current?.has(id) && !seen.has(id) && requests.get(id)?.status === 'pending')
        : [],
    [ids, requests, seen],
  )
}
