/** What stands where nothing waits: how many agents are at work, and for a newcomer a way to see the whole thing. */
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useSessions } from '../../gateway/gateway-context.ts'
import { countWorking } from '../../gateway/session-groups.ts'
import { go } from '../../routes.ts'
import { openDialog } from '../shell/open-dialog.ts'
import './inbox-empty.css'

export function workingWords(count: number): string {
  if (count === 0) return 'No agent is working.'
  return count === 1 ? '1 agent is working.' : `${count} agents are working.`
}

export function InboxEmpty(): ReactNode {
  const sessions = useSessions()
  if (sessions.size === 0) return <Newcomer />
  return (
    <div className="empty">
      <h1>Nothing waits for you.</h1>
      <p className="soft">{workingWords(countWorking(sessions.values()))}</p>
    </div>
  )
}

function Newcomer(): ReactNode {
  const { call } = useGateway()
  const [problem, setProblem] = useState('')
  const [starting, setStarting] = useState(false)
  const rehearse = () => {
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
      <h1>Nothing waits for you yet.</h1>
      <p className="soft">
        This is where agents stop and ask. A rehearsal is a small built-in agent that plays every kind of question; it
        needs no key and does no harm.
      </p>
      <div className="empty-actions">
        <button type="button" className="button primary" disabled={starting} onClick={rehearse}>
          {starting ? 'Starting…' : 'Start a rehearsal'}
        </button>
        <button type="button" className="button" onClick={() => openDialog('start')}>
          New session…
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
