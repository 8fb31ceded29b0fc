/** The foot of a card that is answered rather than allowed: what sends the answer, and the way to decline. */
import type { ReactNode } from 'react'
import type { Hand } from './hand.ts'
import { StepButton } from './key-hint.tsx'
import { ReasonStep } from './reason-step.tsx'
import type { Steps } from './step.ts'
import type { Drafting } from './use-draft.ts'

export interface AnswerFootProps {
  readonly hand: Hand
  readonly drafting: Drafting
  readonly steps: Steps
  /** What is asked of whoever declines. */
  readonly why: string
  /** What sends the answer. */
  readonly children: ReactNode
  /** What keeps it from being sent yet. */
  readonly unseen?: ReactNode
}

export function AnswerFoot({ hand, drafting, steps, why, children, unseen }: AnswerFootProps): ReactNode {
  return (
    <footer className="card-foot">
      {steps.step === 'deny' ? (
        <ReasonStep {...{ hand, drafting, steps }} kind="decline" title={why} label="Decline" />
      ) : (
        <>
          {unseen}
          <div className="actions first">
            {children}
            <StepButton
              label="Decline…"
              shortcut="d"
              className="apart deny"
              held={hand.held}
              onGo={() => steps.go('deny')}
            />
          </div>
        </>
      )}
    </footer>
  )
}
