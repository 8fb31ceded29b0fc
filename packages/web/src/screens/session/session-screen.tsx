/** One session: its transcript as it grows, its cards where one answers, the composer beneath. */
import type { Session, SessionId } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { href } from '../../routes.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Composer } from './composer.tsx'
import { WorkingContext } from './expanded-entries.ts'
import { PendingCards } from './pending-cards.tsx'
import { SessionHeader } from './session-header.tsx'
import { TranscriptView } from './transcript-view.tsx'
import { useSession } from './use-session.ts'
import { useTranscript } from './use-transcript.ts'
import './session-screen.css'

export function SessionScreen({ id }: { readonly id: SessionId }): ReactNode {
  // Asked for at once, whether or not the session itself is known yet.
  const reading = useTranscript(id)
  const found = useSession(id)
  switch (found.state) {
    case 'loading':
      return (
        <Elsewhere>
          <Skeleton kind="row" />
        </Elsewhere>
      )
    case 'missing':
      return (
        <Elsewhere>
          <h1>There is no such session</h1>
          <p>
            No session is called <code className="mono">{id}</code>. It may have been deleted.
          </p>
          <a className="button" href={href({ screen: 'sessions' })}>
            All sessions
          </a>
        </Elsewhere>
      )
    case 'failed':
      return (
        <Elsewhere>
          <h1>The session cannot be shown</h1>
          <p>{errorMessage(found.error)}</p>
          <button type="button" className="button" onClick={found.again}>
            Try again
          </button>
        </Elsewhere>
      )
    case 'here':
      return (
        <div className="session">
          <SessionHeader session={found.session} />
          <WorkingContext value={isAtWork(found.session)}>
            <TranscriptView reading={reading} />
          </WorkingContext>
          <div className="session-footer">
            <PendingCards session={id} />
            <Composer session={found.session} />
          </div>
        </div>
      )
  }
}

function isAtWork({ state, pending }: Session): boolean {
  return state !== 'ended' && (state !== 'idle' || pending > 0)
}

function Elsewhere({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="session">
      <div className="session-missing">{children}</div>
    </div>
  )
}
