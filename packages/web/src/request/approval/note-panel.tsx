/** The panel in which a person allows a request with a note for the agent. */
import { limits } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { BackButton, useAutoFocus } from '../card-panel.tsx'
import { AllowButton, type ApprovalPanelProps, allowAnswer, textsFor } from './allow-button.tsx'
import { PlanModeSelect } from './plan-mode-select.tsx'
import { panelTexts } from './texts.ts'
import '../card-panel.css'

export function NotePanel({ request, ask, submission, cardDraft, panels, fullyShown }: ApprovalPanelProps): ReactNode {
  const label = textsFor(ask).allowThisNote
  const answer = allowAnswer(ask, cardDraft.draft)
  const back = () => panels.open('main')
  return (
    <div className="card-panel">
      <NoteField {...{ submission, cardDraft }} focused={panels.takesFocus} onEscape={back} />
      <PlanModeSelect {...{ request, ask, submission, cardDraft }} />
      <div className="actions">
        <AllowButton {...{ request, ask, submission, fullyShown, label }} answer={answer.note ? answer : null} />
        <BackButton submission={submission} onBack={back} />
      </div>
    </div>
  )
}

interface NoteFieldProps extends Pick<ApprovalPanelProps, 'submission' | 'cardDraft'> {
  readonly focused: boolean
  readonly onEscape: () => void
}

export function NoteField({ submission, cardDraft, focused, onEscape }: NoteFieldProps): ReactNode {
  const field = useAutoFocus<HTMLTextAreaElement>(focused)
  return (
    <label className="field">
      {panelTexts.note}
      <textarea
        ref={field}
        className="input"
        dir="auto"
        rows={2}
        maxLength={limits.reasonMax}
        value={cardDraft.draft.note ?? ''}
        readOnly={submission.sendingLabel !== null}
        onChange={event => cardDraft.change({ note: event.target.value })}
        onKeyDown={event => event.key === 'Escape' && !event.nativeEvent.isComposing && onEscape()}
      />
    </label>
  )
}
