/** The session screen: header, live transcript, pending requests, composer. */
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
  // Open the transcript first, so that it loads at the same time as the session.
  const reading = useTranscript(id)
  const found = useSession(id)
  switch (found.state) {
    case 'loading':
      return (
        <Message>
          <Skeleton kind="row" />
        </Message>
      )
    case 'missing':
      return (
        <Message>
          <h1>Session not found</h1>
          <p>
            There is no session <code className="mono">{id}</code>. It may have been deleted.
          </p>
          <a className="button" href={href({ screen: 'sessions' })}>
            All sessions
          </a>
        </Message>
      )
    case 'failed':
      return (
        <Message>
          <h1>This session couldn’t be loaded</h1>
          <p>{errorMessage(found.error)}</p>
          <button type="button" className="button" onClick={found.retry}>
            Try again
          </button>
        </Message>
      )
    case 'here':
      return (
        <div className="session">
          <SessionHeader session={found.session} />
          <WorkingContext value={isWorking(found.session)}>
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

function isWorking({ state, pending }: Session): boolean {
  return state !== 'ended' && (state !== 'idle' || pending > 0)
}

function Message({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="session">
      <div className="session-missing">{children}</div>
    </div>
  )
}
