/** The header of the session screen: title, state, settings, cost, actions. */
import { attachCommand, driverLabel, exactText, rulesNotice, stateLabel, timeSince } from '@holdpoint/client'
import type { Repository, Session } from '@holdpoint/protocol'
import ChevronLeftIcon from 'lucide-react/icons/chevron-left'
import { memo, type ReactNode } from 'react'
import { useGatewayTime } from '../../gateway/gateway-context.ts'
import { groupOf } from '../../gateway/session-groups.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import { href } from '../../routes.ts'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { formatCost } from '../../text/format-amounts.ts'
import { Path } from '../../text/path.tsx'
import { SessionStateIcon } from '../../ui/session-state-icon.tsx'
import { SessionActions } from './session-actions.tsx'
import { SessionSettings } from './session-settings.tsx'
import { SessionTitle } from './session-title.tsx'
import { noticeTexts, processTexts, sessionPanelTexts } from './texts.ts'
import './session-header.css'

export interface SessionHeaderProps {
  readonly session: Session
  /** True on a narrow screen, where the bar below the transcript has the buttons, and the overview has the settings. */
  readonly isNarrow: boolean
  readonly onSearch: () => void
  /** Null if the overview is open, or a bar offers it. */
  readonly onOverview: (() => void) | null
}

/** The header is memoized so that streamed text does not render it again. */
export const SessionHeader = memo(function SessionHeader(props: SessionHeaderProps): ReactNode {
  const { session, isNarrow, onSearch, onOverview } = props
  const driver = useDriver(session.driver)
  return (
    <header className="session-header">
      <div className="header-line">
        <a className="session-back" href={href({ screen: 'sessions' })} aria-label={sessionPanelTexts.allSessions}>
          <ChevronLeftIcon />
        </a>
        <SessionTitle session={session} />
        {!isNarrow && (
          <button type="button" className="button plain small header-tool" onClick={onSearch}>
            {sessionPanelTexts.search} <span className="kbd letter-key">/</span>
          </button>
        )}
        {!isNarrow && onOverview && (
          <button type="button" className="button plain small header-tool" onClick={onOverview}>
            {sessionPanelTexts.overview} <span className="kbd letter-key">o</span>
          </button>
        )}
        <SessionActions session={session} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <section className="header-line session-facts" aria-label="About this session" tabIndex={0}>
        <State session={session} />
        {!isNarrow && <InlineAgentText text={driverLabel(session.driver, driver?.title)} className="fact" />}
        <Path path={session.cwd} className="fact session-folder" />
        {!isNarrow && session.repository && <RepositoryFact repository={session.repository} />}
        {!isNarrow && <SessionSettings session={session} />}
        {session.cost !== null && <span className="fact session-cost">{formatCost(session.cost)}</span>}
        {!isNarrow && <ProcessFact session={session} />}
      </section>
      <Notices session={session} />
    </header>
  )
})

/** The branch, or the start of the commit if no branch is checked out. */
export function RepositoryFact({ repository }: { readonly repository: Repository }): ReactNode {
  const { root, branch, commit } = repository
  const name = root.slice(root.lastIndexOf('/') + 1) || root
  return (
    <span className="fact session-repository" title={exactText(root)}>
      <ExactText text={name} className="mono" /> <span className="faint">{branch === null ? 'at' : 'on'}</span>{' '}
      <ExactText text={branch ?? commit?.slice(0, commitLength) ?? ''} className="mono" />
    </span>
  )
}
/** This many digits of a commit are enough to recognize it. */
const commitLength = 10

function Notices({ session }: { readonly session: Session }): ReactNode {
  const rules = rulesNotice(session)
  const command = session.state === 'ended' ? null : attachCommand(session)
  if (session.state === 'ended' || (rules === null && command === null)) return null
  return (
    <section className="session-notices" aria-label={noticeTexts.notices}>
      {rules !== null && <p className="soft small">{rules}</p>}
      {command !== null && (
        <p className="soft small session-attach">
          {noticeTexts.attach} <ExactText text={command} className="session-command" />
        </p>
      )}
    </section>
  )
}

function State({ session }: { readonly session: Session }): ReactNode {
  const now = useGatewayTime(30_000)
  const isWaiting = session.pending > 0 && session.state !== 'ended'
  const since = timeSince(session.stateChangedAt, now)
  return (
    <span className={`state ${isWaiting ? 'waiting' : session.state}`} role="status">
      <SessionStateIcon group={groupOf(session)} />
      {stateLabel(session)}
      {!isWaiting && since !== 'now' && <span className="faint"> for {since}</span>}
    </span>
  )
}

export function ProcessFact({ session: { process } }: { readonly session: Session }): ReactNode {
  if (!process) return null
  const memory = process.memoryMb === undefined ? '' : `, ${process.memoryMb} MB`
  return (
    <span className="fact process">
      {processTexts[process.state]}
      {memory}
      {process.note !== undefined && (
        <>
          {': '}
          <InlineAgentText text={process.note} />
        </>
      )}
    </span>
  )
}
