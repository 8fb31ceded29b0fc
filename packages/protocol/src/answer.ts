/** Answers, and the check that an answer fits its ask. An answer that does not fit resolves nothing. */
import { z } from 'zod'
import type { Ask, Question } from './ask.ts'
import { formProblem } from './form.ts'
import { type Json, JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { RuleDraft } from './rule.ts'

const reason = z.string().max(limits.reasonMax).optional().describe('Why. The agent reads it.')
const interrupt = z.boolean().optional().describe('Whether to stop the current turn as well.')

export const AllowAnswer = z
  .strictObject({
    kind: z.literal('allow').describe('Run it. Fits an approval.'),
    input: JsonObject.optional().describe('Changed input to run instead, if the ask is editable.'),
    note: z.string().max(limits.reasonMax).optional().describe('A note that the agent reads with the result.'),
    mode: z.string().max(limits.nameMax).optional().describe('The mode in which the agent continues.'),
    suggestion: z
      .string()
      .max(limits.nameMax)
      .optional()
      .describe('The id of one of the agent’s “always allow” suggestions to accept as well.'),
    remember: RuleDraft.optional().describe('A rule to add with this answer. Not supported in this version.'),
  })
  .describe('Allows the agent to run what it asked for.')
export const DenyAnswer = z
  .strictObject({ kind: z.literal('deny').describe('Do not run it. Fits an approval.'), reason, interrupt })
  .describe('Denies an approval.')
export const QuestionAnswer = z
  .strictObject({
    id: z.string().max(limits.nameMax).describe('The id of the question.'),
    chosen: z
      .array(z.string().max(limits.labelMax))
      .max(limits.optionsMax)
      .describe('The labels of the chosen options; empty if only `other` is given.'),
    other: z.string().min(1).max(limits.textMax).optional().describe('The person’s own answer.'),
  })
  .describe('The answer to one question.')
export const AnswersAnswer = z
  .strictObject({
    kind: z.literal('answers').describe('Answers to questions. Fits questions.'),
    answers: z
      .array(QuestionAnswer)
      .max(limits.questionsMax)
      .describe('One entry per answered question. A question that is left out counts as not answered.'),
  })
  .describe('Answers questions.')
export const SubmitAnswer = z
  .strictObject({
    kind: z.literal('submit').describe('The values of a form. Fits a form.'),
    values: JsonObject.describe('The values by field name. They must match the schema of the form.'),
  })
  .describe('Submits a form.')
export const DeclineAnswer = z
  .strictObject({
    kind: z.literal('decline').describe('No answer will be given. Fits questions and forms.'),
    reason,
    interrupt,
  })
  .describe('Declines questions or a form.')

export const Answer = z
  .discriminatedUnion('kind', [AllowAnswer, DenyAnswer, AnswersAnswer, SubmitAnswer, DeclineAnswer], {
    error: issue =>
      issue.code === 'invalid_union' ? 'kind must be allow, deny, answers, submit or decline' : undefined,
  })
  .describe('An answer to a request.')
export type Answer = z.infer<typeof Answer>
export type QuestionAnswer = z.infer<typeof QuestionAnswer>

export const AnswerKind = z
  .enum(['allow', 'deny', 'answers', 'submit', 'decline'])
  .describe('The kind of an answer.') satisfies z.ZodType<Answer['kind']>

/** The reason that the agent reads if a person denies without one. */
export const defaultDenyReason = 'A person declined this.'

const kindsFor = {
  approval: ['allow', 'deny'],
  questions: ['answers', 'decline'],
  form: ['submit', 'decline'],
} as const

/** Why the answer does not fit the ask, as one sentence; null if it fits. */
export function answerProblem(ask: Ask, answer: Answer): string | null {
  const kinds: readonly string[] = kindsFor[ask.kind]
  if (!kinds.includes(answer.kind))
    return `a request of kind ${ask.kind} takes ${kinds.join(' or ')}, not ${answer.kind}`
  if (ask.kind === 'approval' && answer.kind === 'allow') {
    if (answer.input && !ask.editable) return 'this request is not editable, so leave out input'
    const problem = answer.input ? editedInputProblem(ask.input, answer.input) : null
    if (problem) return problem
    if (answer.suggestion !== undefined && !ask.suggestions?.some(({ id }) => id === answer.suggestion))
      return `"${answer.suggestion}" is not a suggestion of this request`
    if (answer.mode !== undefined && ask.modes && !ask.modes.includes(answer.mode))
      return `this request cannot switch to mode "${answer.mode}"; the modes are ${ask.modes.join(', ')}`
    if ((answer.remember || answer.suggestion !== undefined) && ask.caution?.noRemember)
      return 'the answer to this request must not be remembered'
    return null
  }
  if (ask.kind === 'questions' && answer.kind === 'answers') return questionsProblem(ask.questions, answer.answers)
  if (ask.kind === 'form' && answer.kind === 'submit') return formProblem(ask.schema, answer.values)
  return null
}

/** The asked input has the shape that the tool takes, so an edit must keep every field and its type (G7). */
function editedInputProblem(asked: JsonObject, edited: JsonObject): string | null {
  for (const [name, value] of Object.entries(asked)) {
    if (!Object.hasOwn(edited, name)) return `the edited input lacks "${name}", which the agent asked for`
    const [askedType, editedType] = [typeName(value), typeName(edited[name])]
    if (editedType !== askedType)
      return `"${name}" of the edited input must be ${askedType}, as the agent asked, not ${editedType}`
  }
  return null
}
function typeName(value: Json | undefined): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return { string: 'text', number: 'a number', boolean: 'true or false' }[typeof value as string] ?? 'an object'
}

function questionsProblem(questions: readonly Question[], answers: readonly QuestionAnswer[]): string | null {
  if (new Set(answers.map(a => a.id)).size !== answers.length) return 'a question is answered twice'
  for (const answer of answers) {
    const question = questions.find(q => q.id === answer.id)
    if (!question) return `there is no question "${answer.id}"`
    const problem = questionProblem(question, answer)
    if (problem) return `question "${answer.id}": ${problem}`
  }
  return null
}

function questionProblem(question: Question, { chosen, other }: QuestionAnswer): string | null {
  const unknown = chosen.find(label => !question.options.some(option => option.label === label))
  if (unknown !== undefined) return `"${unknown}" is not one of its options`
  if (new Set(chosen).size !== chosen.length) return 'an option is chosen twice'
  if (other !== undefined && !question.allowOther) return 'it does not take your own answer'
  const answerCount = chosen.length + (other === undefined ? 0 : 1)
  if (answerCount === 0) return 'nothing is chosen; leave out a question that you do not answer'
  if (!question.multiSelect && answerCount > 1) return 'it takes exactly one option or your own answer'
  return null
}
