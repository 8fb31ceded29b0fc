/** Who asks, in one line that a glance is enough for; and since when, how long it may wait, and who else is at it. */
import { driverLabel, sessionName, timeSince } from '@holdpoint/client'
import { escapeInvisible, type Request } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useInboxPart, useNow } from '../gateway-context.ts'
import { Words } from '../parts/agent-text.tsx'
import { Path } from '../parts/path.tsx'
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
  return (
    <>
      <Who request={request} named={named} />
      <div className="when">
        {others.length > 0 && <Answering people={others} />}
        <Endorsed request={request} />
        {request.deadlineAt !== null && <Countdown request={request} />}
        <Since at={request.openedAt} />
      </div>
    </>
  )
}

function Who({ request, named }: Omit<CardHeadProps, 'others'>): ReactNode {
  const { agentPath, session: id } = request
  const session = useInboxPart(({ sessions }) => sessions.get(id))
  const driver = useDriver(session?.driver)
  const name = session ? sessionName(session) : id
  return (
    <div className="who">
      {named && (
        <a className="asker" href={href({ screen: 'session', id })} title={escapeInvisible(name)}>
          <Words text={name} />
        </a>
      )}
      <span className="by">
        {named && session && <Words text={driverLabel(session.driver, driver?.title)} className="driver" />}
        {named && session?.cwd && <Path path={session.cwd} className="folder mono" />}
      </span>
      {agentPath.length > 0 && <AgentPath names={agentPath} />}
    </div>
  )
}

function AgentPath({ names }: { readonly names: readonly string[] }): ReactNode {
  return (
    <span
      className={`agent-path ${names.length === 1 ? 'one' : ''}`}
      title={names.map(name => `“${escapeInvisible(name)}”`).join(' ⟶ ')}
    >
      {names.map((name, depth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a path has an order and nothing else
        <span key={depth} className="agent">
          <span aria-hidden="true">⟶ </span>
          <Words text={name} className="agent-name" />
        </span>
      ))}
    </span>
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
      {timeSince(at, now)}
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
    </span>
  )
}
