/** Converts the raw contents of a form's controls into the values to send, and finds the problem of each field. */
import type { RawField } from '@holdpoint/client'
import {
  type FormField,
  type FormSchema,
  fieldChoices,
  formProblem,
  isSecretField,
  type Json,
  type JsonObject,
} from '@holdpoint/protocol'

export type ControlKind = 'switch' | 'radios' | 'select' | 'checkboxes' | 'lines' | 'textarea' | 'input'

/** With more choices than this, a field becomes a select. */
const radiosMax = 5
/** A text field that may be at least this long becomes a text area. */
const longTextMin = 160

export function controlOf(field: FormField): ControlKind {
  const choices = fieldChoices(field)
  switch (field.type) {
    case 'boolean':
      return 'switch'
    case 'array':
      return choices ? 'checkboxes' : 'lines'
    case 'string':
      if (choices) return choices.length <= radiosMax ? 'radios' : 'select'
      return isLong(field) ? 'textarea' : 'input'
    default:
      return 'input'
  }
}

function isLong(field: Extract<FormField, { type: 'string' }>): boolean {
  const { format, maxLength, minLength, default: defaultText } = field
  if (isSecretField(field)) return false
  if (format !== undefined && format !== 'multiline') return false
  if (format === 'multiline' || defaultText?.includes('\n')) return true
  return Math.max(maxLength ?? 0, (minLength ?? 0) * 2, (defaultText ?? '').length * 2) >= longTextMin
}

/** The initial content of a field's control. */
export function defaultRaw(field: FormField): RawField {
  switch (field.type) {
    case 'boolean':
      return field.default ?? false
    case 'array':
      return fieldChoices(field) ? (field.default ?? []) : (field.default ?? []).join('\n')
    default:
      return field.default === undefined ? '' : String(field.default)
  }
}

/** Undefined if the field was left empty. */
function readRaw(field: FormField, raw: RawField, required: boolean): Json | undefined {
  switch (field.type) {
    case 'boolean':
      return raw === true
    case 'array': {
      const items = typeof raw === 'string' ? raw.split('\n').filter(line => line.trim() !== '') : raw
      const given = Array.isArray(items) ? items : []
      // An empty list is a value if the field has a default list or is required.
      return given.length > 0 || required || field.default !== undefined ? given : undefined
    }
    case 'string':
      return raw === '' ? undefined : String(raw)
    default: {
      const text = String(raw).trim()
      // Text that is not a number stays as it is, so that validation reports it.
      return text === '' ? undefined : Number.isFinite(Number(text)) ? Number(text) : text
    }
  }
}

export interface FilledForm {
  readonly values: JsonObject
  /** By field name, phrased to follow it: "must be a number". */
  readonly problems: ReadonlyMap<string, string>
}

export function readForm(schema: FormSchema, raws: ReadonlyMap<string, RawField>): FilledForm {
  const values: Record<string, Json> = {}
  const problems = new Map<string, string>()
  for (const [name, field] of Object.entries(schema.properties)) {
    const required = schema.required?.includes(name) ?? false
    const value = readRaw(field, raws.get(name) ?? defaultRaw(field), required)
    if (value !== undefined) values[name] = value
    const problem = formProblem(
      { type: 'object', properties: { [name]: field }, ...(required && { required: [name] }) },
      value === undefined ? {} : { [name]: value },
    )
    if (problem) problems.set(name, problem.slice(`"${name}" `.length))
  }
  return { values, problems }
}

/** The fields to store in the draft: those that differ from their defaults, without secrets. */
export function draftValues(schema: FormSchema, raws: ReadonlyMap<string, RawField>): ReadonlyMap<string, RawField> {
  return filterRaws(
    schema,
    raws,
    (field, raw) => !isSecretField(field) && JSON.stringify(raw) !== JSON.stringify(defaultRaw(field)),
  )
}
export function secretValues(schema: FormSchema, raws: ReadonlyMap<string, RawField>): ReadonlyMap<string, RawField> {
  return filterRaws(schema, raws, isSecretField)
}
function filterRaws(
  { properties }: FormSchema,
  raws: ReadonlyMap<string, RawField>,
  matches: (field: FormField, raw: RawField) => boolean,
): ReadonlyMap<string, RawField> {
  return new Map(
    [...raws].filter(([name, raw]) => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined
      return field !== undefined && matches(field, raw)
    }),
  )
}

/** Splits a URL around its host, which is the part that a person can judge. The host is in ASCII form, so that lookalike letters show. */
export function urlParts(url: string): {
  readonly before: string
  readonly host: string
  readonly after: string
} {
  const { href, protocol, host, username, password } = new URL(url)
  const credentials = username === '' && password === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`
  const before = `${protocol}//${credentials}`
  return { before, host, after: href.slice(before.length + host.length) }
}
