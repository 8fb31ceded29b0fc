/** Whether the card shows its lines to comment on them, and the notice that says what becomes of the comments. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import MessageSquarePlusIcon from 'lucide-react/icons/message-square-plus'
import { type ReactNode, use, useMemo, useState } from 'react'
import { cardKeys } from '../../shortcuts/card-keys.ts'
import type { AnswerSubmission } from '../answer-submission.ts'
import { textsFor } from '../approval/allow-button.tsx'
import { PanelButton } from '../card-panel.tsx'
import type { CardDraft } from '../draft/use-draft.ts'
import { type Commenting, CommentingContext, isCommentable } from './line-comments.ts'
import { commentTexts } from './texts.ts'

export function useCommenting(ask: ApprovalAsk, submission: AnswerSubmission, cardDraft: CardDraft): Commenting {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const canComment = useMemo(() => isCommentable(ask), [ask])
  const { comments } = cardDraft.draft
  const { change } = cardDraft
  const readOnly = submission.sendingLabel !== null
  const isOpen = canComment && (chosen ?? comments !== undefined)
  return useMemo(
    () => ({
      lines: isOpen
        ? {
            ask,
            comments: comments ?? [],
            readOnly,
            takesFocus: chosen === true,
            change: next => change({ comments: next }),
          }
        : null,
      toggle: canComment ? () => setChosen(!isOpen) : null,
      label: isOpen ? commentTexts.close : comments ? commentTexts.reopen : commentTexts.open,
      disabled: submission.disabled,
    }),
    [ask, canComment, isOpen, chosen, comments, readOnly, change, submission.disabled],
  )
}

export interface CommentsNoticeProps {
  readonly ask: ApprovalAsk
  readonly commenting: Commenting
  /** The number of comments that go with the answer. */
  readonly count: number
  /** Whether the agent reads what comes with an allow. */
  readonly takesNote: boolean
}

export function CommentsNotice({ ask, commenting, count, takesNote }: CommentsNoticeProps): ReactNode {
  if (count === 0 && !commenting.lines) return null
  return (
    <p className="soft small" role="status">
      {count === 0 ? commentTexts.hint : commentTexts.goWithAnswer(count)}
      {!takesNote && ` ${commentTexts.onlyWithDenial(textsFor(ask).deny)}`}
    </p>
  )
}

/** The button below the content of an approval. It shows or hides the lines on which a person can comment. Receipts have none. */
export function CommentButton(): ReactNode {
  const commenting = use(CommentingContext)
  if (!commenting?.toggle) return null
  return (
    <PanelButton
      label={commenting.label}
      className="plain small comment-toggle"
      shortcut={cardKeys.comment}
      disabled={commenting.disabled}
      icon={<MessageSquarePlusIcon />}
      onOpen={commenting.toggle}
    />
  )
}
