/** The session that is looked at: from the inbox where it is there, else asked for, since the inbox holds the newest ones only. */
import { Fault, type Session, type SessionId } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway, useInboxPart, useLive } from '../../gateway/gateway-context.ts'

export type Found =
  | { readonly state: 'loading' }
  | { readonly state: 'here'; readonly session: Session }
  | { readonly state: 'missing' }
  | { readonly state: 'failed'; readonly error: unknown; readonly again: () => void }

export function useSession(id: SessionId): Found {
  const { call } = useGateway()
  const live = useLive()
  const listed = useInboxPart(({ sessions }) => sessions.get(id))
  const [asked, setAsked] = useState<Found>({ state: 'loading' })
  const [attempt, setAttempt] = useState(0)
  const wanted = listed === undefined && live
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is another question
  useEffect(() => {
    if (!wanted) return
    const abort = new AbortController()
    const again = () => setAttempt(count => count + 1)
    call('getSession', { id }, { signal: abort.signal }).then(
      session => abort.signal.aborted || setAsked({ state: 'here', session }),
      (error: unknown) => {
        if (abort.signal.aborted) return
        const missing = error instanceof Fault && error.status === 404
        setAsked(missing ? { state: 'missing' } : { state: 'failed', error, again })
      },
    )
    return () => abort.abort()
  }, [call, id, wanted, attempt])
  return listed ? { state: 'here', session: listed } : asked
}
