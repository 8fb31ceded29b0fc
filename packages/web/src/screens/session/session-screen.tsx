/** The session screen: header, live transcript, composer, and a panel with the pending requests and the overview. */
import type { RequestId, Session, SessionId } from '@holdpoint/protocol'
import { type ReactNode, type RefObject, useCallback, useRef, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway } from '../../gateway/gateway-context.ts'
import { go, href } from '../../routes.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { showToast } from '../../ui/toast.tsx'
import { Composer } from './composer.tsx'
import { ExpandedContext, ExpandedEntries, ShowRequestContext, WorkingContext } from './expanded-entries.ts'
import { SessionHeader } from './session-header.tsx'
import { Overview } from './session-overview.tsx'
import { SessionPanel } from './session-panel.tsx'
import { jumpTexts } from './texts.ts'
import { TranscriptSearch } from './transcript-search.tsx'
import { type TranscriptNavigation, TranscriptView } from './transcript-view.tsx'
import { type Panel, usePanel } from './use-panel.ts'
import { type PendingRequests, usePendingRequests } from './use-pending-requests.ts'
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

interface OpenSessionProps {
  readonly session: Session
  readonly reading: TranscriptReading
}

function OpenSession({ session, reading }: OpenSessionProps): ReactNode {
  const requests = usePendingRequests(session.id)
  const panel = usePanel(requests.pending.map(({ id }) => id))
  const { isSheet, tab } = panel
  const [expanded] = useState(() => new ExpandedEntries())
  const navigation = useRef<TranscriptNavigation>(null)
  const { isSearching, query, showEntry, search } = useTranscriptSearch(navigation, panel)
  const showRequest = useShowRequest(requests, panel)
  useShortcuts({
    search: search.open,
    nextRequest: () => navigation.current?.showRequest(1),
    previousRequest: () => navigation.current?.showRequest(-1),
    nextWaiting: useNextWaiting(session.id, requests, panel),
  })
  // On a narrow screen, a card has its own text fields and buttons, so there is no second field below it.
  const hasComposer = !isSheet || tab === null
  return (
    <div className={`session ${isSheet ? 'stacked' : tab === null ? 'single' : 'split'}`}>
      <SessionHeader
        session={session}
        isNarrow={isSheet}
        onSearch={search.open}
        onOverview={tab ? null : panel.toggleOverview}
      />
      <ExpandedContext value={expanded}>
        <ShowRequestContext value={showRequest}>
          <WorkingContext value={isWorking(session)}>
            <TranscriptView {...{ reading, navigation, query }}>
              {isSearching && <TranscriptSearch reading={reading} onShow={showEntry} onClose={search.close} />}
            </TranscriptView>
          </WorkingContext>
        </ShowRequestContext>
        <SessionPanel panel={panel} requests={requests} onSearch={search.open}>
          <Overview session={session} reading={reading} hasSettings={isSheet} onShow={showEntry} />
        </SessionPanel>
      </ExpandedContext>
      <div className="session-footer" hidden={!hasComposer}>
        <Composer session={session} />
      </div>
    </div>
  )
}

/** The state of the search, and a function that scrolls to an entry. */
function useTranscriptSearch(navigation: RefObject<TranscriptNavigation | null>, { isSheet, close: lower }: Panel) {
  const [isSearching, setIsSearching] = useState(false)
  const [query, setQuery] = useState('')
  const open = useCallback(() => {
    setIsSearching(true)
    // An open sheet would leave too little space for the matches.
    if (isSheet) lower()
    document.querySelector<HTMLInputElement>('.transcript-search > input')?.select()
  }, [isSheet, lower])
  const close = useCallback(() => {
    setIsSearching(false)
    setQuery('')
    // The field with the focus disappears.
    document.querySelector<HTMLElement>('.transcript')?.focus({ preventScroll: true })
  }, [])
  const showEntry = useCallback(
    (id: string, searched?: string) => {
      if (searched !== undefined) setQuery(searched)
      else if (isSheet) lower()
      navigation.current?.show(id, searched !== undefined)
    },
    [navigation, isSheet, lower],
  )
  return { isSearching, query, showEntry, search: { open, close } }
}

function useShowRequest({ show }: PendingRequests, { show: showTab }: Panel): (id: RequestId) => void {
  return useCallback(
    (id: RequestId) => {
      show(id)
      showTab('requests')
    },
    [show, showTab],
  )
}

/** Returns a function that shows the next waiting request: the next one here, or else the most urgent one of another session. */
function useNextWaiting(session: SessionId, { pending, shown, show }: PendingRequests, panel: Panel): () => void {
  const { inbox } = useGateway()
  return () => {
    const next = panel.tab === 'requests' ? pending[pending.findIndex(({ id }) => id === shown?.id) + 1] : shown
    if (next) {
      show(next.id)
      return panel.show('requests')
    }
    const { order, requests } = inbox.getSnapshot()
    const other = order.map(id => requests.get(id)).find(request => request && request.session !== session)
    if (other) go({ screen: 'session', id: other.session })
    else showToast(jumpTexts.noOther)
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
