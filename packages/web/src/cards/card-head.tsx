/** Who asks, since when, how long it may wait, and who else is at it. */
import { ago } from '@holdpoint/client'
import type { Request, Session } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useInboxPart, useNow } from '../desk.ts'
import { Words } from '../parts/agent-text.tsx'
import { href } from '../route.ts'
import { deadlineWords } from './deadline.ts'
import { useDriver } from './drivers.ts'
import { dateTime } from './moment.ts'

export interface CardHeadProps {
  readonly request: Request
  readonly named: boolean
  readonly others: readonly string[]
}

export function CardHead({ request, named, others }: CardHeadProps): ReactNode {
  const session = useInboxPart(({ sessions }) => sessions.get(request.session))
  const { agentPath } = request
  return (
    <>
      <div className="who">
        {named && <Asker session={session} request={request} />}
        {agentPath.length > 0 && (
          <span className="agent-path">
            {agentPath.map((name, depth) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a path has an order and nothing else
              <span key={depth}>
                <span aria-hidden="true">→ </span>
                <Words text={name} />
              </span>
            ))}
          </span>
        )}
      </div>
      <div className="when">
        {others.length > 0 && <Answering people={others} />}
        <Endorsed request={request} />
        {request.deadlineAt !== null && <Countdown request={request} />}
        <Since at={request.openedAt} />
      </div>
    </>
  )
}

function Asker({ session, request }: { readonly session: Session | undefined; readonly request: Request }): ReactNode {
  const { ask, session: id } = request
  const driver = useDriver(session?.driver)
  // What would run names its folder itself.
  const elsewhere = ask.kind !== 'approval' || ask.cwd !== session?.cwd
  return (
    <>
      <a className="asker" href={href({ screen: 'session', id })}>
        <Words text={session?.title || id} />
      </a>
      {session && <Words text={driver?.title ?? session.driver} className="driver" />}
      {session?.cwd && elsewhere && <Words text={session.cwd} className="folder mono" />}
    </>
  )
}

function Answering({ people }: { readonly people: readonly string[] }): ReactNode {
  return (
    <span className="answering" role="status">
      {people.length === 1 && people[0] !== undefined ? <Words text={people[0]} /> : `${people.length} others`}
      {people.length === 1 ? ' is answering' : ' are answering'}
    </span>
  )
}

function Endorsed({ request: { needs, endorsements } }: { readonly request: Request }): ReactNode {
  if (needs < 2) return null
  return (
    <span>
      {endorsements.length} of {needs} people
    </span>
  )
}

function Since({ at }: { readonly at: number }): ReactNode {
  const now = useNow(10_000)
  return (
    <time dateTime={new Date(at).toISOString()} title={`asked ${dateTime(at)}`}>
      {ago(at, now)}
    </time>
  )
}

function Countdown({ request }: { readonly request: Request }): ReactNode {
  const now = useNow(1000)
  const words = deadlineWords(request, now)
  if (!words) return null
  return (
    <span className={`countdown ${words.urgent ? 'urgent' : ''}`} title={words.afterwards}>
      {words.text}
      <span className="then">, {words.afterwards}</span>
    </span>
  )
}
