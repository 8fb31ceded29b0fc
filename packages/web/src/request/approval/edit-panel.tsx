/** The panel in which a person edits a request before allowing it, with a diff of the changes. */
import { applyEdit, editableOf, isDangerous } from '@holdpoint/client'
import type { Risk } from '@holdpoint/protocol'
import { type ReactNode, useDeferredValue, useMemo } from 'react'
import type { Press } from '../../shortcuts/press.ts'
import { ChangeView } from '../../text/diff-view.tsx'
import { BackButton, useAutoFocus } from '../card-panel.tsx'
import { RiskLine } from '../risk.tsx'
import { SendHint, sendKeyHandler } from '../send-key.tsx'
import { AllowButton, type ApprovalPanelProps, allowAnswer, textsFor } from './allow-button.tsx'
import { NoteField } from './note-panel.tsx'
import { PlanModeSelect } from './plan-mode-select.tsx'
import { panelTexts } from './texts.ts'
import { useInputRisk } from './use-input-risk.ts'
import '../card-panel.css'

const rowsMax = 20

export function EditPanel({ request, ask, submission, cardDraft, panels, fullyShown }: ApprovalPanelProps): ReactNode {
  const editable = useMemo(() => editableOf(ask), [ask])
  const text = cardDraft.draft.edit ?? editable.text
  const field = useAutoFocus<HTMLTextAreaElement>(panels.takesFocus)
  const changed = text !== editable.text
  // Diffing long texts is slower than typing, so the diff may lag behind the field.
  const diffedText = useDeferredValue(text)
  const edit = applyEdit(ask, editable, text)
  const back = () => panels.open('main')
  const input = changed && 'input' in edit ? edit.input : null
  const risk = useInputRisk(request.id, input)
  const answer = input && risk ? allowAnswer(ask, cardDraft.draft, input) : null
  const label = textsFor(ask).allowEdited
  const edited = { ...request, risk: risk ?? request.risk }
  const canSend = answer !== null && fullyShown && !isDangerous(edited) && !submission.disabled
  const send = canSend ? (press: Press) => submission.submit(label, answer, press) : null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: this element handles the keys of the fields inside
    <div className="card-panel" onKeyDown={sendKeyHandler(send)}>
      <label className="field">
        {textsFor(ask).editField(editable.label)}
        <textarea
          ref={field}
          {...(editable.property === 'plan'
            ? { className: 'input code', dir: 'auto' }
            : { className: 'input code stored-order' })}
          rows={Math.min(rowsMax, text.split('\n').length + 1)}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={text}
          readOnly={submission.sendingLabel !== null}
          // If the person restores the original text by hand, the draft no longer contains an edit.
          onChange={({ target }) =>
            cardDraft.change({ edit: target.value === editable.text ? undefined : target.value })
          }
          onKeyDown={event => event.key === 'Escape' && !event.nativeEvent.isComposing && back()}
        />
        <SendHint send={send} />
      </label>
      {'problem' in edit && <p className="problem">{edit.problem}</p>}
      {changed && (
        <div className="remark">
          <span className="soft small">{panelTexts.yourChanges}</span>
          <ChangeView edit={{ before: editable.text, after: diffedText }} context={3} />
        </div>
      )}
      {input && <EditedRisk risk={risk} />}
      {changed && <NoteField {...{ submission, cardDraft, send }} takesFocus={false} onEscape={back} />}
      <PlanModeSelect {...{ request, ask, submission, cardDraft }} />
      <div className="actions">
        <AllowButton
          // A changed text must be confirmed again.
          key={text}
          {...{ ask, submission, fullyShown, answer }}
          checking={fullyShown && input !== null && !risk}
          request={edited}
          label={label}
        />
        {changed && <UndoButton {...{ submission, cardDraft }} />}
        <BackButton submission={submission} onBack={back} />
      </div>
    </div>
  )
}

function UndoButton({ submission, cardDraft }: Pick<ApprovalPanelProps, 'submission' | 'cardDraft'>): ReactNode {
  return (
    <button
      type="button"
      className="button"
      disabled={submission.disabled}
      onClick={() => cardDraft.change({ edit: undefined })}
    >
      {panelTexts.undoChanges}
    </button>
  )
}

/** Says what the edited text touches. */
function EditedRisk({ risk }: { readonly risk: Risk | null }): ReactNode {
  return (
    <div className="edited-risk" role="status">
      <span className="soft small">{panelTexts.editedRisk}</span>
      {risk ? <RiskLine risk={risk} /> : <span className="soft small">{panelTexts.checkingRisk}</span>}
    </div>
  )
}
