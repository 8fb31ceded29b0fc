/** A row of the session list: state, last message, cost, and the button that ends or deletes the session. */
import { driverLabel, plainText, sessionName, stateLabel, timeSince, waitedFor } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { memo, type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { groupOf } from '../../gateway/session-groups.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import { href } from '../../routes.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { formatCost } from '../../text/format-amounts.ts'
import { Path } from '../../text/path.tsx'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { SessionStateIcon } from '../../ui/session-state-icon.tsx'
import { UnreadMark } from '../../ui/unread-mark.tsx'
import { commonTexts, stopWarning } from '../texts.ts'
import { sessionListTexts, waitedText } from './texts.ts'
import { isGone } from './use-session-list.ts'
import './session-row.css'

export interface SessionRowProps {
  readonly session: Session
  readonly now: number
  readonly active: boolean
  /** False if the list is grouped by folder. */
  readonly showFolder: boolean
  readonly unread: boolean
  readonly onRemoved: (id: Session['id']) => void
}

export const SessionRow = memo(function SessionRow(props: SessionRowProps): ReactNode {
  const { session, now, active, showFolder, unread, onRemoved } = props
  const group = groupOf(session)
  const ended = session.state === 'ended'
  const driver = useDriver(session.driver)
  const waited = waitedText(waitedFor(session, now))
  return (
    <li className={`session-row ${active ? 'active' : ''} ${ended ? 'ended' : ''}`} data-session={session.id}>
      <a className="row-link" href={href({ screen: 'session', id: session.id })}>
        <SessionStateIcon group={group} />
        <span className="row-main">
          <span className="row-title">
            <InlineAgentText text={sessionName(session)} oneLine />
            {unread && <UnreadMark />}
            <span className={`row-state ${group}`}>{stateLabel(session)}</span>
          </span>
          {session.lastMessage && (
            <span className="last-message">
              <InlineAgentText text={plainText(session.lastMessage)} />
            </span>
          )}
        </span>
        <span className="row-facts">
          <InlineAgentText text={driverLabel(session.driver, driver?.title)} className="row-driver" />
          {showFolder && session.cwd !== '' && <Path path={session.cwd} className="row-folder" />}
          {session.cost !== null && <span>{formatCost(session.cost)}</span>}
          {waited !== null && <span>{waited}</span>}
        </span>
        <time className="row-time" dateTime={new Date(session.stateChangedAt).toISOString()}>
          {timeSince(session.stateChangedAt, now)}
        </time>
      </a>
      <EndOrDelete session={session} ended={ended} onRemoved={onRemoved} />
    </li>
  )
})

interface EndOrDeleteProps {
  readonly session: Session
  readonly ended: boolean
  readonly onRemoved: (id: Session['id']) => void
}

/** The button that ends a session, or deletes an ended session, after a confirmation. */
function EndOrDelete({ session, ended, onRemoved }: EndOrDeleteProps): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const endOrDelete = async () => {
    setSending(true)
    setProblem('')
    try {
      if (ended) await call('deleteSession', { id: session.id })
      else await call('endSession', { id: session.id })
      if (ended) onRemoved(session.id)
    } catch (error) {
      if (isGone(error)) onRemoved(session.id)
      else setProblem(errorMessage(error))
    }
    setSending(false)
  }
  const name = ended ? sessionListTexts.delete : sessionListTexts.end
  return (
    <div className="row-actions">
      <ConfirmButton
        // The React key changes when the session ends. This closes an open “End” confirmation, which would otherwise turn into a “Delete” confirmation.
        key={name}
        label={sending ? commonTexts.sending : `${name}…`}
        question={`${name} this session?`}
        consequence={ended ? sessionListTexts.deleteWarning : stopWarning('This stops the agent', session.pending)}
        confirmLabel={name}
        disabled={!live || sending}
        className="small"
        onConfirm={() => void endOrDelete()}
      />
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
