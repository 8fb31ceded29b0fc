/** The schema of forms, a subset of JSON Schema that a person can fill in (flat objects of text, numbers, switches and choices), and `formProblem`, which checks the values. */
import { z } from 'zod'
import { regexes } from 'zod/v4/core'
import { limits } from './limits.ts'

const labels = {
  title: z.string().max(limits.titleMax).optional().describe('The label of the field.'),
  description: z.string().max(limits.reasonMax).optional().describe('A help text for the field.'),
}
const Choice = z.looseObject({
  const: z.string().max(limits.labelMax).describe('The value of the choice.'),
  title: z.string().max(limits.labelMax).optional().describe('The text that people see.'),
})
const choices = z
  .array(Choice)
  .min(1)
  .max(limits.optionsMax)
  .optional()
  .describe('The choices, each with a value and a text.')
const values = z
  .array(z.string().max(limits.labelMax))
  .min(1)
  .max(limits.optionsMax)
  .optional()
  .describe('The choices.')

const TextField = z.looseObject({
  ...labels,
  type: z.literal('string').describe('A text field.'),
  enum: values,
  oneOf: choices,
  minLength: z.int().min(0).optional().describe('The smallest number of characters.'),
  maxLength: z.int().min(0).optional().describe('The largest number of characters.'),
  format: z
    .string()
    .max(limits.nameMax)
    .optional()
    .describe('"email", "uri", "date", "date-time", or "password" for a secret. Other formats are not checked.'),
  default: z.string().max(limits.textMax).optional().describe('The value that the form starts with.'),
})
const NumberField = z.looseObject({
  ...labels,
  type: z.enum(['number', 'integer']).describe('A field for a number, or for a whole number.'),
  minimum: z.number().optional().describe('The smallest value.'),
  maximum: z.number().optional().describe('The largest value.'),
  default: z.number().optional().describe('The value that the form starts with.'),
})
const SwitchField = z.looseObject({
  ...labels,
  type: z.literal('boolean').describe('A yes-or-no field.'),
  default: z.boolean().optional().describe('The value that the form starts with.'),
})
const ListField = z.looseObject({
  ...labels,
  type: z.literal('array').describe('A field for several choices.'),
  items: z.looseObject({ enum: values, anyOf: choices, oneOf: choices }).describe('The choices of the list.'),
  minItems: z.int().min(0).optional().describe('The smallest number of choices.'),
  maxItems: z.int().min(0).optional().describe('The largest number of choices.'),
  default: z.array(z.string()).optional().describe('The values that the form starts with.'),
})
export const FormField = z
  .discriminatedUnion('type', [TextField, NumberField, SwitchField, ListField])
  .describe('One field of a form, in JSON Schema. `writeOnly: true` makes the value a secret.')
export type FormField = z.infer<typeof FormField>

export const FormSchema = z
  .looseObject({
    type: z.literal('object').describe('Always "object".'),
    properties: z
      .record(z.string().max(limits.nameMax), FormField)
      .refine(fields => Object.keys(fields).length <= limits.fieldsMax, `has more than ${limits.fieldsMax} fields`)
      .describe('The fields by name, in the order in which the form shows them.'),
    required: z.array(z.string()).optional().describe('The names of the fields that must be filled in.'),
  })
  .refine(({ properties, required }) => (required ?? []).every(name => Object.hasOwn(properties, name)), {
    path: ['required'],
    message: 'names a field that the form does not have',
  })
  .describe('The form as a JSON Schema of a flat object.')
export type FormSchema = z.infer<typeof FormSchema>

/** Returns whether only the agent may see the value of the field. JSON Schema marks such a field with `writeOnly` or the format "password". */
export function isSecretField(field: FormField): boolean {
  return field.writeOnly === true || (field.type === 'string' && field.format === 'password')
}

/** Returns the choices of a field, or null if the person can enter any value. */
export function fieldChoices(field: FormField): readonly { value: string; title: string }[] | null {
  const source = field.type === 'array' ? field.items : field.type === 'string' ? field : null
  if (!source) return null
  if (source.enum) return source.enum.map(value => ({ value, title: value }))
  const choices = source.oneOf ?? ('anyOf' in source ? source.anyOf : undefined)
  return Array.isArray(choices) ? choices.map(item => ({ value: item.const, title: item.title ?? item.const })) : null
}

/** Returns one sentence that names an invalid field and the problem, or null if all values are valid. */
export function formProblem(schema: FormSchema, values: Readonly<Record<string, unknown>>): string | null {
  for (const name of Object.keys(values))
    if (!Object.hasOwn(schema.properties, name)) return `"${name}" is not a field of this form`
  for (const name of schema.required ?? []) if (!Object.hasOwn(values, name)) return `"${name}" is required`
  for (const [name, field] of Object.entries(schema.properties)) {
    const problem = Object.hasOwn(values, name) ? fieldProblem(field, values[name]) : null
    if (problem) return `"${name}" ${problem}`
  }
  return null
}

function fieldProblem(field: FormField, value: unknown): string | null {
  const offered = fieldChoices(field)?.map(choice => choice.value)
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false'
    case 'number':
    case 'integer':
      if (
        typeof value !== 'number' ||
        !Number.isFinite(value) ||
        (field.type === 'integer' && !Number.isInteger(value))
      )
        return field.type === 'integer' ? 'must be a whole number' : 'must be a number'
      if (field.minimum !== undefined && value < field.minimum) return `must be at least ${field.minimum}`
      if (field.maximum !== undefined && value > field.maximum) return `must be at most ${field.maximum}`
      return null
    case 'string':
      if (typeof value !== 'string') return 'must be text'
      if (offered && !offered.includes(value)) return `must be one of ${offered.join(', ')}`
      if (field.minLength !== undefined && lengthOf(value) < field.minLength)
        return `must have at least ${counted(field.minLength, 'character')}`
      if (field.maxLength !== undefined && lengthOf(value) > field.maxLength)
        return `must have at most ${counted(field.maxLength, 'character')}`
      return field.format ? formatProblem(field.format, value) : null
    case 'array':
      if (!Array.isArray(value) || value.some(item => typeof item !== 'string')) return 'must be a list of choices'
      if (offered && value.some(item => !offered.includes(item))) return `may only contain ${offered.join(', ')}`
      if (new Set(value).size !== value.length) return 'contains the same choice twice'
      if (field.minItems !== undefined && value.length < field.minItems)
        return `needs at least ${counted(field.minItems, 'choice')}`
      if (field.maxItems !== undefined && value.length > field.maxItems)
        return `takes at most ${counted(field.maxItems, 'choice')}`
      return null
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Counts characters as JSON Schema does. The `length` of a string would count UTF-16 code units. */
function lengthOf(text: string): number {
  return [...text].length
}

const offsetTime = regexes.datetime({ offset: true })
function formatProblem(format: string, value: string): string | null {
  switch (format) {
    case 'email':
      return regexes.email.test(value) ? null : 'must be an email address'
    case 'uri':
      return URL.canParse(value) ? null : 'must be a URL'
    case 'date':
      return regexes.date.test(value) ? null : 'must be a date like 2026-01-31'
    case 'date-time':
      return offsetTime.test(value) ? null : 'must be a time like 2026-01-31T12:00:00Z'
    default:
      return null
  }
}
