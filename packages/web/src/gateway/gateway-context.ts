/** React hooks for the gateway: the typed calls, the inbox state, and the name of the signed-in person. */
import type { Inbox, InboxSnapshot } from '@holdpoint/client'
import type { Call, Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { createContext, use, useRef, useSyncExternalStore } from 'react'
import { useClock } from './use-clock.ts'

export interface PageGateway {
  readonly call: Call
  readonly inbox: Inbox
  /** The name of the signed-in person. */
  readonly me: string
}
export const GatewayContext = createContext<PageGateway | null>(null)

export function useGateway(): PageGateway {
  const gateway = use(GatewayContext)
  if (!gateway) throw new Error('useGateway needs a GatewayContext')
  return gateway
}

/** Subscribes to a part of the inbox. The component renders again only when the selected value changes, not with every streamed word. */
export function useInboxPart<T>(select: (snapshot: InboxSnapshot) => T): T {
  const { inbox } = useGateway()
  return useSyncExternalStore(inbox.subscribe, () => select(inbox.getSnapshot()))
}

/** The snapshot has new maps after every frame, mostly with the same content: returns the same map until the content changes. */
function useInboxMap<K, V>(select: (snapshot: InboxSnapshot) => ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  const last = useRef<ReadonlyMap<K, V> | null>(null)
  return useInboxPart(snapshot => {
    const map = select(snapshot)
    if (!last.current || !sameMap(last.current, map)) last.current = map
    return last.current
  })
}
function sameMap<K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean {
  if (a.size !== b.size) return false
  for (const [key, value] of b) if (a.get(key) !== value) return false
  return true
}

export function useSessions(): ReadonlyMap<SessionId, Session> {
  return useInboxMap(snapshot => snapshot.sessions)
}
/** The pending requests and the recently resolved ones. */
export function useRequests(): ReadonlyMap<RequestId, Request> {
  return useInboxMap(snapshot => snapshot.requests)
}

/** False while the gateway is unreachable: nothing on the page may be answered then. */
export function useLive(): boolean {
  return useInboxPart(isLive)
}

function isLive({ status }: InboxSnapshot): boolean {
  return status === 'live'
}
function skewOf({ clockSkewMs }: InboxSnapshot): number {
  return clockSkewMs
}

/** The gateway's time, updated every `everyMs`. Countdowns use it because this machine's clock may differ. */
export function useNow(everyMs: number): number {
  const clockSkewMs = useInboxPart(skewOf)
  return useClock(everyMs) + clockSkewMs
}
