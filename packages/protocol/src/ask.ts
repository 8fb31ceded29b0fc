/** The schemas of asks: approvals, questions and forms. Agents send an `AskInput`, in which fields with a default can be missing. Everybody else sees an `Ask`, in which they are filled in. */
import { z } from 'zod'
import { Action } from './action.ts'
import { FormSchema, isSecretField } from './form.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'

const text = (max: number) => z.string().max(max, `is longer than ${max} characters`)
const nonEmpty = (max: number) => text(max).min(1, 'must not be empty')

export const Suggestion = z
  .strictObject({
    id: nonEmpty(limits.nameMax).describe('The id that an allow names.'),
    label: nonEmpty(limits.labelMax).describe('The text that people see.'),
    scope: text(limits.nameMax).describe(
      'How long the suggestion stays in force. "session" ends with the session. Only the owner can accept a suggestion with another scope, because it changes settings of the agent’s program.',
    ),
    mode: nonEmpty(limits.nameMax)
      .optional()
      .describe('The mode to which the suggestion switches the agent. Only the owner can accept such a suggestion.'),
  })
  .describe('An “always allow” that the agent’s own program offers.')
export const Caution = z
  .strictObject({
    defaultToNo: z.boolean().optional().describe('Whether clients should suggest a deny.'),
    noRemember: z.boolean().optional().describe('Whether an answer with `remember` or `suggestion` is refused.'),
    permanent: z
      .boolean()
      .optional()
      .describe('Whether the agent can allow this only permanently. No rule allows such a call, so a person decides.'),
    reason: text(limits.reasonMax).optional().describe('Why people should be careful.'),
    blockedPath: text(limits.pathMax).optional().describe('The path that made the agent ask.'),
  })
  .describe('Warnings that people should read before they allow an approval.')
export const ApprovalAsk = z
  .strictObject({
    kind: z.literal('approval').describe('Asks whether the agent may run a tool.'),
    tool: nonEmpty(limits.nameMax).describe('The name of the tool.'),
    input: JsonObject.describe('The input of the tool.'),
    action: Action.optional().describe(
      'What the call does, for rules. Leave it out if the input has a `command`, which is a shell command. An action that an agent or a person reports must be part of the input: the exact paths of its files, a URL of the host, or the tool. Otherwise the call is refused.',
    ),
    title: nonEmpty(limits.titleMax).describe('What the agent wants to do, in a few words.'),
    description: text(limits.reasonMax).optional().describe('A longer description, in the agent’s words.'),
    cwd: text(limits.pathMax).describe('The working folder in which the tool would run.'),
    editable: z.boolean().describe('Whether an allow may change the input.'),
    plan: text(limits.textMax).optional().describe('The plan that the agent wants to carry out, in Markdown.'),
    suggestions: z
      .array(Suggestion)
      .max(limits.suggestionsMax)
      .optional()
      .describe('“Always allow” options that the agent’s own program offers.'),
    modes: z
      .array(nonEmpty(limits.nameMax))
      .max(limits.optionsMax)
      .optional()
      .describe('The modes that an allow can switch the agent to. By default, every mode of the driver.'),
    caution: Caution.optional(),
  })
  .describe('Asks to run a tool.')
export const QuestionOption = z
  .strictObject({
    label: nonEmpty(limits.labelMax).describe(
      'The text of the option. An answer contains the labels of the chosen options.',
    ),
    description: text(limits.reasonMax).optional().describe('A longer description of the option.'),
    preview: text(limits.textMax)
      .optional()
      .describe('A preview of the result of choosing this option, for example code.'),
  })
  .describe('An option of a question.')
const questionShape = {
  id: nonEmpty(limits.nameMax).describe('The id of the question, unique in its request.'),
  header: text(limits.titleMax).describe('A short heading for the question.'),
  question: nonEmpty(limits.reasonMax).describe('The text of the question.'),
  options: z.array(QuestionOption).max(limits.optionsMax).describe('The options to choose from.'),
  multiSelect: z.boolean().describe('Whether several options can be chosen.'),
  allowOther: z.boolean().describe('Whether people may write their own answer.'),
  secret: z
    .boolean()
    .describe('Whether only the agent may see the answer. Holdpoint masks the answer for everyone else.'),
}
const checkQuestion = <T extends z.ZodType<z.infer<z.ZodObject<typeof questionShape>>>>(question: T) =>
  question
    .refine(q => q.options.length > 0 || q.allowOther, {
      path: ['options'],
      message: 'needs at least one option, or allowOther',
    })
    .refine(q => new Set(q.options.map(o => o.label)).size === q.options.length, {
      path: ['options'],
      message: 'contains the same label twice',
    })
