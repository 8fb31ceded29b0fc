/** The foot of a card that is answered rather than allowed: what sends the answer, and the way to decline. */
import type { ReactNode } from 'react'
import type { AnswerSubmission } from './answer-submission.ts'
import type { CardPanels } from './card-panel.ts'
import { DenyPanel } from './deny-panel.tsx'
import type { Drafting } from './draft/use-draft.ts'
import { StepButton } from './shortcut.tsx'
import './card-footer.css'

export interface AnswerFooterProps {
  readonly hand: AnswerSubmission
  readonly drafting: Drafting
  readonly steps: CardPanels
  /** What is asked of whoever declines. */
  readonly why: string
  /** What sends the answer. */
  readonly children: ReactNode
  /** What keeps it from being sent yet. */
  readonly unseen?: ReactNode
}

export function AnswerFooter({ hand, drafting, steps, why, children, unseen }: AnswerFooterProps): ReactNode {
  return (
    <footer className="card-footer">
      {steps.step === 'deny' ? (
        <DenyPanel {...{ hand, drafting, steps }} kind="decline" title={why} label="Decline" />
      ) : (
        <>
          {unseen}
          <div className="actions first">
            {children}
            <StepButton
              label="Decline…"
              shortcut="d"
              className="align-end deny"
              held={hand.held}
              onGo={() => steps.go('deny')}
            />
          </div>
        </>
      )}
    </footer>
  )
}
