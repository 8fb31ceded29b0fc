/** The transcript rows between messages: requests, ends of turns, errors, session changes. */
import {
  actionLabel,
  type ErrorEntry,
  type NoteEntry,
  type RequestEntry,
  summary,
  type TurnEntry,
} from '@holdpoint/client'
import type { ReactNode } from 'react'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { RiskBadge } from '../../request/risk.tsx'
import { ExactText, InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { turnSummary } from '../../text/format-amounts.ts'
import { clockTime } from '../../text/format-time.ts'
import { AgentParagraphs } from '../../text/prose.tsx'
import './status-lines.css'

/** A request in the transcript: a link to its card while pending, a receipt once resolved. */
export function RequestLine({ entry }: { readonly entry: RequestEntry }): ReactNode {
  const { request } = entry
  if (request.status === 'resolved') return <Receipt request={request} showSession={false} />
  return (
    <a className="request-line" href={`#${cardAnchor(request.id)}`} onClick={event => showCard(event, request.id)}>
      <span className="request-line-action">{actionLabel(request.ask)}</span>
      {request.risk && <RiskBadge level={request.risk.level} />}
      <SummaryText summary={summary(request.ask)} className="request-line-summary" />
      <span className="request-line-state">waiting for you ↓</span>
    </a>
  )
}

export function cardAnchor(id: string): string {
  return `card-${id}`
}

/** Scrolls to the card of a request. Prevents the link's default action, which would overwrite the route in the URL's hash. */
function showCard(event: { preventDefault(): void }, id: string): void {
  event.preventDefault()
  const card = document.getElementById(cardAnchor(id))
  card?.scrollIntoView({ block: 'nearest' })
  card?.focus({ preventScroll: true })
}

export function TurnLine({ entry }: { readonly entry: TurnEntry }): ReactNode {
  return (
    <p className="turn-line">
      <span>{turnSummary(entry)}</span>
      <time dateTime={new Date(entry.at).toISOString()}>{clockTime(entry.at)}</time>
    </p>
  )
}

export function ErrorLine({ entry }: { readonly entry: ErrorEntry }): ReactNode {
  return (
    <div className="error-line">
      <p>
        Error
        {entry.code && (
          <>
            {' ('}
            <ExactText text={entry.code} />)
          </>
        )}
      </p>
      <AgentParagraphs text={entry.message} />
    </div>
  )
}

export function NoteLine({ entry }: { readonly entry: NoteEntry }): ReactNode {
  return (
    <p className="note-line">
      <InlineAgentText text={entry.text} />
      <time dateTime={new Date(entry.at).toISOString()}>{clockTime(entry.at)}</time>
    </p>
  )
}
