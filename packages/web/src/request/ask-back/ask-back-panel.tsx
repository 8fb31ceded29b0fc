/** The panel in which a person asks the agent a question before answering. The agent is told that nothing is decided yet. */
import type { Answer } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import type { Press } from '../../shortcuts/press.ts'
import { AnswerButton } from '../answer-button.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import { AnswerTextField } from '../answer-text-field.tsx'
import { BackButton, type CardPanels } from '../card-panel.tsx'
import { sentComments } from '../comments/line-comments.ts'
import type { CardDraft } from '../draft/use-draft.ts'
import { sendKeyHandler } from '../send-key.tsx'
import { askBackTexts } from '../texts.ts'
import '../card-panel.css'

export interface AskBackPanelProps {
  readonly submission: AnswerSubmission
  readonly cardDraft: CardDraft
  readonly panels: CardPanels
  readonly kind: 'deny' | 'decline'
}

export function AskBackPanel({ submission, cardDraft, panels, kind }: AskBackPanelProps): ReactNode {
  const { draft } = cardDraft
  const { title, placeholder, send: label, sending } = askBackTexts
  const back = () => panels.open('main')
  const reason = (draft.question ?? '').trim()
  const comments = sentComments(draft)
  const answer: Extract<Answer, { kind: 'deny' | 'decline' }> | null =
    reason === '' ? null : { kind, reason, askBack: true, ...(comments.length > 0 && { comments }) }
  const send = answer && !submission.disabled ? (press: Press) => submission.submit(label, answer, press) : null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: this element handles the keys of the field inside
    <div className="card-panel" onKeyDown={sendKeyHandler(send)}>
      <AnswerTextField
        {...{ submission, placeholder, send }}
        label={title}
        value={draft.question ?? ''}
        takesFocus={panels.takesFocus}
        onText={question => cardDraft.change({ question })}
        onEscape={back}
      />
      <div className="actions">
        <AnswerButton {...{ submission, label, answer }} busyLabel={sending} className="primary" />
        <BackButton submission={submission} onBack={back} />
      </div>
    </div>
  )
}
