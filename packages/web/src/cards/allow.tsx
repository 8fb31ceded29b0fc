/** Every yes to an approval is said by one button, which knows when it may not be pressed; and what every step around it needs. */
import type { AnswerDraft } from '@holdpoint/client'
import type { Answer, ApprovalAsk, Request } from '@holdpoint/protocol'
import { type ReactNode, use } from 'react'
import { Decide, DecideDangerous, type DecideProps } from './decide.tsx'
import type { Hand } from './hand.ts'
import { CardContext } from './key-hint.tsx'
import type { Steps } from './step.ts'
import type { Drafting } from './use-draft.ts'

/** What every step of an approval needs to know. */
export interface ApprovalStepProps {
  readonly request: Request
  readonly ask: ApprovalAsk
  readonly hand: Hand
  readonly drafting: Drafting
  readonly steps: Steps
  /** Everything that would run was on the screen. */
  readonly shown: boolean
}

/** A yes, with what was written for the agent, also where its field is closed; and to a plan with the mode that stands beside it. */
export function yesTo({ plan }: ApprovalAsk, { note, mode }: AnswerDraft, input?: AllowAnswer['input']): AllowAnswer {
  const given = note?.trim()
  return {
    kind: 'allow',
    ...(input && { input }),
    ...(given && { note: given }),
    ...(plan !== undefined && mode && { mode }),
  }
}

/** The yes of a card's first row and of its key. */
export function plainYes(
  ask: ApprovalAsk,
  draft: AnswerDraft,
): Pick<AllowProps, 'label'> & { readonly answer: AllowAnswer } {
  const answer = yesTo(ask, draft)
  const { bare, noted, unedited } = yesWords[ask.plan === undefined ? 'approval' : 'plan']
  return { label: draft.edit !== undefined ? unedited : answer.note ? noted : bare, answer }
}

const yesWords = {
  approval: { bare: 'Allow once', noted: 'Allow with your note', unedited: 'Allow as asked, without your edit' },
  plan: { bare: 'Approve plan', noted: 'Approve with your note', unedited: 'Approve as it was, without your edit' },
} as const

type AllowAnswer = Extract<Answer, { kind: 'allow' }>

export interface AllowProps {
  readonly hand: Hand
  readonly ask: ApprovalAsk
  readonly shown: boolean
  readonly label: string
  readonly answer: AllowAnswer | null
  readonly shortcut?: string | undefined
}

export function Allow({ hand, ask, shown, label, answer, shortcut }: AllowProps): ReactNode {
  const { about } = use(CardContext)
  const props: DecideProps = {
    hand,
    label,
    busy: ask.plan === undefined ? 'Allowing…' : 'Approving…',
    answer: shown ? answer : null,
    className: 'primary allow',
    about,
  }
  return ask.caution?.defaultToNo ? <DecideDangerous {...props} /> : <Decide {...props} shortcut={shortcut} />
}
