/** What is said back, and whether it fits the ask. An answer that does not fit resolves nothing. */
import { z } from 'zod'
import type { Ask, Question } from './ask.ts'
import { formProblem } from './form.ts'
import { type Json, JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { RuleDraft } from './rule.ts'

const reason = z.string().max(limits.reasonMax).optional()
const interrupt = z.boolean().optional()

export const AllowAnswer = z.strictObject({
  kind: z.literal('allow'),
  input: JsonObject.optional(),
  note: z.string().max(limits.reasonMax).optional(),
  mode: z.string().max(limits.nameMax).optional(),
  suggestion: z.string().max(limits.nameMax).optional(),
  remember: RuleDraft.optional(),
})
export const DenyAnswer = z.strictObject({ kind: z.literal('deny'), reason, interrupt })
export const QuestionAnswer = z.strictObject({
  id: z.string().max(limits.nameMax),
  chosen: z.array(z.string().max(limits.labelMax)).max(limits.optionsMax),
  other: z.string().min(1).max(limits.textMax).optional(),
})
export const AnswersAnswer = z.strictObject({
  kind: z.literal('answers'),
  answers: z.array(QuestionAnswer).max(limits.questionsMax),
})
export const SubmitAnswer = z.strictObject({ kind: z.literal('submit'), values: JsonObject })
export const DeclineAnswer = z.strictObject({ kind: z.literal('decline'), reason, interrupt })

export const Answer = z.discriminatedUnion(
  'kind',
  [AllowAnswer, DenyAnswer, AnswersAnswer, SubmitAnswer, DeclineAnswer],
  {
    error: issue =>
      issue.code === 'invalid_union' ? 'kind must be allow, deny, answers, submit or decline' : undefined,
  },
)
export type Answer = z.infer<typeof Answer>
export type QuestionAnswer = z.infer<typeof QuestionAnswer>

export const AnswerKind = z.enum(['allow', 'deny', 'answers', 'submit', 'decline']) satisfies z.ZodType<Answer['kind']>

/** What a deny without words says to the agent. */
export const defaultDenyReason = 'A person declined this.'

const kindsFor = {
  approval: ['allow', 'deny'],
  questions: ['answers', 'decline'],
  form: ['submit', 'decline'],
} as const

/** Why the answer does not fit, as one sentence; null where it does. */
export function answerProblem(ask: Ask, answer: Answer): string | null {
  const kinds: readonly string[] = kindsFor[ask.kind]
  if (!kinds.includes(answer.kind))
    return `a request of kind ${ask.kind} takes ${kinds.join(' or ')}, not ${answer.kind}`
  if (ask.kind === 'approval' && answer.kind === 'allow') {
    if (answer.input && !ask.editable) return 'this request is not editable: leave input out'
    const wrong = answer.input ? misfitOfInput(ask.input, answer.input) : null
    if (wrong) return wrong
    if (answer.suggestion !== undefined && !ask.suggestions?.some(offered => offered.id === answer.suggestion))
      return `"${answer.suggestion}" is not a suggestion of this request`
    if (answer.mode !== undefined && ask.modes && !ask.modes.includes(answer.mode))
      return `this request cannot be allowed into the mode "${answer.mode}"; there is ${ask.modes.join(', ')}`
    if ((answer.remember || answer.suggestion !== undefined) && ask.caution?.noRemember)
      return 'this request must not be remembered'
    return null
  }
  if (ask.kind === 'questions' && answer.kind === 'answers') return misfitOfAnswers(ask.questions, answer.answers)
  if (ask.kind === 'form' && answer.kind === 'submit') return formProblem(ask.schema, answer.values)
  return null
}

/** What was asked for is of the shape that the tool takes: an edit that keeps every member and its type does not leave it by accident (G7). */
function misfitOfInput(asked: JsonObject, edited: JsonObject): string | null {
  for (const [name, was] of Object.entries(asked)) {
    if (!Object.hasOwn(edited, name)) return `the edited input lacks "${name}", which was asked for`
    const [before, now] = [typeOf(was), typeOf(edited[name])]
    if (now !== before) return `"${name}" of the edited input must be ${before}, as it was asked, not ${now}`
  }
  return null
}
function typeOf(value: Json | undefined): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return { string: 'text', number: 'a number', boolean: 'true or false' }[typeof value as string] ?? 'an object'
}

function misfitOfAnswers(questions: readonly Question[], answers: readonly QuestionAnswer[]): string | null {
  if (new Set(answers.map(a => a.id)).size !== answers.length) return 'a question is answered twice'
  for (const answer of answers) {
    const question = questions.find(q => q.id === answer.id)
    if (!question) return `there is no question "${answer.id}"`
    const wrong = misfitOfAnswer(question, answer)
    if (wrong) return `question "${answer.id}": ${wrong}`
  }
  return null
}

function misfitOfAnswer(question: Question, { chosen, other }: QuestionAnswer): string | null {
  const unknown = chosen.find(label => !question.options.some(option => option.label === label))
  if (unknown !== undefined) return `"${unknown}" is not one of its options`
  if (new Set(chosen).size !== chosen.length) return 'an option is chosen twice'
  if (other !== undefined && !question.allowOther) return 'it takes no answer of your own'
  const given = chosen.length + (other === undefined ? 0 : 1)
  if (given === 0) return 'nothing is chosen; leave the question out to not answer it'
  if (!question.multiSelect && given > 1) return 'it takes exactly one: one option, or an answer of your own'
  return null
}
