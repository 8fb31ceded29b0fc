/** The way out of a step, back to the first row of buttons. */
import type { ReactNode } from 'react'
import type { AnswerSubmission } from './answer-submission.ts'

export function BackButton({
  hand,
  onBack,
}: {
  readonly hand: AnswerSubmission
  readonly onBack: () => void
}): ReactNode {
  return (
    <button type="button" className="button plain align-end" disabled={hand.pressed !== null} onClick={onBack}>
      Back
    </button>
  )
}
