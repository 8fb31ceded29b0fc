/** The session screen: header, live transcript, pending requests, composer. */
import type { RequestId, Session, SessionId } from '@holdpoint/protocol'
import { type ReactNode, useCallback } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { href } from '../../routes.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Composer } from './composer.tsx'
import { ShowRequestContext, WorkingContext } from './expanded-entries.ts'
import { SessionHeader } from './session-header.tsx'
import { SessionPanel } from './session-panel.tsx'
import { TranscriptView } from './transcript-view.tsx'
import { usePanel } from './use-panel.ts'
import { usePendingRequests } from './use-pending-requests.ts'
import { useSession } from './use-session.ts'
import { type TranscriptReading, useTranscript } from './use-transcript.ts'
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
      return <OpenSession session={found.session} reading={reading} />
  }
}

function OpenSession({
  session,
  reading,
}: {
  readonly session: Session
  readonly reading: TranscriptReading
}): ReactNode {
  const requests = usePendingRequests(session.id)
  const { pending, show } = requests
  const panel = usePanel(pending.map(({ id }) => id))
  const { isSheet, tab } = panel
  const { show: showTab } = panel
  const showRequest = useCallback(
    (id: RequestId) => {
      show(id)
      showTab('requests')
    },
    [show, showTab],
  )
  // On a narrow screen, a card has its own text fields and buttons, so there is no second field below it.
  const hasComposer = !isSheet || tab === null
  return (
    <div className={`session ${isSheet ? 'stacked' : tab === null ? 'single' : 'split'}`}>
      <SessionHeader session={session} />
      <ShowRequestContext value={showRequest}>
        <WorkingContext value={isWorking(session)}>
          <TranscriptView reading={reading} />
        </WorkingContext>
      </ShowRequestContext>
      <SessionPanel panel={panel} requests={requests} onSearch={() => {}}>
        <div className="panel-content" />
      </SessionPanel>
      <div className="session-footer" hidden={!hasComposer}>
        <Composer session={session} />
      </div>
    </div>
  )
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
