/** The panel in which a person denies or declines a request, with a reason for the agent. Escape goes back. */
import type { Answer } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import type { Press } from '../shortcuts/press.ts'
import { AnswerButton } from './answer-button.tsx'
import type { AnswerSubmission } from './answer-submission.ts'
import { AnswerTextField } from './answer-text-field.tsx'
import { BackButton, type CardPanels } from './card-panel.tsx'
import { sentComments } from './comments/line-comments.ts'
import type { CardDraft } from './draft/use-draft.ts'
import { sendKeyHandler } from './send-key.tsx'
import { denyTexts } from './texts.ts'
import './card-panel.css'

export interface DenyPanelProps {
  readonly submission: AnswerSubmission
  readonly cardDraft: CardDraft
  readonly panels: CardPanels
  readonly kind: 'deny' | 'decline'
  /** Label of the field for the reason. */
  readonly title: string
  /** Label of the button that Ctrl+Enter presses. */
  readonly label: string
  /** Whether the person can also stop the turn. */
  readonly canStop: boolean
}

export function DenyPanel({ submission, cardDraft, panels, kind, title, label, canStop }: DenyPanelProps): ReactNode {
  const { reason = '' } = cardDraft.draft
  const { sending, andStop } = denyTexts[kind]
  const back = () => panels.open('main')
  const given = reason.trim()
  const comments = sentComments(cardDraft.draft)
  const answer: Extract<Answer, { kind: 'deny' | 'decline' }> = {
    kind,
    ...(given && { reason: given }),
    ...(comments.length > 0 && { comments }),
  }
  const send = submission.disabled ? null : (press: Press) => submission.submit(label, answer, press)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: this element handles the keys of the field inside
    <div className="card-panel" onKeyDown={sendKeyHandler(send)}>
      <AnswerTextField
        {...{ submission, send }}
        label={title}
        placeholder={denyTexts.placeholder}
        value={reason}
        takesFocus={panels.takesFocus}
        onText={text => cardDraft.change({ reason: text })}
        onEscape={back}
      />
      <div className="actions">
        <AnswerButton {...{ submission, label, answer }} busyLabel={sending} className="primary" />
        {canStop && (
          <AnswerButton
            submission={submission}
            label={andStop}
            busyLabel={denyTexts.stopping}
            answer={{ ...answer, interrupt: true }}
          />
        )}
        <BackButton submission={submission} onBack={back} />
      </div>
    </div>
  )
}