export const Question = checkQuestion(z.strictObject(questionShape).describe('One question.'))
const questionsOf = <T extends z.ZodType<Question>>(question: T) => ({
  kind: z.literal('questions').describe('Asks questions with options, free text or both.'),
  questions: z
    .array(question)
    .min(1, 'needs at least one question')
    .max(limits.questionsMax)
    .refine(all => new Set(all.map(q => q.id)).size === all.length, 'contains the same question id twice')
    .describe('The questions.'),
})
export const QuestionsAsk = z.strictObject(questionsOf(Question)).describe('Asks one or more questions.')
export const FormAsk = z
  .strictObject({
    kind: z.literal('form').describe('Asks people to fill in a form.'),
    title: nonEmpty(limits.titleMax).describe('The title of the form.'),
    message: text(limits.reasonMax).describe('What the values are for.'),
    schema: FormSchema,
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .max(limits.pathMax)
      .optional()
      .describe('A page that the person should open, for example to sign in.'),
  })
  .describe('Asks for values.')
const kindError = {
  error: (issue: { readonly code: string }) =>
    issue.code === 'invalid_union' ? 'kind must be approval, questions or form' : undefined,
}
export const Ask = z
  .discriminatedUnion('kind', [ApprovalAsk, QuestionsAsk, FormAsk], kindError)
  .describe('What a request asks: an approval, questions or a form.')

export const ApprovalAskInput = ApprovalAsk.extend({
  title: text(limits.titleMax)
    .default('')
    .describe('What the agent wants to do, in a few words. Default: the name of the tool.'),
  cwd: text(limits.pathMax)
    .default('')
    .describe('The working folder in which the tool would run. Default: the folder of the session.'),
  editable: z.boolean().default(false).describe('Whether an allow may change the input. Default: false.'),
})
  .overwrite(ask => (ask.title === '' ? { ...ask, title: ask.tool } : ask))
  .describe('Asks to run a tool.')
export const QuestionInput = checkQuestion(
  z
    .strictObject({
      ...questionShape,
      header: questionShape.header.default('').describe('A short heading for the question.'),
      options: questionShape.options.default([]).describe('The options to choose from. Default: none.'),
      multiSelect: z.boolean().default(false).describe('Whether several options can be chosen. Default: false.'),
      allowOther: z.boolean().default(false).describe('Whether people may write their own answer. Default: false.'),
      secret: z
        .boolean()
        .default(false)
        .describe(
          'Whether only the agent may see the answer. Holdpoint masks the answer for everyone else. Default: false.',
        ),
    })
    .describe('One question.'),
)
export const QuestionsAskInput = z.strictObject(questionsOf(QuestionInput)).describe('Asks one or more questions.')
export const FormAskInput = FormAsk.extend({
  title: text(limits.titleMax).default('').describe('The title of the form. Default: "Form".'),
  message: text(limits.reasonMax).default('').describe('What the values are for. Default: nothing.'),
})
  .overwrite(ask => (ask.title === '' ? { ...ask, title: 'Form' } : ask))
  .describe('Asks for values.')
export const AskInput = z
  .discriminatedUnion('kind', [ApprovalAskInput, QuestionsAskInput, FormAskInput], kindError)
  .describe('What a request asks: an approval, questions or a form. Fields with a default can be left out.')
export type AskInput = z.input<typeof AskInput>
export type Ask = z.infer<typeof Ask>
export type ApprovalAsk = z.infer<typeof ApprovalAsk>
export type QuestionsAsk = z.infer<typeof QuestionsAsk>
export type FormAsk = z.infer<typeof FormAsk>
export type Question = z.infer<typeof Question>

/** Returns the ask with the folder of its session if it names none. The schema cannot fill in this default, because it does not know the session. */
export function withFolder<T extends Ask>(ask: T, cwd: string): T {
  return ask.kind === 'approval' && ask.cwd === '' ? { ...ask, cwd } : ask
}

/** Returns the ids of the questions, or the names of the form fields, whose answers only the agent may see. */
export function secretFieldIds(ask: Ask): ReadonlySet<string> {
  switch (ask.kind) {
    case 'approval':
      return new Set()
    case 'questions':
      return new Set(ask.questions.filter(({ secret }) => secret).map(({ id }) => id))
    case 'form': {
      const fields = Object.entries(ask.schema.properties)
      return new Set(fields.filter(([, field]) => isSecretField(field)).map(([name]) => name))
    }
  }
}
