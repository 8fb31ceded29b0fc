/** Converts what a person entered into a form's controls to the values to send, and validates each field. */
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
import { hidesCharacters } from '../../text/field-value.ts'

export type ControlKind = 'switch' | 'radios' | 'select' | 'checkboxes' | 'lines' | 'textarea' | 'input'

/** A single-choice field with more choices than this is shown as a select. */
const radiosMax = 5
/** A text field is shown as a text area if its limits or its default suggest at least this many characters. */
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

/** Returns the initial content of a field's control. */
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

/** Converts the content of a control to the field's value. Returns undefined if the person left the field empty. */
function readRaw(field: FormField, raw: RawField, required: boolean): Json | undefined {
  switch (field.type) {
    case 'boolean':
      return raw === true
    case 'array': {
      const items = typeof raw === 'string' ? raw.split('\n').filter(line => line.trim() !== '') : raw
      const given = Array.isArray(items) ? items : []
      // An empty list is a value if the field is required, or if the person emptied the default list.
      return given.length > 0 || required || field.default !== undefined ? given : undefined
    }
    case 'string':
      return raw === '' ? undefined : String(raw)
    default: {
      const text = String(raw).trim()
      // Keep text that is not a number, so that validation reports it.
      return text === '' ? undefined : Number.isFinite(Number(text)) ? Number(text) : text
    }
  }
}

/** Returns the text of a control into which the person types; null for choices and switches. */
export function typedText(field: FormField, raw: RawField): string | null {
  const control = controlOf(field)
  return control === 'input' || control === 'textarea' || control === 'lines' ? String(raw) : null
}

export interface FilledForm {
  readonly values: JsonObject
  /** Problems by field name, each phrased to follow the name, such as "must be a number". */
  readonly problems: ReadonlyMap<string, string>
}

/** `confirmed` has the values that the person confirmed although the fields hide some of their characters. */
export function readForm(
  schema: FormSchema,
  raws: ReadonlyMap<string, RawField>,
  confirmed: ReadonlyMap<string, RawField> = new Map(),
): FilledForm {
  const values: Record<string, Json> = {}
  const problems = new Map<string, string>()
  for (const [name, field] of Object.entries(schema.properties)) {
    const required = schema.required?.includes(name) ?? false
    const raw = raws.get(name) ?? defaultRaw(field)
    const value = readRaw(field, raw, required)
    if (value !== undefined) values[name] = value
    const problem = formProblem(
      { type: 'object', properties: { [name]: field }, ...(required && { required: [name] }) },
      value === undefined ? {} : { [name]: value },
    )
    if (problem) problems.set(name, problem.slice(`"${name}" `.length))
    else if (confirmed.get(name) !== raw && hidesCharacters(typedText(field, raw) ?? '')) problems.set(name, hidden)
  }
  return { values, problems }
}

/** The problem of a value with characters that its field hides. */
export const hidden = 'has hidden characters: edit it, or confirm it'

/** Returns the values to store in the draft, without secrets and without values that equal their defaults. */
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

/** Splits a URL around its host, so that the card can emphasize the host. `URL` converts the host to ASCII, so lookalike letters become visible. */
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
