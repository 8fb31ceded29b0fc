/** The panel in which a person allows a request with a note for the agent. */
import { isDangerous } from '@holdpoint/client'
import { limits } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import type { Press } from '../../shortcuts/press.ts'
import { BackButton, useAutoFocus } from '../card-panel.tsx'
import { type SendByKey, SendHint, sendKeyHandler } from '../send-key.tsx'
import { AllowButton, type ApprovalPanelProps, allowAnswer, textsFor } from './allow-button.tsx'
import { PlanModeSelect } from './plan-mode-select.tsx'
import { panelTexts } from './texts.ts'
import '../card-panel.css'

export function NotePanel({ request, ask, submission, cardDraft, panels, fullyShown }: ApprovalPanelProps): ReactNode {
  const label = textsFor(ask).allowThisNote
  const answer = allowAnswer(ask, cardDraft.draft)
  const back = () => panels.open('main')
  const canSend = Boolean(answer.note) && fullyShown && !isDangerous(request) && !submission.disabled
  const send = canSend ? (press: Press) => submission.submit(label, answer, press) : null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: this element handles the keys of the field inside
    <div className="card-panel" onKeyDown={sendKeyHandler(send)}>
      <NoteField {...{ submission, cardDraft, send }} focused={panels.takesFocus} onEscape={back} />
      <PlanModeSelect {...{ request, ask, submission, cardDraft }} />
      <div className="actions">
        <AllowButton {...{ request, ask, submission, fullyShown, label }} answer={answer.note ? answer : null} />
        <BackButton submission={submission} onBack={back} />
      </div>
    </div>
  )
}

interface NoteFieldProps extends Pick<ApprovalPanelProps, 'submission' | 'cardDraft'> {
  readonly send: SendByKey
  readonly focused: boolean
  readonly onEscape: () => void
}

export function NoteField({ submission, cardDraft, send, focused, onEscape }: NoteFieldProps): ReactNode {
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
      <SendHint send={send} />
    </label>
  )
}
