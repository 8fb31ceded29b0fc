/** Shows on a card what a person asked back before, and what the agent has written since then. */
import { answeredByLabel } from '@holdpoint/client'
import {
  type Call,
  type Event,
  type Input,
  limits,
  type Output,
  type Request,
  type RequestId,
  type Resolution,
} from '@holdpoint/protocol'
import { type ReactNode, useEffect, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { href } from '../../routes.ts'
import { Quote } from '../../text/prose.tsx'
import { followTexts } from '../texts.ts'
import './followed-request.css'

interface Discussion {
  readonly resolution: Resolution
  readonly question: string
  /** What the agent wrote between the two requests. */
  readonly reply: string
  /** False if so much happened since that not all of it was read. */
  readonly isWhole: boolean
}

/** Shows nothing until the earlier request is loaded, and if it cannot be loaded. */
export function FollowedRequest({ request }: { readonly request: Request }): ReactNode {
  const { call, me } = useGateway()
  const [discussion, setDiscussion] = useState<Discussion | null>(null)
  const { follows, session, openedAt, agentPath } = request
  const path = JSON.stringify(agentPath)
  useEffect(() => {
    const controller = new AbortController()
    if (follows)
      readDiscussion(call, follows, { session, openedAt, path }, controller.signal).then(
        found => controller.signal.aborted || setDiscussion(found),
        () => {},
      )
    return () => controller.abort()
  }, [call, follows, session, openedAt, path])
  if (!discussion) return null
  const { resolution, question, reply, isWhole } = discussion
  const who = answeredByLabel(resolution, me)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className="remark followed-request" aria-label={followTexts.discussion} tabIndex={0}>
      <span className="soft small">{`${who === 'you' ? followTexts.you : who} ${followTexts.asked}`}</span>
      <Quote text={question} />
      {(reply !== '' || isWhole) && (
        <span className="soft small">{reply === '' ? followTexts.noAnswer : followTexts.agentSaid}</span>
      )}
      {reply !== '' && <Quote text={reply} />}
      {!isWhole && (
        <a className="small" href={href({ screen: 'session', id: session })}>
          {followTexts.openSession}
        </a>
      )}
    </section>
  )
}

/** The number of pages of the session's log in which the agent's reply is searched. */
const pagesMax = 10

interface Since {
  readonly session: Request['session']
  readonly openedAt: number
  /** The path of the subagent as JSON. */
  readonly path: string
}

async function readDiscussion(
  call: Call,
  id: RequestId,
  { session, openedAt, path }: Since,
  signal: AbortSignal,
): Promise<Discussion | null> {
  const { resolution } = await call('getRequest', { id }, { signal })
  const answer = resolution?.answer
  if (!resolution || (answer?.kind !== 'deny' && answer?.kind !== 'decline')) return null
  const { events, isWhole } = await readSince(call, session, resolution.at, signal)
  const texts = events.flatMap(event =>
    event.type === 'message.added' &&
    event.role !== 'person' &&
    event.at >= resolution.at &&
    event.at <= openedAt &&
    JSON.stringify(event.agentPath ?? []) === path
      ? [event.text]
      : [],
  )
  return { resolution, question: answer.reason ?? '', reply: texts.join('\n\n'), isWhole }
}

/** Reads the end of a session's log back to a time. */
async function readSince(
  call: Call,
  id: Request['session'],
  at: number,
  signal: AbortSignal,
): Promise<{ readonly events: readonly Event[]; readonly isWhole: boolean }> {
  let events: readonly Event[] = []
  let before: Input<'listEvents'>['before'] | null = 'end'
  for (let page = 0; page < pagesMax; page++) {
    const { items, next }: Output<'listEvents'> = await call(
      'listEvents',
      { id, before, limit: limits.pageMax },
      { signal },
    )
    events = [...items, ...events]
    before = next
    const [first] = items
    if (before === null || !first || first.at < at) return { events, isWhole: true }
  }
  return { events, isWhole: false }
}
