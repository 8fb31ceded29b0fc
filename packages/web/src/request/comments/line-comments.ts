/** The person's comments on the lines of an approval, and the context that passes them to the lines of the card. The lines themselves are loaded on demand. `textForAgent` in the protocol package turns comments into the text that the agent reads. */
import { type AnswerDraft, changedFiles, viewOf } from '@holdpoint/client'
import type { ApprovalAsk, Comment } from '@holdpoint/protocol'
import { createContext } from 'react'
import { isTooLongToCompare } from '../../text/diff-view.tsx'

export interface LineComments {
  readonly ask: ApprovalAsk
  readonly comments: readonly Comment[]
  /** True while an answer is being sent. */
  readonly readOnly: boolean
  /** True if the person has just started to comment, false if the draft contained comments. */
  readonly takesFocus: boolean
  readonly change: (comments: readonly Comment[]) => void
}

export interface Commenting {
  /** The comments for the lines of the card; null if the card does not show its lines to comment on them. */
  readonly lines: LineComments | null
  /** Shows or hides the lines; null if the content has no lines. */
  readonly toggle: (() => void) | null
  /** The label of the button that calls `toggle`. */
  readonly label: string
  /** True while the card accepts no input. */
  readonly disabled: boolean
}

/** Passes the comments to the lines. Its value is null on receipts. */
export const CommentingContext = createContext<Commenting | null>(null)

/** Returns whether the card can show the content of an approval line by line. */
export function isCommentable(ask: ApprovalAsk): boolean {
  const view = viewOf(ask)
  if (view.kind === 'command' || view.kind === 'plan') return true
  const edits = changedFiles(view).flatMap(file => file.edits)
  return edits.length > 0 && !isTooLongToCompare(edits)
}

/** Returns the comments of a draft that can be sent. */
export function sentComments({ comments = [] }: AnswerDraft): Comment[] {
  return comments.flatMap(comment => {
    const text = comment.text.trim()
    return text === '' ? [] : [{ ...comment, text }]
  })
}
