/** A card's header: the session that asks, the age of the request, the time left, and who else is answering. On the session's own screen, the times are in the first line of the card instead. */
import { agentDisconnectedLabels, driverLabel, labelText, sessionName, timeSince } from '@holdpoint/client'
import type { Request, SessionId } from '@holdpoint/protocol'
import ArrowRightIcon from 'lucide-react/icons/arrow-right'
import type { ReactNode } from 'react'
import { useGatewayTime, useInboxPart } from '../gateway/gateway-context.ts'
import { useDriver } from '../gateway/use-driver.ts'
import { href } from '../routes.ts'
import { InlineAgentText } from '../text/agent-text.tsx'
import { dateTime } from '../text/format-time.ts'
import { Path } from '../text/path.tsx'
import { deadlineLabel } from './deadline-labels.ts'
import { cardTexts } from './texts.ts'
import './card-header.css'

export interface CardHeaderProps {
  readonly request: Request
  readonly showSession: boolean
  readonly othersAnswering: readonly string[]
}

export function CardHeader({ request, showSession, othersAnswering }: CardHeaderProps): ReactNode {
  return (
    <>
      <Asker request={request} showSession={showSession} />
      {showSession && <CardTimes request={request} othersAnswering={othersAnswering} />}
    </>
  )
}

/** The age of the request, the time left, and who else is answering. */
export function CardTimes({ request, othersAnswering }: Omit<CardHeaderProps, 'showSession'>): ReactNode {
  return (
    <div className="card-times">
      {othersAnswering.length > 0 && <Answering people={othersAnswering} />}
      <AgentConnection session={request.session} />
      {request.deadlineAt !== null && <Countdown request={request} />}
      <Since at={request.openedAt} />
    </div>
  )
}

function Asker({ request, showSession }: Omit<CardHeaderProps, 'othersAnswering'>): ReactNode {
  const { agentPath, session: id } = request
  const session = useInboxPart(({ sessions }) => sessions.get(id))
  const driver = useDriver(session?.driver)
  const name = session ? sessionName(session) : id
  return (
    <div className="asker">
      {showSession && (
        <a className="asker-session" href={href({ screen: 'session', id })} title={labelText(name)}>
          <InlineAgentText text={name} oneLine />
        </a>
      )}
      <span className="asker-details">
        {showSession && session && (
          <InlineAgentText text={driverLabel(session.driver, driver?.title)} className="driver" />
        )}
        {showSession && session?.cwd && (
          <span className="folder">
            <Path path={session.cwd} className="mono" />
          </span>
        )}
      </span>
      {agentPath.length > 0 && <AgentPath names={agentPath} />}
    </div>
  )
}

function AgentPath({ names }: { readonly names: readonly string[] }): ReactNode {
  return (
    <span
      className={`agent-path ${names.length === 1 ? 'single' : ''}`}
      title={names.map(name => `“${labelText(name)}”`).join(' ⟶ ')}
    >
      {names.map((name, depth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: agents in a path have no other key, and a path never changes
        <span key={depth} className="agent">
          <ArrowRightIcon /> <InlineAgentText text={name} className="agent-name" />
        </span>
      ))}
    </span>
  )
}

function Answering({ people }: { readonly people: readonly string[] }): ReactNode {
  return (
    <span className="answering" role="status">
      {people.length === 1 && people[0] !== undefined ? (
        <>
          <InlineAgentText text={people[0]} />
          {cardTexts.isAnswering}
        </>
      ) : (
        cardTexts.othersAnswering(people.length)
      )}
    </span>
  )
}

function AgentConnection({ session }: { readonly session: SessionId }): ReactNode {
  const isDisconnected = useInboxPart(({ sessions }) => sessions.get(session)?.state === 'disconnected')
  if (!isDisconnected) return null
  return (
    <span className="agent-disconnected" role="status" title={agentDisconnectedLabels.long}>
      {agentDisconnectedLabels.short}
    </span>
  )
}

function Since({ at }: { readonly at: number }): ReactNode {
  const now = useGatewayTime(10_000)
  return (
    <time dateTime={new Date(at).toISOString()} title={cardTexts.askedAt(dateTime(at))}>
      {cardTexts.askedAgo(timeSince(at, now))}
    </time>
  )
}

function Countdown({ request }: { readonly request: Request }): ReactNode {
  const now = useGatewayTime(1000)
  const label = deadlineLabel(request, now)
  if (!label) return null
  return (
    <span className={`countdown ${label.urgent ? 'urgent' : ''}`} title={label.afterwards}>
      {label.text}
    </span>
  )
}
