/** Questions, key by key: chosen from a list, typed, or both. */
import type { Answer, Question, QuestionAnswer, QuestionsAsk } from '@holdpoint/protocol'
import { emptySelection, type ListSelection, pressSelection } from './list-selection.ts'
import { decisionOf, type PromptInput, type PromptStep, typing } from './prompt-step.ts'
import { emptyTextInput, type TextInput, textInputWith } from './text-input.ts'

export interface QuestionState {
  readonly pick: ListSelection
  readonly line: TextInput
  /** An answer in the person's own words. */
  readonly other: string
  readonly skipped: boolean
  /** What stands in the line came from the editor: it is no word to us, whatever it looks like. */
  readonly literal: boolean
}
export interface QuestionsState {
  readonly kind: 'questions'
  readonly at: number
  readonly replies: readonly QuestionState[]
  readonly stage: 'choose' | 'other' | 'reason'
  readonly reason: TextInput
}

export const emptyQuestion: QuestionState = {
  pick: emptySelection,
  line: emptyTextInput,
  other: '',
  skipped: false,
  literal: false,
}

export function openQuestions({ questions }: QuestionsAsk): QuestionsState {
  const replies = questions.map(() => emptyQuestion)
  return atQuestion({ kind: 'questions', at: 0, replies, stage: 'choose', reason: emptyTextInput }, questions, 0)
}

/** Words that steer where every letter is text. */
export const steering = { reject: '/reject', stop: '/stop', edit: '/edit', skip: '/skip' } as const

export function pressQuestions(
  part: QuestionsState,
  ask: QuestionsAsk,
  press: PromptInput,
): PromptStep<QuestionsState> {
  if (part.stage === 'reason') return giveReason(part, press)
  return part.stage === 'other' ? typeAnswer(part, ask, press) : choose(part, ask, press)
}

function choose(part: QuestionsState, ask: QuestionsAsk, press: PromptInput): PromptStep<QuestionsState> {
  const { question, reply } = current(part, ask)
  const { options, multiSelect: many, allowOther } = question
  const pick = press.name === 'edited' ? null : pressSelection(reply.pick, press, { count: options.length, many })
  if (pick) {
    // One or the other, where only one may be given.
    const other = many ? reply.other : ''
    return { part: withReply(part, { ...reply, pick, other, skipped: false }) }
  }
  if (press.name === 'enter') return press.alone ? confirm(part, ask) : { part, unused: true }
  if (press.name === 'left') return { part: atQuestion(part, ask.questions, part.at - 1) }
  switch (decisionOf(press)) {
    case 'r':
      return { part, answer: { kind: 'decline' } }
    case 'x':
      return { part, answer: { kind: 'decline', interrupt: true } }
    case 'o':
      if (!allowOther) return { part, hint: 'This question takes one of its options, and no other answer.' }
      return {
        part: { ...withReply(part, { ...reply, line: textInputWith(reply.other || reply.line.text) }), stage: 'other' },
      }
    case 's':
      if (ask.questions.length === 1) return { part, unused: true }
      return next(withReply(part, { ...emptyQuestion, skipped: true }), ask)
    case 'R':
      return { part: { ...part, stage: 'reason' } }
    default:
      return { part, unused: true }
  }
}

function confirm(part: QuestionsState, ask: QuestionsAsk): PromptStep<QuestionsState> {
  const { question, reply } = current(part, ask)
  const { cursor, marked } = reply.pick
  if (question.multiSelect ? marked.length > 0 || reply.other !== '' : cursor >= 0) return next(part, ask)
  const how = question.multiSelect ? 'Mark one or more with space or their numbers' : 'Choose one by its number'
  return { part, hint: `${how}, then Enter. ${question.allowOther ? 'o types another answer; r' : 'r'} rejects.` }
}

