/** What every part of the page stands on: the typed calls, the inbox that is kept current, and who is looking. */
import type { Inbox, InboxSnapshot } from '@holdpoint/client'
import type { Call, Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { createContext, use, useRef, useSyncExternalStore } from 'react'
import { useClock } from './use-clock.ts'

export interface PageGateway {
  readonly call: Call
  readonly inbox: Inbox
  /** The name under which this browser answers. */
  readonly me: string
}
export const GatewayContext = createContext<PageGateway | null>(null)

export function useGateway(): PageGateway {
  const desk = use(GatewayContext)
  if (!desk) throw new Error('the page has no desk')
  return desk
}

/** A part of the inbox that is the same value until it changes: whoever needs no more is not drawn again with every word that streams. */
export function useInboxPart<T>(select: (snapshot: InboxSnapshot) => T): T {
  const { inbox } = useGateway()
  return useSyncExternalStore(inbox.subscribe, () => select(inbox.getSnapshot()))
}

/** The snapshot's maps are made anew with every frame and seldom differ: the old one stands until they do. */
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
/** Those that wait, and those that were resolved lately. */
export function useRequests(): ReadonlyMap<RequestId, Request> {
  return useInboxMap(snapshot => snapshot.requests)
}

/** Old content must not be acted upon: false while the gateway is out of reach. */
export function useLive(): boolean {
  return useInboxPart(isLive)
}

function isLive({ status }: InboxSnapshot): boolean {
  return status === 'live'
}
function skewOf({ clockSkewMs }: InboxSnapshot): number {
  return clockSkewMs
}

/** The gateway's time, renewed every so often: countdowns and "2 min" are its, not this machine's. */
export function useNow(everyMs: number): number {
  const clockSkewMs = useInboxPart(skewOf)
  return useClock(everyMs) + clockSkewMs
}
