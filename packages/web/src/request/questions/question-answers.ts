/** Turns the options a person picked and the text they wrote into the answers to send. */
import type { DraftChoice } from '@holdpoint/client'
import type { Question, QuestionAnswer, QuestionsAsk } from '@holdpoint/protocol'

export interface PickedAnswer extends DraftChoice {
  /** True if "Other" is chosen. Only then is the written text part of the answer. */
  readonly own: boolean
}
export const nothingPicked: PickedAnswer = { chosen: [], own: false }

export function pickedFromDraft(choice: DraftChoice | undefined): PickedAnswer {
  return choice ? { ...choice, own: choice.own ?? false } : nothingPicked
}

export function pickOption({ multiSelect }: Question, picked: PickedAnswer, label: string): PickedAnswer {
  const { chosen } = picked
  if (!multiSelect) return { ...picked, chosen: [label], own: false }
  return { ...picked, chosen: chosen.includes(label) ? chosen.filter(each => each !== label) : [...chosen, label] }
}

/** Stores the text written under "Other". Non-empty text selects "Other", and in a single-choice question deselects the picked option. Empty text deselects "Other". */
export function writeOther({ multiSelect }: Question, picked: PickedAnswer, other: string): PickedAnswer {
  const own = other !== ''
  return { chosen: own && !multiSelect ? [] : picked.chosen, own, ...(own && { other }) }
}

export function toggleOther({ multiSelect }: Question, picked: PickedAnswer): PickedAnswer {
  return multiSelect ? { ...picked, own: !picked.own } : { ...picked, chosen: [], own: true }
}

/** Returns null if the question is not answered. */
export function answerOf(question: Question, { chosen, other, own }: PickedAnswer): QuestionAnswer | null {
  const text = own && question.allowOther && other?.trim() ? other : undefined
  if (chosen.length === 0 && text === undefined) return null
  // Keep the order in which the options were offered, not the order in which the person picked them.
  const ordered = question.options.map(option => option.label).filter(label => chosen.includes(label))
  return { id: question.id, chosen: ordered, ...(text !== undefined && { other: text }) }
}

export function answersOf(
  { questions }: QuestionsAsk,
  picks: ReadonlyMap<string, PickedAnswer>,
): readonly QuestionAnswer[] {
  return questions
    .map(question => answerOf(question, picks.get(question.id) ?? nothingPicked))
    .filter(answer => answer !== null)
}

/** Returns the picks to store in the draft, without the answers to secret questions. */
export function draftChoices(
  { questions }: QuestionsAsk,
  picks: ReadonlyMap<string, PickedAnswer>,
): ReadonlyMap<string, DraftChoice> {
  return new Map(
    questions.flatMap(({ id, secret }): [string, DraftChoice][] => {
      const { chosen, other, own } = picks.get(id) ?? nothingPicked
      if (secret || (chosen.length === 0 && !other && !own)) return []
      return [[id, { chosen, ...(other && { other }), ...(own && { own }) }]]
    }),
  )
}

/** Returns the question that is answered with one click on an option: the only question, with two options of which one is chosen. Previews have to be compared first. */
export function instantQuestion({ questions }: QuestionsAsk): Question | null {
  const [question, another] = questions
  if (!question || another || question.multiSelect || question.secret || question.options.length !== 2) return null
  return question.options.some(({ preview }) => preview !== undefined) ? null : question
}

/** Returns the question that the number keys answer: the focused question, else the first unanswered question, else the last question. */
export function questionForKeys(
  { questions }: QuestionsAsk,
  picks: ReadonlyMap<string, PickedAnswer>,
  focusedId: string | null,
): Question | undefined {
  const focused = questions.find(question => question.id === focusedId)
  if (focused) return focused
  const unanswered = questions.find(question => !answerOf(question, picks.get(question.id) ?? nothingPicked))
  return unanswered ?? questions.at(-1)
}
