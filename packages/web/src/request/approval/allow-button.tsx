/** Every yes to an approval is said by one button, which knows when it may not be pressed; and what every step around it needs. */
import type { AnswerDraft } from '@holdpoint/client'
import type { Answer, ApprovalAsk, Request } from '@holdpoint/protocol'
import { type ReactNode, use } from 'react'
import { AnswerButton, type AnswerButtonProps, DangerousAnswerButton } from '../answer-button.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import type { CardPanels } from '../card-panel.ts'
import type { Drafting } from '../draft/use-draft.ts'
import { CardContext } from '../shortcut.tsx'

/** What every step of an approval needs to know. */
export interface ApprovalPanelProps {
  readonly request: Request
  readonly ask: ApprovalAsk
  readonly hand: AnswerSubmission
  readonly drafting: Drafting
  readonly steps: CardPanels
  /** Everything that would run was on the screen. */
  readonly shown: boolean
}

/** A yes, with what was written for the agent, also where its field is closed; and to a plan with the mode that stands beside it. */
export function allowAnswer(
  { plan }: ApprovalAsk,
  { note, mode }: AnswerDraft,
  input?: AllowAnswer['input'],
): AllowAnswer {
  const given = note?.trim()
  return {
    kind: 'allow',
    ...(input && { input }),
    ...(given && { note: given }),
    ...(plan !== undefined && mode && { mode }),
  }
}

/** The yes of a card's first row and of its key. */
export function defaultAllow(
  ask: ApprovalAsk,
  draft: AnswerDraft,
): Pick<AllowButtonProps, 'label'> & { readonly answer: AllowAnswer } {
  const answer = allowAnswer(ask, draft)
  const { bare, noted, unedited } = yesWords[ask.plan === undefined ? 'approval' : 'plan']
  return { label: draft.edit !== undefined ? unedited : answer.note ? noted : bare, answer }
}

const yesWords = {
  approval: { bare: 'Allow once', noted: 'Allow with your note', unedited: 'Allow as asked, without your edit' },
  plan: { bare: 'Approve plan', noted: 'Approve with your note', unedited: 'Approve as it was, without your edit' },
} as const

type AllowAnswer = Extract<Answer, { kind: 'allow' }>

export interface AllowButtonProps {
  readonly hand: AnswerSubmission
  readonly ask: ApprovalAsk
  readonly shown: boolean
  readonly label: string
  readonly answer: AllowAnswer | null
  readonly shortcut?: string | undefined
}

export function AllowButton({ hand, ask, shown, label, answer, shortcut }: AllowButtonProps): ReactNode {
  const { about } = use(CardContext)
  const props: AnswerButtonProps = {
    hand,
    label,
    busy: ask.plan === undefined ? 'Allowing…' : 'Approving…',
    answer: shown ? answer : null,
    className: 'primary allow',
    about,
  }
  return ask.caution?.defaultToNo ? (
    <DangerousAnswerButton {...props} />
  ) : (
    <AnswerButton {...props} shortcut={shortcut} />
  )
}
