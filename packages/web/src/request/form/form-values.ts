/** From what a form's controls hold to the values that are sent, and what is wrong with each. */
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

export type Control = 'switch' | 'options' | 'select' | 'ticks' | 'lines' | 'area' | 'line'

/** So many choices are seen at a glance; more are picked from a list. */
const optionsMax = 5
const areaFrom = 160

export function controlOf(field: FormField): Control {
  const choices = fieldChoices(field)
  switch (field.type) {
    case 'boolean':
      return 'switch'
    case 'array':
      return choices ? 'ticks' : 'lines'
    case 'string':
      if (choices) return choices.length <= optionsMax ? 'options' : 'select'
      return isLong(field) ? 'area' : 'line'
    default:
      return 'line'
  }
}

function isLong(field: Extract<FormField, { type: 'string' }>): boolean {
  const { format, maxLength, minLength, default: preset } = field
  if (isSecretField(field)) return false
  if (format !== undefined && format !== 'multiline') return false
  if (format === 'multiline' || preset?.includes('\n')) return true
  return Math.max(maxLength ?? 0, (minLength ?? 0) * 2, (preset ?? '').length * 2) >= areaFrom
}

/** What the control holds before anyone touches it. */
export function presetOf(field: FormField): RawField {
  switch (field.type) {
    case 'boolean':
      return field.default ?? false
    case 'array':
      return fieldChoices(field) ? (field.default ?? []) : (field.default ?? []).join('\n')
    default:
      return field.default === undefined ? '' : String(field.default)
  }
}

/** Undefined: nothing was given. */
function readRaw(field: FormField, raw: RawField, required: boolean): Json | undefined {
  switch (field.type) {
    case 'boolean':
      return raw === true
    case 'array': {
      const items = typeof raw === 'string' ? raw.split('\n').filter(line => line.trim() !== '') : raw
      const given = Array.isArray(items) ? items : []
      // An emptied list says something where one was offered, and where one must be given.
      return given.length > 0 || required || field.default !== undefined ? given : undefined
    }
    case 'string':
      return raw === '' ? undefined : String(raw)
    default: {
      const text = String(raw).trim()
      // What is no number stays as it was written, for the check to refuse.
      return text === '' ? undefined : Number.isFinite(Number(text)) ? Number(text) : text
    }
  }
}

export interface Filled {
  readonly values: JsonObject
  /** By field, as what follows its name: "must be a number". */
  readonly problems: ReadonlyMap<string, string>
}

export function fillIn(schema: FormSchema, raws: ReadonlyMap<string, RawField>): Filled {
  const values: Record<string, Json> = {}
  const problems = new Map<string, string>()
  for (const [name, field] of Object.entries(schema.properties)) {
    const required = schema.required?.includes(name) ?? false
    const value = readRaw(field, raws.get(name) ?? presetOf(field), required)
    if (value !== undefined) values[name] = value
    const wrong = formProblem(
      { type: 'object', properties: { [name]: field }, ...(required && { required: [name] }) },
      value === undefined ? {} : { [name]: value },
    )
    if (wrong) problems.set(name, wrong.slice(`"${name}" `.length))
  }
  return { values, problems }
}

/** What may be kept of it: what differs from the presets, and no secret. */
export function keptRaws(schema: FormSchema, raws: ReadonlyMap<string, RawField>): ReadonlyMap<string, RawField> {
  return pickRaws(
    schema,
    raws,
    (field, raw) => !isSecretField(field) && JSON.stringify(raw) !== JSON.stringify(presetOf(field)),
  )
}
export function secretRaws(schema: FormSchema, raws: ReadonlyMap<string, RawField>): ReadonlyMap<string, RawField> {
  return pickRaws(schema, raws, isSecretField)
}
function pickRaws(
  { properties }: FormSchema,
  raws: ReadonlyMap<string, RawField>,
  fits: (field: FormField, raw: RawField) => boolean,
): ReadonlyMap<string, RawField> {
  return new Map(
    [...raws].filter(([name, raw]) => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined
      return field !== undefined && fits(field, raw)
    }),
  )
}

/** An address cut around its host, which is what a person can judge; the host in its ASCII form. */
export function addressParts(address: string): {
  readonly before: string
  readonly host: string
  readonly after: string
} {
  const { href, protocol, host, username, password } = new URL(address)
  const signed = username === '' && password === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`
  const before = `${protocol}//${signed}`
  return { before, host, after: href.slice(before.length + host.length) }
}
