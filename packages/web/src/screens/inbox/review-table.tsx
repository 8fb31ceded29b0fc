/** The table of a batch: exactly what each selected request will run, where, and with which risk. */
import { actionLabel, sessionName, summary } from '@holdpoint/client'
import type { ApprovalAsk, Request, RequestId } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { ApprovalBody } from '../../request/approval/approval-body.tsx'
import { CardBody } from '../../request/fully-shown.tsx'
import { RiskBadge } from '../../request/risk.tsx'
import { ExactText, InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { Quote } from '../../text/prose.tsx'
import type { BatchAllow } from './batch-answers.ts'
import { batchProblem } from './selection.ts'
import { reviewTexts } from './texts.ts'
import './review-table.css'

export interface ReviewTableProps {
  readonly requests: readonly Request[]
  /** Pending requests that a batch can't answer. The table says why. */
  readonly leftOut: readonly Request[]
  readonly batch: BatchAllow
  readonly onRemove: (id: RequestId) => void
}

export function ReviewTable({ requests, leftOut, batch, onRemove }: ReviewTableProps): ReactNode {
  const { columns, notIncluded } = reviewTexts
  const noteOf = (id: RequestId) => {
    const answer = batch.answers.find(({ request }) => request.id === id)?.answer
    return answer?.kind === 'allow' ? answer.note : undefined
  }
  return (
    <CardBody>
      <table className="review-table">
        <thead>
          <tr>
            <th scope="col">{columns.risk}</th>
            <th scope="col">{columns.runs}</th>
            <th scope="col">{columns.where}</th>
          </tr>
        </thead>
        <tbody>
          {requests.map(request => (
            <ReviewRow
              key={request.id}
              {...{ request, onRemove }}
              isStarted={batch.started.has(request.id)}
              note={noteOf(request.id)}
            />
          ))}
        </tbody>
      </table>
      {leftOut.length > 0 && (
        <section className="left-out" aria-label={notIncluded}>
          <h3 className="section-heading">{notIncluded}</h3>
          <ul>
            {leftOut.map(request => (
              <li key={request.id} className="small">
                <SummaryText summary={summary(request.ask)} className="mono agent-background batch-summary" />{' '}
                <span className="soft">{batchProblem(request)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </CardBody>
  )
}

interface ReviewRowProps {
  readonly request: Request
  readonly isStarted: boolean
  readonly note: string | undefined
  readonly onRemove: (id: RequestId) => void
}

function ReviewRow({ request, isStarted, note, onRemove }: ReviewRowProps): ReactNode {
  const { id, risk, session } = request
  const ask = request.ask as ApprovalAsk // only approvals can be part of a batch
  const label = actionLabel(ask)
  return (
    <tr className={isStarted ? 'skipped' : ''} data-review={id}>
      <td className="review-risk">
        <input type="checkbox" checked onChange={() => onRemove(id)} aria-label={reviewTexts.remove(label)} />
        <div>
          {risk && <RiskBadge level={risk.level} />}
          <span className="review-action">{label}</span>
        </div>
      </td>
      <td className="review-runs">
        <ApprovalBody ask={ask} session={session} />
        {note !== undefined && (
          <div className="remark">
            <span className="soft small">{reviewTexts.note}</span>
            <Quote text={note} />
          </div>
        )}
        {isStarted && <p className="problem">{reviewTexts.started}</p>}
      </td>
      <td className="review-where">
        <ReviewSession request={request} />
        <ExactText text={ask.cwd} className="mono soft" />
      </td>
    </tr>
  )
}

function ReviewSession({ request: { session: id } }: { readonly request: Request }): ReactNode {
  const session = useInboxPart(({ sessions }) => sessions.get(id))
  return session ? <InlineAgentText text={sessionName(session)} className="review-session" /> : null
}
