/** One request that waits: who asks, what, and the way to answer. Once it is resolved, its receipt takes its place. */
import { actionLabel, summary } from '@holdpoint/client'
import { escapeInvisible, type Request } from '@holdpoint/protocol'
import { memo, type ReactNode, useCallback, useId, useMemo, useRef } from 'react'
import { ActionLine } from './action-line.tsx'
import { type AnswerSubmission, useAnswerSubmission } from './answer-submission.ts'
import { ApprovalCard } from './approval/approval-card.tsx'
import { CardHeader } from './card-header.tsx'
import { cardName } from './card-panel.ts'
import { DraftConflict } from './draft/draft-conflict.tsx'
import { type Drafting, useDraft } from './draft/use-draft.ts'
import { FormCard } from './form/form-card.tsx'
import { QuestionsCard } from './questions/questions-card.tsx'
import { CardContext } from './shortcut.tsx'
import './request-card.css'

export interface RequestCardProps {
  readonly request: Request
  /** Whether the session's name stands on it: not where one looks at that session anyway. */
  readonly named: boolean
  /** Whether keys go to it. */
  readonly active: boolean
  readonly selected?: boolean
  readonly onSelect?: (selected: boolean) => void
}

export const RequestCard = memo(function RequestCard(props: RequestCardProps): ReactNode {
  const { request, named, active, selected = false, onSelect } = props
  const card = useRef<HTMLElement>(null)
  const drafting = useDraft(request, card)
  const hand = useAnswerSubmission(request, drafting)
  const open = useCallback(() => (card.current?.querySelector<HTMLElement>(focusable) ?? card.current)?.focus(), [])
  const words = actionLabel(request.ask)
  const about = useId()
  const place = useMemo(() => ({ active, about }), [active, about])
  return (
    <article
      ref={card}
      id={cardName(request.id)}
      className={`card ${active ? 'active' : ''} ${selected ? 'selected' : ''}`}
      aria-label={words}
      tabIndex={-1}
    >
      <header className="card-header">
        {onSelect && (
          <label className="select">
            <input type="checkbox" checked={selected} onChange={event => onSelect(event.target.checked)} />
            <span className="visually-hidden">Select: {words}</span>
          </label>
        )}
        <CardHeader request={request} named={named} others={drafting.others} />
      </header>
      <div className="card-surface" aria-busy={hand.pressed !== null}>
        <ActionLine request={request} named={named} />
        <CardContext value={place}>{askCard(request, hand, drafting, open)}</CardContext>
        <span
          id={about}
          role="note"
          aria-label={escapeInvisible(`${words}: ${summary(request.ask).slice(0, aboutMax)}`)}
          hidden
        />
        {drafting.tooLong && (
          <p className="soft small" role="status">
            What you wrote is too long to be kept at the gateway: it is in this tab only.
          </p>
        )}
        {drafting.other && !hand.held && (
          <DraftConflict ask={request.ask} other={drafting.other} onSwap={drafting.swap} onStay={drafting.stay} />
        )}
        <p
          className={`notice ${hand.notice?.bad ? 'problem' : 'soft small'}`}
          role={hand.notice?.bad ? 'alert' : 'status'}
        >
          {hand.notice?.text}
        </p>
      </div>
    </article>
  )
})

/** Of what a button would allow, so much is told with its name; the whole is there to be read. */
const aboutMax = 300

/** Never a button: Enter, pressed once more, would press it. Nor a list, which a letter would change. */
const focusable = '.card-surface :is(input, textarea, [tabindex="0"]):not(:disabled)'

function askCard(request: Request, hand: AnswerSubmission, drafting: Drafting, open: () => void): ReactNode {
  const { ask } = request
  const given = { request, hand, drafting, open }
  switch (ask.kind) {
    case 'approval':
      return <ApprovalCard {...given} ask={ask} />
    case 'questions':
      return <QuestionsCard {...given} ask={ask} />
    case 'form':
      return <FormCard {...given} ask={ask} />
  }
}
