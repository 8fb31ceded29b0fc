/** The empty inbox: says how many agents are working or, if there are no sessions yet, offers to start a rehearsal. */
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useSessions } from '../../gateway/gateway-context.ts'
import { countWorking } from '../../gateway/session-groups.ts'
import { go } from '../../routes.ts'
import { openDialog } from '../shell/open-dialog.ts'
import { emptyTexts, workingText } from './texts.ts'
import './inbox-empty.css'

export function InboxEmpty(): ReactNode {
  const sessions = useSessions()
  if (sessions.size === 0) return <FirstUse />
  return (
    <div className="empty">
      <h1>{emptyTexts.title}</h1>
      <p className="soft">{workingText(countWorking(sessions.values()))}</p>
    </div>
  )
}

function FirstUse(): ReactNode {
  const { call } = useGateway()
  const [problem, setProblem] = useState('')
  const [starting, setStarting] = useState(false)
  const startRehearsal = () => {
    setStarting(true)
    call('startSession', { driver: 'rehearsal', title: 'Rehearsal', prompt: 'Show me everything' }).then(
      ({ id }) => go({ screen: 'session', id }),
      (error: unknown) => {
        setStarting(false)
        setProblem(errorMessage(error))
      },
    )
  }
  return (
    <div className="empty">
      <h1>{emptyTexts.title}</h1>
      <p className="soft">{emptyTexts.introduction}</p>
      <div className="empty-actions">
        <button type="button" className="button primary" disabled={starting} onClick={startRehearsal}>
          {starting ? 'Starting…' : emptyTexts.startRehearsal}
        </button>
        <button type="button" className="button" onClick={() => openDialog('start')}>
          {emptyTexts.newSession}
        </button>
      </div>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
