/** From what is ticked and written to the answers that are sent: which questions are answered, and how. */
import type { DraftChoice } from '@holdpoint/client'
import type { Question, QuestionAnswer, QuestionsAsk } from '@holdpoint/protocol'

/** Words of one's own count where they are chosen: always, where there is nothing else to choose. */
export interface Picked extends DraftChoice {
  readonly own: boolean
}
export const nothingPicked: Picked = { chosen: [], own: false }

export function pickedOf(choice: DraftChoice | undefined): Picked {
  return choice ? { ...choice, own: choice.own ?? false } : nothingPicked
}

export function pick({ multiSelect }: Question, picked: Picked, label: string): Picked {
  const { chosen } = picked
  if (!multiSelect) return { ...picked, chosen: [label], own: false }
  return { ...picked, chosen: chosen.includes(label) ? chosen.filter(each => each !== label) : [...chosen, label] }
}

/** Writing chooses; for a single choice it takes the choice back from the options. */
export function write({ multiSelect }: Question, picked: Picked, other: string): Picked {
  const own = other !== ''
  return { chosen: own && !multiSelect ? [] : picked.chosen, own, ...(own && { other }) }
}

export function pickOwn({ multiSelect }: Question, picked: Picked): Picked {
  return multiSelect ? { ...picked, own: !picked.own } : { ...picked, chosen: [], own: true }
}

/** Null while it is not answered. */
export function answerOf(question: Question, { chosen, other, own }: Picked): QuestionAnswer | null {
  const words = own && question.allowOther && other?.trim() ? other : undefined
  if (chosen.length === 0 && words === undefined) return null
  // In the order in which they were offered, whatever the order of the ticks.
  const ordered = question.options.map(option => option.label).filter(label => chosen.includes(label))
  return { id: question.id, chosen: ordered, ...(words !== undefined && { other: words }) }
}

export function answersOf({ questions }: QuestionsAsk, picks: ReadonlyMap<string, Picked>): readonly QuestionAnswer[] {
  return questions
    .map(question => answerOf(question, picks.get(question.id) ?? nothingPicked))
    .filter(answer => answer !== null)
}

/** What may be kept of it: nothing of a secret. */
export function draftOf(
  { questions }: QuestionsAsk,
  picks: ReadonlyMap<string, Picked>,
): ReadonlyMap<string, DraftChoice> {
  return new Map(
    questions.flatMap(({ id, secret }): [string, DraftChoice][] => {
      const { chosen, other, own } = picks.get(id) ?? nothingPicked
      if (secret || (chosen.length === 0 && !other && !own)) return []
      return [[id, { chosen, ...(other && { other }), ...(own && { own }) }]]
    }),
  )
}

/** The question that a number key speaks to: the one that the person is at, else the first that is not answered, else the last. */
export function questionInTurn(
  { questions }: QuestionsAsk,
  picks: ReadonlyMap<string, Picked>,
  at: string | null,
): Question | undefined {
  const here = questions.find(question => question.id === at)
  if (here) return here
  const open = questions.find(question => !answerOf(question, picks.get(question.id) ?? nothingPicked))
  return open ?? questions.at(-1)
}
