/** An option of a question that is answered with one click. Like Allow, the button ignores clicks that began before the card moved or changed. */
import type { Question } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { Sentences } from '../../text/prose.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import { questionTexts } from '../texts.ts'
import { usePress } from '../use-press.ts'
import './option-button.css'

export interface OptionButtonProps {
  readonly question: Question
  readonly option: Question['options'][number]
  readonly submission: Pick<AnswerSubmission, 'disabled' | 'sendingLabel' | 'submit'>
  /** True if a number key has chosen this option, but the answer is not sent yet. */
  readonly isChosen: boolean
  /** The key that chooses the option. */
  readonly shortcut: string | undefined
}

export function OptionButton({ question, option, submission, isChosen, shortcut }: OptionButtonProps): ReactNode {
  const { label, description } = option
  const { ref, onPointerDown, pressOf } = usePress(label)
  const isSending = submission.sendingLabel === label
  return (
    <button
      ref={ref}
      type="button"
      className={`option-button agent-background ${isChosen ? 'chosen' : ''}`}
      disabled={submission.disabled}
      aria-busy={isSending}
      aria-pressed={isChosen}
      data-key={shortcut}
      aria-keyshortcuts={shortcut}
      onPointerDown={onPointerDown}
      onClick={event => {
        const answer = { kind: 'answers' as const, answers: [{ id: question.id, chosen: [label] }] }
        if (event.detail <= 1) submission.submit(label, answer, pressOf(event))
      }}
    >
      <InlineAgentText text={label} className="strong" />
      {description !== undefined && <Sentences text={description} />}
      {isSending && <span className="visually-hidden">{questionTexts.sending}</span>}
    </button>
  )
}
