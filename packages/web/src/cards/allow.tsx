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

/** The yes of a card's first row and of its key: what was written for the agent goes with it, also where its field is closed. */
export function plainYes(
  ask: ApprovalAsk,
  { note, mode }: AnswerDraft,
): Pick<AllowProps, 'label'> & { readonly answer: AllowAnswer } {
  const given = note?.trim()
  const plan = ask.plan !== undefined
  const [bare, noted] = plan ? ['Approve plan', 'Approve with your note'] : ['Allow once', 'Allow with your note']
  return {
    label: given ? noted : bare,
    answer: { kind: 'allow', ...(given && { note: given }), ...(plan && mode && { mode }) },
  }
}

type AllowAnswer = Extract<Answer, { kind: 'allow' }>

export interface AllowProps {
  readonly hand: Hand
  readonly ask: ApprovalAsk
  readonly shown: boolean
  readonly label: string
  readonly answer: AllowAnswer | null
  readonly shortcut?: string
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
