/** What a request contains, and the part of it that its digest covers: what executes, not how it is titled (G7). */
import { z } from 'zod'
import { FormSchema, isSecretField } from './form.ts'
import type { SessionId } from './ids.ts'
import { canonicalJson, JsonObject } from './json.ts'
import { limits } from './limits.ts'

const text = (max: number) => z.string().max(max, `is longer than ${max} characters`)
const filled = (max: number) => text(max).min(1, 'must not be empty')

export const Suggestion = z.strictObject({
  id: filled(limits.nameMax),
  label: filled(limits.labelMax),
  scope: text(limits.nameMax),
})
export const Caution = z.strictObject({
  defaultToNo: z.boolean().optional(),
  noRemember: z.boolean().optional(),
  reason: text(limits.reasonMax).optional(),
  blockedPath: text(limits.pathMax).optional(),
})
export const ApprovalAsk = z.strictObject({
  kind: z.literal('approval'),
  tool: filled(limits.nameMax),
  input: JsonObject,
  title: filled(limits.titleMax),
  description: text(limits.reasonMax).optional(),
  cwd: text(limits.pathMax),
  editable: z.boolean(),
  plan: text(limits.textMax).optional(),
  suggestions: z.array(Suggestion).max(limits.suggestionsMax).optional(),
  /** Those that it can be allowed into; left out: all of its driver's. */
  modes: z.array(filled(limits.nameMax)).max(limits.optionsMax).optional(),
  caution: Caution.optional(),
})
export const QuestionOption = z.strictObject({
  label: filled(limits.labelMax),
  description: text(limits.reasonMax).optional(),
  preview: text(limits.textMax).optional(),
})
export const Question = z
  .strictObject({
    id: filled(limits.nameMax),
    header: text(limits.titleMax),
    question: filled(limits.reasonMax),
    options: z.array(QuestionOption).max(limits.optionsMax),
    multiSelect: z.boolean(),
    allowOther: z.boolean(),
    secret: z.boolean(),
  })
  .refine(q => q.options.length > 0 || q.allowOther, {
    path: ['options'],
    message: 'needs at least one option, or allowOther',
  })
  .refine(q => new Set(q.options.map(o => o.label)).size === q.options.length, {
    path: ['options'],
    message: 'names a label twice',
  })
export const QuestionsAsk = z.strictObject({
  kind: z.literal('questions'),
  questions: z
    .array(Question)
    .min(1, 'needs at least one question')
    .max(limits.questionsMax)
    .refine(all => new Set(all.map(q => q.id)).size === all.length, 'names a question id twice'),
})
export const FormAsk = z.strictObject({
  kind: z.literal('form'),
  title: filled(limits.titleMax),
  message: text(limits.reasonMax),
  schema: FormSchema,
  url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .max(limits.pathMax)
    .optional(),
})
export const Ask = z.discriminatedUnion('kind', [ApprovalAsk, QuestionsAsk, FormAsk], {
  error: issue => (issue.code === 'invalid_union' ? 'kind must be approval, questions or form' : undefined),
})
export type Ask = z.infer<typeof Ask>
export type ApprovalAsk = z.infer<typeof ApprovalAsk>
export type QuestionsAsk = z.infer<typeof QuestionsAsk>
export type FormAsk = z.infer<typeof FormAsk>
export type Question = z.infer<typeof Question>

/** The questions or fields whose answers are for the agent only, by id or name. */
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

const digestVersion = 1

/** The canonical text that a request's digest is the SHA-256 of. */
export function digestText(session: SessionId, ask: Ask): string {
  const base = { version: digestVersion, session, kind: ask.kind }
  switch (ask.kind) {
    case 'approval':
      return canonicalJson({ ...base, tool: ask.tool, input: ask.input, cwd: ask.cwd, plan: ask.plan })
    case 'questions':
      return canonicalJson({ ...base, questions: ask.questions })
    case 'form':
      return canonicalJson({ ...base, schema: ask.schema, url: ask.url })
  }
}
