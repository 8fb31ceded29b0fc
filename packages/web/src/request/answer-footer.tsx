/** The footer of a card with questions or a form: a button that sends the answer, and a button that declines the request. */
import type { SessionId } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { cardKeys } from '../shortcuts/card-keys.ts'
import type { AnswerSubmission } from './answer-submission.ts'
import { type CardPanels, PanelButton } from './card-panel.tsx'
import { DenyPanel } from './deny-panel.tsx'
import type { CardDraft } from './draft/use-draft.ts'
import { declineTexts } from './texts.ts'
import { useAnswerChoices } from './use-answer-choices.ts'
import './card-footer.css'

export interface AnswerFooterProps {
  readonly session: SessionId
  readonly submission: AnswerSubmission
  readonly cardDraft: CardDraft
  readonly panels: CardPanels
  /** The button that sends the answer. */
  readonly children: ReactNode
  /** Explains why the answer cannot be sent yet. */
  readonly hint?: ReactNode
}

export function AnswerFooter(props: AnswerFooterProps): ReactNode {
  const { session, submission, cardDraft, panels, children, hint } = props
  const canStop = useAnswerChoices(session).stop.decline
  const { button, open, reason } = declineTexts
  return (
    <footer className="card-footer">
      {panels.current === 'deny' ? (
        <DenyPanel {...{ submission, cardDraft, panels, canStop }} kind="decline" title={reason} label={button} />
      ) : (
        <>
          {hint}
          <div className="actions first">
            {children}
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
