/** The step in which one says no: with a reason that the agent reads. Enter denies, Escape goes back. */
import type { Answer } from '@holdpoint/protocol'
import { limits } from '@holdpoint/protocol'
import type { KeyboardEvent, ReactNode } from 'react'
import { Back } from './back.tsx'
import { Decide } from './decide.tsx'
import type { Hand } from './hand.ts'
import { type Steps, useFocused } from './step.ts'
import type { Drafting } from './use-draft.ts'

export interface ReasonStepProps {
  readonly hand: Hand
  readonly drafting: Drafting
  readonly steps: Steps
  readonly kind: 'deny' | 'decline'
  /** What the field is for, such as "Why not?". */
  readonly title: string
  /** Of the button that Enter presses. */
  readonly label: string
}

const busy = { deny: 'Denying…', decline: 'Declining…' } as const
const stop = { deny: 'Deny and stop', decline: 'Decline and stop' } as const

export function ReasonStep({ hand, drafting, steps, kind, title, label }: ReasonStepProps): ReactNode {
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
    <div className="step">
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
        <Decide hand={hand} label={label} busy={busy[kind]} answer={answer} className="primary" />
        <Decide hand={hand} label={stop[kind]} busy="Stopping…" answer={{ ...answer, interrupt: true }} />
        <Back hand={hand} onBack={back} />
      </div>
    </div>
  )
}
