/** The button that allows an approval, and the answers it sends. */
import { type AnswerDraft, isDangerous } from '@holdpoint/client'
import { type Answer, type ApprovalAsk, answerActions, type Request } from '@holdpoint/protocol'
import { type ReactNode, use } from 'react'
import type { May } from '../../gateway/gateway-context.ts'
import { AnswerButton, type AnswerButtonProps, DangerousAnswerButton } from '../answer-button.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import type { CardPanels } from '../card-panel.tsx'
import { sentComments } from '../comments/line-comments.ts'
import type { CardDraft } from '../draft/use-draft.ts'
import { CardContext } from '../shortcut.tsx'
import { approvalTexts, dangerWarning } from './texts.ts'
import { useAgentName } from './use-agent-name.ts'

/** Props of every panel of an approval. */
export interface ApprovalPanelProps {
  readonly request: Request
  readonly ask: ApprovalAsk
  readonly submission: AnswerSubmission
  readonly cardDraft: CardDraft
  readonly panels: CardPanels
  /** True once everything that would run has been on the screen. */
  readonly fullyShown: boolean
}

export function textsFor({ plan }: ApprovalAsk): (typeof approvalTexts)['approval' | 'plan'] {
  return approvalTexts[plan === undefined ? 'approval' : 'plan']
}

/** Returns an allow answer. It includes the draft's note, even if the note panel is closed, its comments, and for a plan the selected mode. */
export function allowAnswer({ plan }: ApprovalAsk, draft: AnswerDraft, input?: AllowAnswer['input']): AllowAnswer {
  const { note, mode } = draft
  const given = note?.trim()
  const comments = sentComments(draft)
  return {
    kind: 'allow',
    ...(input && { input }),
    ...(given && { note: given }),
    ...(comments.length > 0 && { comments }),
    ...(plan !== undefined && mode && { mode }),
  }
}

/** Returns the label of the main panel's Allow button and the answer that the button sends. The answer leaves out an unfinished edit, and comments that the agent would not read, and the label says so. */
export function defaultAllow(
  ask: ApprovalAsk,
  draft: AnswerDraft,
  takesNote: boolean,
): Pick<AllowButtonProps, 'label'> & { readonly answer: AllowAnswer } {
  const answer = allowAnswer(ask, takesNote ? draft : withoutComments(draft))
  const texts = textsFor(ask)
  if (draft.edit !== undefined) return { label: texts.allowWithoutEdit, answer }
  if (answer.comments) return { label: answer.note ? texts.allowWithNoteAndComments : texts.allowWithComments, answer }
  if (sentComments(draft).length > 0) return { label: texts.allowWithoutComments, answer }
  return { label: answer.note ? texts.allowWithNote : texts.allow, answer }
}

/** Returns the draft for an allow if the agent would not read the comments. */
export function withoutComments({ comments: _, ...draft }: AnswerDraft): AnswerDraft {
  return draft
}

/** Returns the suggestions of the agent's own program that the person may accept. */
export function acceptableSuggestions(ask: ApprovalAsk, may: May): NonNullable<ApprovalAsk['suggestions']> {
  const { suggestions = [] } = ask
  return suggestions.filter(({ id }) => answerActions(ask, { kind: 'allow', suggestion: id }).every(may))
}

type AllowAnswer = Extract<Answer, { kind: 'allow' }>

export interface AllowButtonProps extends Pick<ApprovalPanelProps, 'request' | 'ask' | 'submission' | 'fullyShown'> {
  readonly label: string
  readonly answer: AllowAnswer | null
  readonly checking?: boolean | undefined
  readonly shortcut?: string | undefined
}

export function AllowButton(props: AllowButtonProps): ReactNode {
  const { request, ask, submission, fullyShown, label, answer, checking, shortcut } = props
  const { descriptionId } = use(CardContext)
  const agent = useAgentName(request.session)
  const button: AnswerButtonProps = {
    submission,
    label,
    busyLabel: textsFor(ask).allowing,
    answer: fullyShown ? answer : null,
    className: 'primary allow',
    descriptionId,
  }
  return isDangerous(request) ? (
    <DangerousAnswerButton {...button} warning={dangerWarning(request, agent)} />
  ) : (
    <AnswerButton {...button} checking={checking} shortcut={shortcut} />
  )
}
