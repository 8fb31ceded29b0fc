/** The footer of a card with questions or a form: a button that sends the answer, and a button that declines the request. */
import type { SessionId } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { cardKeys } from '../shortcuts/card-keys.ts'
import type { AnswerSubmission } from './answer-submission.ts'
import { LazyAskBackPanel } from './ask-back/lazy-ask-back-panel.ts'
import { type CardPanels, PanelButton } from './card-panel.tsx'
import { DenyPanel } from './deny-panel.tsx'
import type { CardDraft } from './draft/use-draft.ts'
import { askBackTexts, declineTexts } from './texts.ts'
import { useAnswerChoices } from './use-answer-choices.ts'
import './card-footer.css'

export interface AnswerFooterProps {
  readonly session: SessionId
  readonly submission: AnswerSubmission
  readonly cardDraft: CardDraft
  readonly panels: CardPanels
  /** Whether the agent would read a question. The agent of a form would not. */
  readonly canAskBack?: boolean
  /** The button that sends the answer. */
  readonly children: ReactNode
  /** Explains why the answer cannot be sent yet. */
  readonly hint?: ReactNode
}

export function AnswerFooter(props: AnswerFooterProps): ReactNode {
  const { session, submission, cardDraft, panels, canAskBack = false, children, hint } = props
  const choices = useAnswerChoices(session)
  const canStop = choices.stop.decline
  const { button, open, reason } = declineTexts
  return (
    <footer className="card-footer">
      {panels.current === 'deny' ? (
        <DenyPanel {...{ submission, cardDraft, panels, canStop }} kind="decline" title={reason} label={button} />
      ) : panels.current === 'ask' ? (
        <LazyAskBackPanel {...{ submission, cardDraft, panels }} kind="decline" />
      ) : (
        <>
          {hint}
          <div className="actions first">
            {children}
            {canAskBack && choices.askBack && (
              <PanelButton
                label={askBackTexts.open}
                className="ask-back"
                disabled={submission.disabled}
                onOpen={() => panels.open('ask')}
              />
            )}
            <PanelButton
              label={open}
              shortcut={cardKeys.deny}
              className="align-end deny"
              disabled={submission.disabled}
              onOpen={() => panels.open('deny')}
            />
          </div>
        </>
      )}
    </footer>
  )
}
