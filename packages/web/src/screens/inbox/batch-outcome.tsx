/** Lists the requests of a batch whose answers failed. */
import { actionLabel, summary } from '@holdpoint/client'
import type { Request, RequestId } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { SummaryText } from '../../text/agent-text.tsx'
import { reviewTexts } from './texts.ts'
import type { ShownOutcome } from './use-batch-send.ts'
import './batch-review.css'

export interface BatchOutcomeViewProps {
  readonly outcome: ShownOutcome
  readonly known: ReadonlyMap<RequestId, Request>
  readonly onClose: () => void
}

export function BatchOutcomeView({ outcome, known, onClose }: BatchOutcomeViewProps): ReactNode {
  const { answered, failed, skipped } = outcome
  return (
    <div className="batch-outcome" role="status">
      <div className="batch-row">
        <span>
          {reviewTexts.outcome(answered, failed.length)} {skipped}
        </span>
        <button type="button" className="button plain small" onClick={onClose}>
          {reviewTexts.close}
        </button>
      </div>
      <ul>
        {failed.map(({ id, reason }) => {
          const ask = known.get(id)?.ask
          return (
            <li key={id} className="small">
              {ask && (
                <>
                  {actionLabel(ask)}{' '}
                  <SummaryText summary={summary(ask)} className="mono agent-background batch-summary" />{' '}
                </>
              )}
              <span className="problem">{reason}</span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
