/** The values of a form as people type them: `field=value` by the field's own type, over those of a file, over the defaults. */
import { Fault, type FormAsk, type FormField, type Json, type JsonObject } from '@holdpoint/protocol'
import { readObject } from './input-files.ts'

/** Fields that nobody names keep their default, as on the page. */
export function buildFormValues({ schema }: FormAsk, set: readonly string[], file: string | undefined): JsonObject {
  const values: Record<string, Json> = {}
  for (const [name, field] of Object.entries(schema.properties))
    if (field.default !== undefined) values[name] = field.default
  if (file !== undefined) Object.assign(values, readObject(file, 'the values'))
  const named = new Map<string, string[]>()
  for (const spelled of set) {
    const at = spelled.indexOf('=')
    if (at < 1) throw new Fault('bad_input', `--set takes FIELD=VALUE, not "${spelled}"`)
    const name = spelled.slice(0, at)
    named.set(name, [...(named.get(name) ?? []), spelled.slice(at + 1)])
  }
  for (const [name, given] of named) {
    const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (!field)
      throw new Fault(
        'bad_input',
        `"${name}" is not a field of this form; there is ${Object.keys(schema.properties).join(', ')}`,
      )
    if (given.length > 1 && field.type !== 'array') throw new Fault('bad_input', `--set ${name} is given twice`)
    values[name] = parseFieldValue(name, field, given)
  }
  return values
}

function parseFieldValue(name: string, field: FormField, given: readonly string[]): Json {
  const [text = ''] = given
  switch (field.type) {
    case 'string':
      return text
    case 'array':
      return given.flatMap(item => item.split(',').map(one => one.trim())).filter(item => item !== '')
    case 'boolean': {
      const known = ({ true: true, yes: true, false: false, no: false } as Readonly<Record<string, boolean>>)[
        text.toLowerCase()
      ]
      if (known === undefined) throw new Fault('bad_input', `"${name}" must be true or false, not "${text}"`)
      return known
    }
    case 'number':
    case 'integer': {
      const number = Number(text)
      if (text.trim() === '' || !Number.isFinite(number))
        throw new Fault('bad_input', `"${name}" must be a number, not "${text}"`)
      return number
    }
  }
}
