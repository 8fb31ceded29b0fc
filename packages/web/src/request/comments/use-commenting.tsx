/** Whether the card shows its lines to comment on them, and the notice that says what becomes of the comments. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useState } from 'react'
import type { AnswerSubmission } from '../answer-submission.ts'
import { textsFor } from '../approval/allow-button.tsx'
import type { CardDraft } from '../draft/use-draft.ts'
import { isCommentable, type LineComments } from './line-comments.ts'
import { commentTexts } from './texts.ts'

export interface Commenting {
  /** The comments for the lines of the card; null if the card does not show its lines to comment on them. */
  readonly lines: LineComments | null
  /** Shows or hides the lines; null if the content has no lines. */
  readonly toggle: (() => void) | null
  /** The label of the button that calls `toggle`. */
  readonly label: string
}

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
    }),
    [ask, canComment, isOpen, chosen, comments, readOnly, change],
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
