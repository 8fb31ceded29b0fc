/** Who asks, in one line that a glance is enough for; and since when, how long it may wait, and who else is at it. */
import { driverLabel, sessionName, timeSince } from '@holdpoint/client'
import { escapeInvisible, type Request } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useInboxPart, useNow } from '../gateway/gateway-context.ts'
import { useDriver } from '../gateway/use-driver.ts'
import { href } from '../routes.ts'
import { InlineAgentText } from '../text/agent-text.tsx'
import { dateTime } from '../text/format-time.ts'
import { Path } from '../text/path.tsx'
import { deadlineLabel } from './deadline-labels.ts'
import './card-header.css'

export interface CardHeaderProps {
  readonly request: Request
  readonly named: boolean
  readonly others: readonly string[]
}

export function CardHeader({ request, named, others }: CardHeaderProps): ReactNode {
  return (
    <>
      <Who request={request} named={named} />
      <div className="card-times">
        {others.length > 0 && <Answering people={others} />}
        <Endorsed request={request} />
        {request.deadlineAt !== null && <Countdown request={request} />}
        <Since at={request.openedAt} />
      </div>
    </>
  )
}

function Who({ request, named }: Omit<CardHeaderProps, 'others'>): ReactNode {
  const { agentPath, session: id } = request
  const session = useInboxPart(({ sessions }) => sessions.get(id))
  const driver = useDriver(session?.driver)
  const name = session ? sessionName(session) : id
  return (
    <div className="asker">
      {named && (
        <a className="asker-session" href={href({ screen: 'session', id })} title={escapeInvisible(name)}>
          <InlineAgentText text={name} />
        </a>
      )}
      <span className="asker-details">
        {named && session && <InlineAgentText text={driverLabel(session.driver, driver?.title)} className="driver" />}
        {named && session?.cwd && <Path path={session.cwd} className="folder mono" />}
      </span>
      {agentPath.length > 0 && <AgentPath names={agentPath} />}
    </div>
  )
}

function AgentPath({ names }: { readonly names: readonly string[] }): ReactNode {
  return (
    <span
      className={`agent-path ${names.length === 1 ? 'single' : ''}`}
      title={names.map(name => `“${escapeInvisible(name)}”`).join(' ⟶ ')}
    >
      {names.map((name, depth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a path has an order and nothing else
        <span key={depth} className="agent">
          <span aria-hidden="true">⟶ </span>
          <InlineAgentText text={name} className="agent-name" />
        </span>
      ))}
    </span>
  )
}

function Answering({ people }: { readonly people: readonly string[] }): ReactNode {
  return (
    <span className="answering" role="status">
      {people.length === 1 && people[0] !== undefined ? (
        <InlineAgentText text={people[0]} />
      ) : (
        `${people.length} others`
      )}
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
  const words = deadlineLabel(request, now)
  if (!words) return null
  return (
    <span className={`countdown ${words.urgent ? 'urgent' : ''}`} title={words.afterwards}>
      {words.text}
    </span>
  )
}
