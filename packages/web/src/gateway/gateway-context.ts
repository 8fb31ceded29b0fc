/** React hooks for the gateway: typed calls, the inbox state, and the signed-in person. */
import type { Inbox, InboxSnapshot } from '@holdpoint/client'
import {
  accessOf,
  type Call,
  type ExtraAction,
  type OperationName,
  type Request,
  type RequestId,
  type Role,
  type Session,
  type SessionId,
} from '@holdpoint/protocol'
import { createContext, use, useCallback, useRef, useSyncExternalStore } from 'react'
import { useLocalTime } from './use-local-time.ts'

export interface PageGateway {
  readonly call: Call
  readonly inbox: Inbox
  /** The id of the signed-in person. */
  readonly me: string
  /** The name of the signed-in person. */
  readonly myName: string
  readonly myRole: Role
}
export const GatewayContext = createContext<PageGateway | null>(null)

export function useGateway(): PageGateway {
  const gateway = use(GatewayContext)
  if (!gateway) throw new Error('useGateway needs a GatewayContext')
  return gateway
}

/** Returns whether the signed-in person may do something, so that the page offers nothing that the gateway would refuse. */
export type May = (action: OperationName | ExtraAction) => boolean
export function useMay(): May {
  const { myRole } = useGateway()
  return useCallback(action => accessOf(myRole, action) !== 'no', [myRole])
}

/** Subscribes to a part of the inbox. The component renders again only when the selected value changes, not for every streamed word. */
export function useInboxPart<T>(select: (snapshot: InboxSnapshot) => T): T {
  const { inbox } = useGateway()
  return useSyncExternalStore(inbox.subscribe, () => select(inbox.getSnapshot()))
}

/** Returns the same map until its content changes. Every frame creates new maps in the snapshot, mostly with the same content. */
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
/** Returns the pending requests and the recently resolved requests. */
export function useRequests(): ReadonlyMap<RequestId, Request> {
  return useInboxMap(snapshot => snapshot.requests)
}

/** Returns false while the gateway is unreachable. No request can be answered then. */
export function useLive(): boolean {
  return useInboxPart(isLive)
}

function isLive({ status }: InboxSnapshot): boolean {
  return status === 'live'
}
function skewOf({ clockSkewMs }: InboxSnapshot): number {
  return clockSkewMs
}

/** Returns the gateway's time, updated every `everyMs`. Use this for deadlines and ages, because this machine's clock may be wrong. */
export function useGatewayTime(everyMs: number): number {
  const clockSkewMs = useInboxPart(skewOf)
  return useLocalTime(everyMs) + clockSkewMs
}
