/** Shows on a card what a person asked back before, and what the agent has written since then. */
import { answeredByLabel } from '@holdpoint/client'
import type { Call, Request, RequestId, Resolution } from '@holdpoint/protocol'
import { type ReactNode, useEffect, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { Quote } from '../../text/prose.tsx'
import { followTexts } from '../texts.ts'
import './followed-request.css'

interface Discussion {
  readonly resolution: Resolution
  readonly question: string
  /** What the agent wrote between the two requests. */
  readonly reply: string
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
  const { resolution, question, reply } = discussion
  const who = answeredByLabel(resolution, me)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className="remark followed-request" aria-label={followTexts.discussion} tabIndex={0}>
      <span className="soft small">{`${who === 'you' ? followTexts.you : who} ${followTexts.asked}`}</span>
      <Quote text={question} />
      <span className="soft small">{reply === '' ? followTexts.noAnswer : followTexts.agentSaid}</span>
      {reply !== '' && <Quote text={reply} />}
    </section>
  )
}

/** How many of the session's latest events are searched for the agent's reply. */
const eventsMax = 100

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
  const [{ resolution }, { items }] = await Promise.all([
    call('getRequest', { id }, { signal }),
    call('listEvents', { id: session, before: 'end', limit: eventsMax }, { signal }),
  ])
  const answer = resolution?.answer
  if (!resolution || (answer?.kind !== 'deny' && answer?.kind !== 'decline')) return null
  const texts = items.flatMap(event =>
    event.type === 'message.added' &&
    event.role !== 'person' &&
    event.at >= resolution.at &&
    event.at <= openedAt &&
    JSON.stringify(event.agentPath ?? []) === path
      ? [event.text]
      : [],
  )
  return { resolution, question: answer.reason ?? '', reply: texts.join('\n\n') }
}
