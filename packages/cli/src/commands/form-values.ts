/** Builds the values of a form: `--set field=value` overrides the file given with `--values`, which overrides the defaults. */
import { Fault, type FormAsk, type FormField, type Json, type JsonObject } from '@holdpoint/protocol'
import { readObject } from './input-files.ts'
import { answerTexts } from './texts.ts'

export function buildFormValues({ schema }: FormAsk, set: readonly string[], file: string | undefined): JsonObject {
  const values: Record<string, Json> = {}
  for (const [name, field] of Object.entries(schema.properties))
    if (field.default !== undefined) values[name] = field.default
  if (file !== undefined) Object.assign(values, readObject(file, 'the values'))
  const typedByField = new Map<string, string[]>()
  for (const typed of set) {
    const equals = typed.indexOf('=')
    if (equals < 1) throw new Fault('bad_input', answerTexts.badSet(typed))
    const name = typed.slice(0, equals)
    typedByField.set(name, [...(typedByField.get(name) ?? []), typed.slice(equals + 1)])
  }
  for (const [name, typed] of typedByField) {
    const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (!field) throw new Fault('bad_input', answerTexts.notAField(name, Object.keys(schema.properties)))
    if (typed.length > 1 && field.type !== 'array') throw new Fault('bad_input', answerTexts.setTwice(name))
    values[name] = parseFieldValue(name, field, typed)
  }
  return values
}

function parseFieldValue(name: string, field: FormField, typed: readonly string[]): Json {
  const [text = ''] = typed
  switch (field.type) {
    case 'string':
      return text
    case 'array':
      return typed.flatMap(item => item.split(',').map(one => one.trim())).filter(item => item !== '')
    case 'boolean': {
      const known = ({ true: true, yes: true, false: false, no: false } as Readonly<Record<string, boolean>>)[
        text.toLowerCase()
      ]
      if (known === undefined) throw new Fault('bad_input', answerTexts.notABoolean(name, text))
      return known
    }
    case 'number':
    case 'integer': {
      const number = Number(text)
      if (text.trim() === '' || !Number.isFinite(number))
        throw new Fault('bad_input', answerTexts.notANumber(name, text))
      return number
    }
  }
}
