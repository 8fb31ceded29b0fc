/** The panel in which a person allows a request with a note for the agent. */
import { isDangerous } from '@holdpoint/client'
import type { ReactNode } from 'react'
import type { Press } from '../../shortcuts/press.ts'
import { AnswerTextField } from '../answer-text-field.tsx'
import { BackButton } from '../card-panel.tsx'
import { type SendByKey, sendKeyHandler } from '../send-key.tsx'
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
      <NoteField {...{ submission, cardDraft, send }} takesFocus={panels.takesFocus} onEscape={back} />
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
  readonly takesFocus: boolean
  readonly onEscape: () => void
}

export function NoteField({ submission, cardDraft, send, takesFocus, onEscape }: NoteFieldProps): ReactNode {
  return (
    <AnswerTextField
      {...{ submission, send, takesFocus, onEscape }}
      label={panelTexts.note}
      value={cardDraft.draft.note ?? ''}
      onText={note => cardDraft.change({ note })}
    />
  )
}
