/** One session in the list: how it stands, what it said last, what it cost; and its end, with a second look. */
import { driverLabel, plainText, sessionName, stateLabel, timeSince } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { memo, type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { groupOf } from '../../gateway/session-groups.ts'
import { stopWarning } from '../../gateway/stop-warning.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import { href } from '../../routes.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { formatCost } from '../../text/format-amounts.ts'
import { Path } from '../../text/path.tsx'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { SessionStateIcon } from '../../ui/session-state-icon.tsx'
import { isGone } from './use-session-list.ts'
import './session-row.css'

export interface SessionRowProps {
  readonly session: Session
  readonly now: number
  readonly active: boolean
  readonly onForget: (id: Session['id']) => void
}

export const SessionRow = memo(function SessionRow({ session, now, active, onForget }: SessionRowProps): ReactNode {
  const group = groupOf(session)
  const ended = session.state === 'ended'
  const driver = useDriver(session.driver)
  return (
    <li className={`session-row ${active ? 'active' : ''}`} data-session={session.id}>
      <a className="row-link" href={href({ screen: 'session', id: session.id })}>
        <SessionStateIcon group={group} />
        <span className="row-main">
          <span className="row-title">
            <InlineAgentText text={sessionName(session)} />
            <span className={`row-state ${group}`}>{stateLabel(session)}</span>
          </span>
          {session.lastMessage && (
            <span className="last-message">
              {/* They are glanced at, not read. */}
              <InlineAgentText text={plainText(session.lastMessage)} />
            </span>
          )}
          <span className="row-facts">
            <InlineAgentText text={driverLabel(session.driver, driver?.title)} className="row-driver" />
            {session.cwd !== '' && <Path path={session.cwd} className="row-folder" />}
            {session.cost !== null && <span>{formatCost(session.cost)}</span>}
          </span>
        </span>
        <time className="row-time" dateTime={new Date(session.stateChangedAt).toISOString()}>
          {timeSince(session.stateChangedAt, now)}
        </time>
      </a>
      <Finish session={session} ended={ended} onForget={onForget} />
    </li>
  )
})

interface FinishProps {
  readonly session: Session
  readonly ended: boolean
  readonly onForget: (id: Session['id']) => void
}

/** Ends a session, or deletes an ended one: asked again in the same place, and nothing is preset. */
function Finish({ session, ended, onForget }: FinishProps): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const finish = async () => {
    setSending(true)
    setProblem('')
    try {
      if (ended) await call('deleteSession', { id: session.id })
      else await call('endSession', { id: session.id })
      if (ended) onForget(session.id)
    } catch (error) {
      if (isGone(error)) onForget(session.id)
      else setProblem(errorMessage(error))
    }
    setSending(false)
  }
  const name = ended ? 'Delete' : 'End'
  return (
    <div className="row-actions">
      <ConfirmButton
        // Whoever is asked about the end is not suddenly asked about the whole history.
        key={name}
        label={sending ? 'Sending…' : `${name}…`}
        question={`${name} this session?`}
        about={ended ? 'Its whole history goes with it.' : stopWarning('Its agent stops', session.pending)}
        yes={`${name} it`}
        held={!live || sending}
        className="small"
        onYes={() => void finish()}
      />
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
