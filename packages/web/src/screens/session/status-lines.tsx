/** The transcript rows between messages: requests, ends of turns, errors, session changes. */
import {
  actionLabel,
  type ErrorEntry,
  type NoteEntry,
  type RequestEntry,
  shownRisk,
  summary,
  type TurnEntry,
} from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import { type ReactNode, use } from 'react'
import { KindIcon } from '../../request/kind-icon.tsx'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { RiskIcon, RiskWords } from '../../request/risk.tsx'
import { ExactText, InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { turnSummary } from '../../text/format-amounts.ts'
import { clockTime } from '../../text/format-time.ts'
import { AgentParagraphs } from '../../text/prose.tsx'
import { ShowRequestContext } from './expanded-entries.ts'
import { transcriptTexts } from './texts.ts'
import './status-lines.css'

/** A request in the transcript: a button that shows its card while pending, a receipt once resolved. */
export function RequestLine({ entry }: { readonly entry: RequestEntry }): ReactNode {
  const { request } = entry
  const { ask } = request
  const risk = shownRisk(request)
  const showRequest = use(ShowRequestContext)
  if (request.status === 'resolved') return <Receipt request={request} showSession={false} />
  return (
    <button type="button" className="request-line" onClick={() => showRequest(request.id)}>
      {risk ? <RiskIcon level={risk.level} /> : <KindIcon kind={ask.kind} />}
      <RequestSummary ask={ask} className="request-line-summary" />
      <span className={`request-line-about ${risk?.level ?? ''}`}>
        {risk ? <RiskWords risk={risk} /> : actionLabel(ask)}
      </span>
      <span className="request-line-state">{transcriptTexts.waitingHere}</span>
    </button>
  )
}

/** The command or the question of a request. */
export function RequestSummary({ ask, className }: { readonly ask: Ask; readonly className: string }): ReactNode {
  const short = summary(ask)
  return <SummaryText summary={short} className={`${className} ${short.isCode ? 'mono' : ''}`} />
}

export interface TurnLineProps {
  readonly entry: TurnEntry
  readonly startedAt: number | null
}

export function TurnLine({ entry, startedAt }: TurnLineProps): ReactNode {
  return (
    <p className="turn-line">
      <span>{turnSummary(entry, startedAt === null ? null : entry.at - startedAt)}</span>
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
