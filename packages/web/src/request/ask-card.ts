/** What the inside of a card is given, whatever it asks. */
import type { Ask, Request } from '@holdpoint/protocol'
import type { AnswerSubmission } from './answer-submission.ts'
import type { Drafting } from './draft/use-draft.ts'

export interface AskCardProps<A extends Ask> {
  readonly request: Request
  readonly ask: A
  readonly hand: AnswerSubmission
  readonly drafting: Drafting
  /** Puts the focus into the card. */
  readonly open: () => void
}
