/** The step in which one says no: with a reason that the agent reads. Enter denies, Escape goes back. */
import type { Answer } from '@holdpoint/protocol'
import { limits } from '@holdpoint/protocol'
import type { KeyboardEvent, ReactNode } from 'react'
import { AnswerButton } from './answer-button.tsx'
import type { AnswerSubmission } from './answer-submission.ts'
import { BackButton } from './back-button.tsx'
import { type CardPanels, useFocused } from './card-panel.ts'
import type { Drafting } from './draft/use-draft.ts'
import './card-panel.css'

export interface DenyPanelProps {
  readonly hand: AnswerSubmission
  readonly drafting: Drafting
  readonly steps: CardPanels
  readonly kind: 'deny' | 'decline'
  /** What the field is for, such as "Why not?". */
  readonly title: string
  /** Of the button that Enter presses. */
  readonly label: string
}

const busy = { deny: 'Denying…', decline: 'Declining…' } as const
const stop = { deny: 'Deny and stop', decline: 'Decline and stop' } as const

export function DenyPanel({ hand, drafting, steps, kind, title, label }: DenyPanelProps): ReactNode {
  const field = useFocused<HTMLTextAreaElement>(steps.focused)
  const { reason = '' } = drafting.draft
  const back = () => steps.go('first')
  const given = reason.trim()
  const answer: Extract<Answer, { kind: 'deny' | 'decline' }> = { kind, ...(given && { reason: given }) }
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') back()
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    // A key held down since the step opened says nothing about this field.
    if (!event.repeat) hand.send(label, answer)
  }
  return (
    <div className="card-panel">
      <label className="field">
        {title}
        <textarea
          ref={field}
          className="input"
          rows={2}
          maxLength={limits.reasonMax}
          value={reason}
          readOnly={hand.pressed !== null}
          placeholder="What should it do instead?"
          onChange={event => drafting.change({ reason: event.target.value })}
          onKeyDown={press}
        />
      </label>
      <div className="actions">
        <AnswerButton hand={hand} label={label} busy={busy[kind]} answer={answer} className="primary" />
        <AnswerButton hand={hand} label={stop[kind]} busy="Stopping…" answer={{ ...answer, interrupt: true }} />
        <BackButton hand={hand} onBack={back} />
      </div>
    </div>
  )
}
