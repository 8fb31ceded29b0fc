/** Allowing something else than was asked: one text that a person changes, and what the change is, before it is said yes to. */
import { applyEdit, editableOf } from '@holdpoint/client'
import { type ReactNode, useDeferredValue, useMemo } from 'react'
import { ChangeView } from '../../text/diff-view.tsx'
import { BackButton } from '../back-button.tsx'
import { useFocused } from '../card-panel.ts'
import { AllowButton, type ApprovalPanelProps, allowAnswer } from './allow-button.tsx'
import { NoteField } from './note-panel.tsx'
import { PlanModeSelect } from './plan-mode-select.tsx'
import '../card-panel.css'

const rowsMax = 20

export function EditPanel({ request, ask, hand, drafting, steps, shown }: ApprovalPanelProps): ReactNode {
  const editable = useMemo(() => editableOf(ask), [ask])
  const text = drafting.draft.edit ?? editable.text
  const field = useFocused<HTMLTextAreaElement>(steps.focused)
  const changed = text !== editable.text
  // To compare long texts takes longer than to type: letters come first.
  const drawn = useDeferredValue(text)
  const edit = applyEdit(ask, editable, text)
  const back = () => steps.go('first')
  const answer = changed && 'input' in edit ? allowAnswer(ask, drafting.draft, edit.input) : null
  return (
    <div className="card-panel">
      <label className="field">
        {editable.label}: what stands here is what runs
        <textarea
          ref={field}
          className="input code"
          rows={Math.min(rowsMax, text.split('\n').length + 1)}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={text}
          readOnly={hand.pressed !== null}
          // An edit that is taken back is none.
          onChange={({ target }) =>
            drafting.change({ edit: target.value === editable.text ? undefined : target.value })
          }
          onKeyDown={event => event.key === 'Escape' && !event.nativeEvent.isComposing && back()}
        />
      </label>
      {'problem' in edit && <p className="problem">{edit.problem}</p>}
      {changed && (
        <div className="remark">
          <span className="soft small">What you changed</span>
          <ChangeView part={{ before: editable.text, after: drawn }} context={3} />
        </div>
      )}
      {changed && <NoteField {...{ hand, drafting }} focused={false} onEscape={back} />}
      <PlanModeSelect {...{ request, ask, hand, drafting }} />
      <div className="actions">
        <AllowButton
          {...{ hand, ask, shown, answer }}
          label={ask.plan === undefined ? 'Allow with edits' : 'Approve with edits'}
        />
        {changed && (
          <button
            type="button"
            className="button"
            disabled={hand.held}
            onClick={() => drafting.change({ edit: undefined })}
          >
            Undo my changes
          </button>
        )}
        <BackButton hand={hand} onBack={back} />
      </div>
    </div>
  )
}
