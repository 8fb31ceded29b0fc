/** Forms: the part of JSON Schema that a person can fill in (flat objects of text, numbers, switches and choices), and the check of what was filled in. */
import { z } from 'zod'
import { limits } from './limits.ts'

const named = {
  title: z.string().max(limits.titleMax).optional(),
  description: z.string().max(limits.reasonMax).optional(),
}
const Choice = z.looseObject({
  const: z.string().max(limits.labelMax),
  title: z.string().max(limits.labelMax).optional(),
})
const choices = z.array(Choice).min(1).max(limits.optionsMax)
const names = z.array(z.string().max(limits.labelMax)).min(1).max(limits.optionsMax)

const TextField = z.looseObject({
  ...named,
  type: z.literal('string'),
  enum: names.optional(),
  oneOf: choices.optional(),
  minLength: z.int().min(0).optional(),
  maxLength: z.int().min(0).optional(),
  format: z.string().max(limits.nameMax).optional(),
  default: z.string().max(limits.textMax).optional(),
})
const NumberField = z.looseObject({
  ...named,
  type: z.enum(['number', 'integer']),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.number().optional(),
})
const SwitchField = z.looseObject({ ...named, type: z.literal('boolean'), default: z.boolean().optional() })
const ListField = z.looseObject({
  ...named,
  type: z.literal('array'),
  items: z.looseObject({ enum: names.optional(), anyOf: choices.optional(), oneOf: choices.optional() }),
  minItems: z.int().min(0).optional(),
  maxItems: z.int().min(0).optional(),
  default: z.array(z.string()).optional(),
})
export const FormField = z.discriminatedUnion('type', [TextField, NumberField, SwitchField, ListField])
export type FormField = z.infer<typeof FormField>

export const FormSchema = z
  .looseObject({
    type: z.literal('object'),
    properties: z
      .record(z.string().max(limits.nameMax), FormField)
      .refine(fields => Object.keys(fields).length <= limits.fieldsMax, `has more than ${limits.fieldsMax} fields`),
    required: z.array(z.string()).optional(),
  })
  .refine(({ properties, required }) => (required ?? []).every(name => Object.hasOwn(properties, name)), {
    path: ['required'],
    message: 'names a field that the form does not have',
  })
export type FormSchema = z.infer<typeof FormSchema>

/** What is filled in there is for the agent only, as JSON Schema says it. */
export function isSecretField(field: FormField): boolean {
  return field.writeOnly === true || (field.type === 'string' && field.format === 'password')
}

/** The labels a field offers, or null where it is free. */
export function fieldChoices(field: FormField): readonly { value: string; title: string }[] | null {
  const source = field.type === 'array' ? field.items : field.type === 'string' ? field : null
  if (!source) return null
  if (source.enum) return source.enum.map(value => ({ value, title: value }))
  const listed = source.oneOf ?? ('anyOf' in source ? source.anyOf : undefined)
  return Array.isArray(listed) ? listed.map(item => ({ value: item.const, title: item.title ?? item.const })) : null
}

/** What is wrong with the values, as one sentence that names the field; null where they fit. */
export function formProblem(schema: FormSchema, values: Readonly<Record<string, unknown>>): string | null {
  for (const name of Object.keys(values))
    if (!Object.hasOwn(schema.properties, name)) return `"${name}" is not a field of this form`
  for (const name of schema.required ?? []) if (!Object.hasOwn(values, name)) return `"${name}" is required`
  for (const [name, field] of Object.entries(schema.properties)) {
    const wrong = Object.hasOwn(values, name) ? fieldProblem(field, values[name]) : null
    if (wrong) return `"${name}" ${wrong}`
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
        return `must have at least ${field.minLength} characters`
      if (field.maxLength !== undefined && lengthOf(value) > field.maxLength)
        return `must have at most ${field.maxLength} characters`
      return field.format ? formatProblem(field.format, value) : null
    case 'array':
      if (!Array.isArray(value) || value.some(item => typeof item !== 'string')) return 'must be a list of choices'
      if (offered && value.some(item => !offered.includes(item))) return `may only hold ${offered.join(', ')}`
      if (new Set(value).size !== value.length) return 'names a choice twice'
      if (field.minItems !== undefined && value.length < field.minItems)
        return `needs at least ${field.minItems} choices`
      if (field.maxItems !== undefined && value.length > field.maxItems)
        return `takes at most ${field.maxItems} choices`
      return null
  }
}

/** JSON Schema counts characters, not the units they are stored in. */
function lengthOf(text: string): number {
  return [...text].length
}

function formatProblem(format: string, value: string): string | null {
  switch (format) {
    case 'email':
      return z.email().safeParse(value).success ? null : 'must be an e-mail address'
    case 'uri':
      return URL.canParse(value) ? null : 'must be a URL'
    case 'date':
      return z.iso.date().safeParse(value).success ? null : 'must be a date like 2026-01-31'
    case 'date-time':
      return z.iso.datetime({ offset: true }).safeParse(value).success
        ? null
        : 'must be a time like 2026-01-31T12:00:00Z'
    default:
      return null
  }
}
