/** The schemas of answers, and `answerProblem`, which checks that an answer fits its ask. An answer that does not fit is refused, and the request stays pending. */
import { z } from 'zod'
import type { Ask, Question } from './ask.ts'
import { formProblem } from './form.ts'
import { type Json, JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { RuleDraft } from './rule.ts'

const reason = z
  .string()
  .max(limits.reasonMax)
  .optional()
  .describe('The reason for the answer. The agent reads this text.')
export const Comment = z
  .strictObject({
    path: z.string().min(1).max(limits.pathMax).optional().describe('The file that the comment is about.'),
    edit: z
      .int()
      .min(1)
      .optional()
      .describe('The number of the edit, counted from 1, if the call makes several edits in the file.'),
    line: z.int().min(1).optional().describe('The number of the line, counted from 1.'),
    side: z
      .enum(['before', 'after'])
      .optional()
      .describe(
        'Whether `line` counts the lines of the text that the call replaces ("before") or of the text that replaces it ("after"). Missing if `line` counts the lines of a whole file, a plan or a command.',
      ),
    quote: z.string().max(limits.quoteMax).describe('The text of the line. A long line is cut.'),
    text: z.string().min(1).max(limits.commentMax).describe('What the person says about the line.'),
  })
  .describe('A person’s comment on one line of a change, a plan or a command.')
export type Comment = z.infer<typeof Comment>
const comments = z
  .array(Comment)
  .max(limits.commentsMax)
  .refine(list => JSON.stringify(list).length <= limits.commentsTotalMax, {
    message: `are longer than ${limits.commentsTotalMax} characters together`,
  })
  .optional()
  .describe('Comments on lines of what the agent wants to do. The agent reads them after the reason or the note.')
const askBack = z
  .boolean()
  .optional()
  .describe(
    'Whether the person asks a question before answering. `reason` is the question. The agent is told to answer it in text, and to ask again if it still needs to. The next request of the same agent refers to this one with `follows`.',
  )
const interrupt = z.boolean().optional().describe('Whether to stop the current turn as well.')

export const AllowAnswer = z
  .strictObject({
    kind: z.literal('allow').describe('Allows the agent to run the tool. Fits an approval.'),
    input: JsonObject.optional().describe(
      'The edited input to run instead of the original input. Only for an editable ask.',
    ),
    note: z
      .string()
      .max(limits.reasonMax)
      .optional()
      .describe('A note for the agent, which reads it together with the tool’s result.'),
    comments,
    mode: z.string().max(limits.nameMax).optional().describe('The mode in which the agent continues.'),
    suggestion: z
      .string()
      .max(limits.nameMax)
      .optional()
      .describe('The id of one of the agent’s “always allow” suggestions to accept as well.'),
    remember: RuleDraft.optional().describe(
      'A rule to add together with this answer. It must be an allow rule that covers this request.',
    ),
  })
  .describe('Allows the agent to run what it asked for.')
export const DenyAnswer = z
  .strictObject({
    kind: z.literal('deny').describe('Forbids the agent to run the tool. Fits an approval.'),
    reason,
    comments,
    askBack,
    interrupt,
  })
  .describe('Denies an approval.')
export const QuestionAnswer = z
  .strictObject({
    id: z.string().max(limits.nameMax).describe('The id of the question.'),
    chosen: z
      .array(z.string().max(limits.labelMax))
      .max(limits.optionsMax)
      .describe('The labels of the chosen options. An empty list if the person only gave `other`.'),
    other: z.string().min(1).max(limits.textMax).optional().describe('An answer in the person’s own words.'),
  })
  .describe('The answer to one question.')
export const AnswersAnswer = z
  .strictObject({
    kind: z.literal('answers').describe('Answers one or more questions. Fits questions.'),
    answers: z
      .array(QuestionAnswer)
      .max(limits.questionsMax)
      .describe('One entry per answered question. A question without an entry counts as unanswered.'),
  })
  .describe('Answers questions.')
export const SubmitAnswer = z
  .strictObject({
    kind: z.literal('submit').describe('Submits the values of a form. Fits a form.'),
    values: JsonObject.describe('The values by field name. The values must match the schema of the form.'),
  })
  .describe('Submits a form.')
export const DeclineAnswer = z
  .strictObject({
    kind: z.literal('decline').describe('Tells the agent that no answer will come. Fits questions and forms.'),
    reason,
    askBack,
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

/** The agent reads this reason if a person denies an approval without giving a reason. */
export const defaultDenyReason = 'A person declined this.'

const kindsFor = {
  approval: ['allow', 'deny'],
  questions: ['answers', 'decline'],
  form: ['submit', 'decline'],
} as const

/** Returns one sentence that says why the answer does not fit the ask, or null if the answer fits. */
export function answerProblem(ask: Ask, answer: Answer): string | null {
  const kinds: readonly string[] = kindsFor[ask.kind]
  if (!kinds.includes(answer.kind))
    return `a request of kind ${ask.kind} takes ${kinds.join(' or ')}, not ${answer.kind}`
  if ((answer.kind === 'deny' || answer.kind === 'decline') && answer.askBack) return askBackProblem(ask, answer)
  if (ask.kind === 'approval' && answer.kind === 'allow') {
    if (answer.input && !ask.editable) return 'this request is not editable, so leave out input'
    const problem = answer.input ? editedInputProblem(ask.input, answer.input) : null
    if (problem) return problem
    if (answer.suggestion !== undefined && !ask.suggestions?.some(({ id }) => id === answer.suggestion))
      return `"${answer.suggestion}" is not a suggestion of this request`
    if (answer.mode !== undefined && ask.modes && !ask.modes.includes(answer.mode))
      return `this request cannot switch to mode "${answer.mode}"; the modes are ${ask.modes.join(', ')}`
    if ((answer.remember || answer.suggestion !== undefined) && ask.caution?.noRemember)
      return 'the answer to this request cannot be remembered'
    return null
  }
  if (ask.kind === 'questions' && answer.kind === 'answers') return questionsProblem(ask.questions, answer.answers)
  if (ask.kind === 'form' && answer.kind === 'submit') return formProblem(ask.schema, answer.values)
  return null
}

/** Agents read no reason if a form is declined, so a question about a form would not reach them. */
function askBackProblem(
  ask: Ask,
  { reason = '', interrupt: stops }: Pick<z.infer<typeof DeclineAnswer>, 'reason' | 'interrupt'>,
): string | null {
  if (ask.kind === 'form') return 'you cannot ask back about a form, because its agent would not read the question'
  if (reason.trim() === '') return 'an answer that asks back needs the question as its reason'
  return stops ? 'an answer that asks back must not stop the turn' : null
}

/** Returns which field of the agent's input is missing in the edited input or has another type, or null. The agent's input has the shape that the tool takes, so an edit must keep that shape (G7). */
function editedInputProblem(asked: JsonObject, edited: JsonObject): string | null {
  for (const [name, value] of Object.entries(asked)) {
    if (!Object.hasOwn(edited, name)) return `the edited input lacks "${name}", a field of the agent’s input`
    const [askedType, editedType] = [typeName(value), typeName(edited[name])]
    if (editedType !== askedType)
      return `"${name}" of the edited input must be ${askedType}, as in the agent’s input, not ${editedType}`
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
  if (unknown !== undefined) return `"${unknown}" is not an option`
  if (new Set(chosen).size !== chosen.length) return 'an option is chosen twice'
  if (other !== undefined && !question.allowOther) return 'this question does not take an answer in your own words'
  const answerCount = chosen.length + (other === undefined ? 0 : 1)
  if (answerCount === 0) return 'no option is chosen; leave out a question that you do not answer'
  if (!question.multiSelect && answerCount > 1)
    return 'this question takes exactly one option, or an answer in your own words'
  return null
}
