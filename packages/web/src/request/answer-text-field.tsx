/** The field of a panel in which a person writes a reason, a question or a note for the agent. Ctrl+Enter sends, and Escape goes back. */
import { limits } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import type { AnswerSubmission } from './answer-submission.ts'
import { useAutoFocus } from './card-panel.tsx'
import { type SendByKey, SendHint } from './send-key.tsx'

export interface AnswerTextFieldProps {
  readonly label: string
  readonly placeholder?: string
  readonly value: string
  readonly submission: AnswerSubmission
  /** Whether the field takes the focus when it appears. */
  readonly takesFocus: boolean
  /** What the key sends. The element around the field handles the key. */
  readonly send: SendByKey
  readonly onText: (text: string) => void
  readonly onEscape: () => void
}

export function AnswerTextField(props: AnswerTextFieldProps): ReactNode {
  const { label, placeholder, value, submission, takesFocus, send, onText, onEscape } = props
  const field = useAutoFocus<HTMLTextAreaElement>(takesFocus)
  return (
    <label className="field">
      {label}
      <textarea
        ref={field}
        className="input"
        dir="auto"
        rows={2}
        maxLength={limits.reasonMax}
        value={value}
        readOnly={submission.sendingLabel !== null}
        placeholder={placeholder}
        onChange={event => onText(event.target.value)}
        onKeyDown={event => event.key === 'Escape' && !event.nativeEvent.isComposing && onEscape()}
      />
      <SendHint send={send} />
    </label>
  )
}
