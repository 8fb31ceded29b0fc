/** Looks up a session in the inbox, or else fetches it from the gateway, because the inbox only has the newest sessions. */
import { Fault, type Session, type SessionId } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway, useInboxPart, useLive } from '../../gateway/gateway-context.ts'

export type SessionLookup =
  | { readonly state: 'loading' }
  | { readonly state: 'here'; readonly session: Session }
  | { readonly state: 'missing' }
  | { readonly state: 'failed'; readonly error: unknown; readonly retry: () => void }

export function useSession(id: SessionId): SessionLookup {
  const { call } = useGateway()
  const live = useLive()
  const listed = useInboxPart(({ sessions }) => sessions.get(id))
  const [fetched, setFetched] = useState<SessionLookup>({ state: 'loading' })
  const [attempt, setAttempt] = useState(0)
  const mustFetch = listed === undefined && live
  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` triggers a retry
  useEffect(() => {
    if (!mustFetch) return
    const abort = new AbortController()
    const retry = () => setAttempt(count => count + 1)
    call('getSession', { id }, { signal: abort.signal }).then(
      session => abort.signal.aborted || setFetched({ state: 'here', session }),
      (error: unknown) => {
        if (abort.signal.aborted) return
        const missing = error instanceof Fault && error.status === 404
        setFetched(missing ? { state: 'missing' } : { state: 'failed', error, retry })
      },
    )
    return () => abort.abort()
  }, [call, id, mustFetch, attempt])
  return listed ? { state: 'here', session: listed } : fetched
}
