/** The card of one pending request: the session that asks, the content of the request, and the controls to answer. */
import { actionLabel, riskLabel, shownRisk, summaryText } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { memo, type ReactNode, useCallback, useId, useMemo, useRef } from 'react'
import { lazyComponent } from '../ui/lazy-component.tsx'
import { ActionLine } from './action-line.tsx'
import { useAnswerSubmission } from './answer-submission.ts'
import { ApprovalCard } from './approval/approval-card.tsx'
import { CardHeader, CardTimes } from './card-header.tsx'
import { type AskCardProps, cardElementId } from './card-panel.tsx'
import { DraftConflict } from './draft/draft-conflict.tsx'
import { useDraft } from './draft/use-draft.ts'
import { QuestionsCard } from './questions/questions-card.tsx'
import { CardContext } from './shortcut.tsx'
import { cardTexts } from './texts.ts'
import { WatcherNote } from './watcher-note.tsx'
import './request-card.css'

/** Forms are rare, so they are not part of the first screen. */
const FormCard = lazyComponent(async () => (await import('./form/form-card.tsx')).FormCard)
const FollowedRequest = lazyComponent(
  async () => (await import('./ask-back/followed-request.tsx')).FollowedRequest,
  () => null,
)

export interface RequestCardProps {
  readonly request: Request
  /** Whether the header names the session; false on the session's own screen. */
  readonly showSession: boolean
  /** Whether shortcuts act on this card. */
  readonly active: boolean
  readonly selected?: boolean
  readonly onSelect?: (selected: boolean) => void
}

export const RequestCard = memo(function RequestCard(props: RequestCardProps): ReactNode {
  const { request, showSession, active, selected = false, onSelect } = props
  const card = useRef<HTMLElement>(null)
  const cardDraft = useDraft(request, card)
  const submission = useAnswerSubmission(request, cardDraft)
  const focusCard = useCallback(
    () => (card.current?.querySelector<HTMLElement>(focusable) ?? card.current)?.focus(),
    [],
  )
  const label = actionLabel(request.ask)
  const descriptionId = useId()
  const context = useMemo(() => ({ active, descriptionId }), [active, descriptionId])
  const { notice } = submission
  const othersAnswering = cardDraft.others.map(({ name }) => name)
  const hasHeader = showSession || onSelect !== undefined || request.agentPath.length > 0
  return (
    <article
      ref={card}
      id={cardElementId(request.id)}
      className={`card ${active ? 'active' : ''} ${selected ? 'selected' : ''}`}
      aria-label={label}
      tabIndex={-1}
    >
      {hasHeader && (
        <header className="card-header">
          {onSelect && (
            <label className="select">
              <input type="checkbox" checked={selected} onChange={event => onSelect(event.target.checked)} />
              <span className="visually-hidden">{cardTexts.select(label)}</span>
            </label>
          )}
          <CardHeader {...{ request, showSession, othersAnswering }} />
        </header>
      )}
      <div className="card-surface" aria-busy={submission.sendingLabel !== null}>
        <ActionLine request={request}>{!showSession && <CardTimes {...{ request, othersAnswering }} />}</ActionLine>
        {request.watcher && <WatcherNote watcher={request.watcher} />}
        {request.follows && <FollowedRequest request={request} />}
        <CardContext value={context}>{askCard({ request, submission, cardDraft, focusCard })}</CardContext>
        <span id={descriptionId} role="note" aria-label={descriptionOf(request)} hidden />
        {cardDraft.tooLong && (
          <p className="soft small" role="status">
            {cardTexts.draftTooLong}
          </p>
        )}
        {cardDraft.other && !submission.disabled && (
          <DraftConflict
            ask={request.ask}
            other={cardDraft.other}
            onTakeOther={cardDraft.takeOther}
            onKeepMine={cardDraft.keepMine}
          />
        )}
        <p
          className={`notice ${notice?.isError ? 'problem' : 'soft small'}`}
          role={notice?.isError ? 'alert' : 'status'}
        >
          {notice?.text}
        </p>
      </div>
    </article>
  )
})

/** Describes the request in one text, which screen readers add to the name of an answer button. */
function descriptionOf(request: Request): string {
  const { ask } = request
  const risk = shownRisk(request)
  // Screen readers pause at line breaks, and would read the sign for them aloud.
  const what = `${actionLabel(ask)}: ${summaryText(ask).replaceAll(' ↵ ', '\n')}`
  return risk ? `${what}. ${riskLabel(risk)}` : what
}

/** Matches the elements that may take the focus when the person opens the card. Buttons are excluded because a second Enter would press them, and selects because a letter key would change them. */
const focusable = '.card-surface :is(input, textarea, [tabindex="0"]):not(:disabled)'

function askCard(props: Omit<AskCardProps<never>, 'ask'>): ReactNode {
  const { ask } = props.request
  switch (ask.kind) {
    case 'approval':
      return <ApprovalCard {...props} ask={ask} />
    case 'questions':
      return <QuestionsCard {...props} ask={ask} />
    case 'form':
      return <FormCard {...props} ask={ask} />
  }
}
