/** Questions of opencode to the person. */
import { defaultDenyReason, limits, type QuestionsAsk } from '@holdpoint/protocol'
import type { Decision } from '../session/decisions.ts'
import { opencodeReads } from './messages.ts'
import type { QuestionRequest } from './wire.ts'

export function opencodeQuestions({ questions }: QuestionRequest): QuestionsAsk {
  return {
    kind: 'questions',
    questions: questions.map(({ question, header, options, multiple = false }, index) => ({
      id: String(index),
      header: header.slice(0, limits.titleMax).toWellFormed(),
      question,
      options: options.map(({ label, description }) => ({ label, ...(description ? { description } : {}) })),
      multiSelect: multiple,
      allowOther: true,
      secret: false,
    })),
  }
}

/** Returns the answers in the order of the questions. If a question is rejected, opencode's model gets no reason, so the reason is sent as the answer. */
export function questionAnswers(ask: QuestionsAsk, { answer, text }: Decision): readonly (readonly string[])[] {
  if (answer?.kind !== 'answers') return ask.questions.map(() => [opencodeReads.notAnswered(text ?? defaultDenyReason)])
  return ask.questions.map(({ id }) => {
    const { chosen = [], other } = answer.answers.find(given => given.id === id) ?? {}
    return [...chosen, ...(other === undefined ? [] : [other])]
  })
}
