/** Allowing with a note: words that reach the agent together with the yes. */
import { limits } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { BackButton } from '../back-button.tsx'
import { useFocused } from '../card-panel.ts'
import { AllowButton, type ApprovalPanelProps, allowAnswer } from './allow-button.tsx'
import { PlanModeSelect } from './plan-mode-select.tsx'
import '../card-panel.css'

export function NotePanel({ request, ask, hand, drafting, steps, shown }: ApprovalPanelProps): ReactNode {
  const label = ask.plan === undefined ? 'Allow with this note' : 'Approve with this note'
  const answer = allowAnswer(ask, drafting.draft)
  return (
    <div className="card-panel">
      <NoteField {...{ hand, drafting }} focused={steps.focused} onEscape={() => steps.go('first')} />
      <PlanModeSelect {...{ request, ask, hand, drafting }} />
      <div className="actions">
        <AllowButton {...{ hand, ask, shown, label }} answer={answer.note ? answer : null} />
        <BackButton hand={hand} onBack={() => steps.go('first')} />
      </div>
    </div>
  )
}

interface NoteFieldProps extends Pick<ApprovalPanelProps, 'hand' | 'drafting'> {
  readonly focused: boolean
  readonly onEscape: () => void
}

export function NoteField({ hand, drafting, focused, onEscape }: NoteFieldProps): ReactNode {
  const field = useFocused<HTMLTextAreaElement>(focused)
  return (
    <label className="field">
      A note that the agent reads with your yes
      <textarea
        ref={field}
        className="input"
        rows={2}
        maxLength={limits.reasonMax}
        value={drafting.draft.note ?? ''}
        readOnly={hand.pressed !== null}
        onChange={event => drafting.change({ note: event.target.value })}
        onKeyDown={event => event.key === 'Escape' && !event.nativeEvent.isComposing && onEscape()}
      />
    </label>
  )
}
