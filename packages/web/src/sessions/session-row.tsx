/** One session in the list: how it stands, what it said last, what it cost; and its end, with a second look. */
import { ago, driverWords, sessionName, stateWords } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { memo, type ReactNode, useState } from 'react'
import { useDriver } from '../cards/drivers.ts'
import { useDesk, useLive } from '../desk.ts'
import { groupOf } from '../frame/session-groups.ts'
import { Sign } from '../frame/sign.tsx'
import { Words } from '../parts/agent-text.tsx'
import { Path } from '../parts/path.tsx'
import { href } from '../route.ts'
import { said } from '../said.ts'
import { isGone } from './use-session-list.ts'

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
      <a className="session-link" href={href({ screen: 'session', id: session.id })}>
        <Sign group={group} />
        <span className="session-main">
          <span className="session-title">
            <Words text={sessionName(session)} />
            <span className={`session-state ${group}`}>{stateWords(session)}</span>
          </span>
          {session.lastWords && (
            <span className="session-words">
              {/* Its lines run on here: they are glanced at, not read. */}
              <Words text={session.lastWords.replace(/\s*\n\s*/g, ' ')} />
            </span>
          )}
          <span className="row-facts">
            <Words text={driverWords(session.driver, driver?.title)} className="row-driver" />
            {session.cwd !== '' && <Path path={session.cwd} className="row-folder" />}
            {session.cost !== null && <span>{costWords(session.cost)}</span>}
          </span>
        </span>
        <time className="session-since" dateTime={new Date(session.stateChangedAt).toISOString()}>
          {ago(session.stateChangedAt, now)}
        </time>
      </a>
      <Finish session={session} ended={ended} onForget={onForget} />
    </li>
  )
})

export function costWords(cost: number): string {
  return `$${cost < 0.1 ? cost.toFixed(3) : cost.toFixed(2)}`
}

interface FinishProps {
  readonly session: Session
  readonly ended: boolean
  readonly onForget: (id: Session['id']) => void
}

/** Ends a session, or deletes an ended one: asked again in the same place, and nothing is preset. */
function Finish({ session, ended, onForget }: FinishProps): ReactNode {
  const { call } = useDesk()
  const live = useLive()
  const [step, setStep] = useState<'none' | 'sure' | 'sending'>('none')
  const [problem, setProblem] = useState('')
  const finish = async () => {
    setStep('sending')
    setProblem('')
    try {
      if (ended) await call('deleteSession', { id: session.id })
      else await call('endSession', { id: session.id })
      if (ended) onForget(session.id)
    } catch (error) {
      if (isGone(error)) onForget(session.id)
      else setProblem(said(error))
    }
    setStep('none')
  }
  const name = ended ? 'Delete' : 'End'
  return (
    <div className="session-finish">
      {step === 'none' ? (
        <button
          type="button"
          className="button plain small"
          disabled={!live}
          aria-label={`${name} this session…`}
          onClick={() => setStep('sure')}
        >
          {name}…
        </button>
      ) : (
        <fieldset className="session-sure" aria-label={`${name} this session?`}>
          <span className="small">{sureWords(session, ended)}</span>
          <button
            type="button"
            className="button small"
            disabled={step === 'sending' || !live}
            onClick={() => void finish()}
          >
            {step === 'sending' ? 'Sending…' : `${name} it`}
          </button>
          <button type="button" className="button plain small" onClick={() => setStep('none')}>
            Keep it
          </button>
        </fieldset>
      )}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

function sureWords({ pending }: Session, ended: boolean): string {
  if (ended) return 'Its whole history goes with it.'
  if (pending === 0) return 'Its agent stops.'
  return pending === 1
    ? 'Its agent stops; the request that waits is dropped.'
    : `Its agent stops; the ${pending} requests that wait are dropped.`
}