function typeAnswer(part: QuestionsState, ask: QuestionsAsk, press: PromptInput): PromptStep<QuestionsState> {
  const { question, reply } = current(part, ask)
  const typed = typing(reply.line, press)
  if (!typed) return { part, unused: true }
  if ('line' in typed)
    return { part: withReply(part, { ...reply, line: typed.line, literal: press.name === 'edited' }) }
  if ('left' in typed) {
    if (question.options.length > 0) return { part: { ...part, stage: 'choose' } }
    return { part: atQuestion(part, ask.questions, part.at - 1) }
  }
  const steered = reply.literal ? null : steer(part, ask, typed.done)
  if (steered) return steered
  if (typed.done === '')
    return { part, hint: `An empty answer is none: type one, then Enter. ${steering.reject} rejects.` }
  const said = withReply(part, { ...reply, other: reply.line.text, skipped: false })
  // Beside marks it is one answer of several: the list is confirmed as a whole.
  if (question.multiSelect && question.options.length > 0) return { part: { ...said, stage: 'choose' } }
  return next(withReply(said, { ...current(said, ask).reply, pick: emptySelection }), ask)
}

export const keptOutOfFiles = 'A secret is not put into a file: type it here.'

/** What a line says to us instead of to the agent; null where it is an answer. */
function steer(part: QuestionsState, ask: QuestionsAsk, said: string): PromptStep<QuestionsState> | null {
  const { question, reply } = current(part, ask)
  const rejection = rejectionOf(said)
  if (rejection) return { part, answer: rejection }
  if (said === steering.skip && ask.questions.length > 1)
    return next(withReply(part, { ...emptyQuestion, skipped: true }), ask)
  if (said !== steering.edit) return null
  if (question.secret)
    return {
      part: withReply(part, { ...reply, line: emptyTextInput }),
      hint: keptOutOfFiles,
    }
  return { part: withReply(part, { ...reply, line: emptyTextInput }), edit: reply.other }
}

/** `/reject`, with or without a reason behind it, or `/stop`. */
export function rejectionOf(said: string): Answer | null {
  if (said === steering.stop) return { kind: 'decline', interrupt: true }
  if (said === steering.reject) return { kind: 'decline' }
  if (!said.startsWith(`${steering.reject} `)) return null
  return { kind: 'decline', reason: said.slice(steering.reject.length).trim() }
}

function giveReason(part: QuestionsState, press: PromptInput): PromptStep<QuestionsState> {
  const typed = typing(part.reason, press)
  if (!typed) return { part, unused: true }
  if ('line' in typed) return { part: { ...part, reason: typed.line } }
  if ('left' in typed) return { part: { ...part, stage: 'choose' } }
  if (typed.done === '') return { part, hint: 'Say why, then Enter; Esc goes back, and r rejects without a reason.' }
  return { part, answer: { kind: 'decline', reason: typed.done } }
}

/** On to the next question; behind the last, the answer. */
function next(part: QuestionsState, ask: QuestionsAsk): PromptStep<QuestionsState> {
  if (part.at + 1 < ask.questions.length) return { part: atQuestion(part, ask.questions, part.at + 1) }
  const answers = ask.questions.flatMap((question, index) => answerOf(question, part.replies[index] ?? emptyQuestion))
  if (answers.length === 0)
    return { part, hint: `None of them is answered. Answer one, or reject all with r or ${steering.reject}.` }
  return { part, answer: { kind: 'answers', answers } }
}

function answerOf({ id, options, multiSelect }: Question, { pick, other, skipped }: QuestionState): QuestionAnswer[] {
  if (skipped) return []
  const said = other === '' ? {} : { other }
  const indices = multiSelect ? pick.marked : other === '' && pick.cursor >= 0 ? [pick.cursor] : []
  const chosen = indices.flatMap(index => options[index]?.label ?? [])
  return chosen.length === 0 && other === '' ? [] : [{ id, chosen, ...said }]
}

/** At another question, in the way in which that is answered; before the first there is none. */
export function atQuestion(part: QuestionsState, questions: readonly Question[], index: number): QuestionsState {
  const to = Math.max(0, index)
  return { ...part, at: to, stage: questions[to]?.options.length === 0 ? 'other' : 'choose' }
}

export function current(part: QuestionsState, { questions }: QuestionsAsk) {
  return {
    question: questions[part.at] as Question, // `at` never leaves the list
    reply: part.replies[part.at] ?? emptyQuestion,
  }
}
function withReply(part: QuestionsState, reply: QuestionState): QuestionsState {
  return { ...part, replies: part.replies.map((old, index) => (index === part.at ? reply : old)) }
}
