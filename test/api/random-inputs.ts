/** Generates inputs of operations from their schemas: valid ones, nearly valid ones with one mistake, and garbage. */
import type { Json, OperationName } from '@holdpoint/protocol'
import fc from 'fast-check'
import { idPrefix, inputSchema, type JsonSchema, optionsOf, takesAnyJson } from './hostile-inputs.ts'

/** The ids of existing objects, by prefix. */
export type KnownIds = Readonly<Record<string, readonly string[]>>

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }).map(found => found.toWellFormed()),
  fc.constantFrom('', ' ', '\0', '../..', '%2e%2e', '"', "'", '\\', '\u202e', '\u2028', '\ud83d\ude00', '$(x)', '-1'),
)
/** Values in places where the schema takes any JSON, and in place of valid values. */
const anyJson = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3, noUnicodeString: false }) as fc.Arbitrary<Json>,
  fc.constantFrom<Json>(
    null,
    true,
    0,
    -1,
    1e308,
    1.5,
    2 ** 53,
    [],
    {},
    [[]],
    { toString: 1 },
    // biome-ignore lint/suspicious/noThenProperty: a value that looks like a promise
    { then: 1 },
    { length: -1 },
  ),
)
const anyObject = fc.dictionary(text, anyJson, { maxKeys: 4, noNullPrototype: true })

function validValue(schema: JsonSchema, known: KnownIds): fc.Arbitrary<Json> {
  const options = optionsOf(schema)
  if (options) return fc.oneof(...options.map(option => validValue(option, known)))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const prefix = idPrefix(schema)
  if (prefix) return fc.constantFrom(...(known[prefix] ?? []), `${prefix}_${'z'.repeat(20)}`)
  if (takesAnyJson(schema)) return schema.type === 'object' ? anyObject : anyJson
  switch (schema.type) {
    case 'string':
      return validText(schema, known)
    case 'array':
      return fc.array(validValue(schema.items ?? {}, known), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(3, schema.maxItems ?? 3),
      })
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'number':
      return validNumber(schema)
    case 'null':
      return fc.constant(null)
    default:
      return validObject(schema, known)
  }
}

function validText(
  { pattern, format, minLength = 0, maxLength = 100 }: JsonSchema,
  known: KnownIds,
): fc.Arbitrary<string> {
  if (format === 'base64') return fc.base64String({ minLength: 4, maxLength: 40 })
  if (format === 'uri') return fc.webUrl()
  if (pattern) return fc.oneof(fc.constantFrom('0'.repeat(16), '0'.repeat(64), ...(known.cursor ?? [])))
  return text.map(found => found.slice(0, maxLength).toWellFormed().padEnd(minLength, 'x'))
}

function validNumber({ minimum = -100, maximum = 100 }: JsonSchema): fc.Arbitrary<number> {
  const min = Math.max(minimum, -(2 ** 31))
  const max = Math.max(min, Math.min(maximum, 2 ** 31))
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max), fc.integer({ min, max: Math.min(max, min + 3) }))
}

function validObject({ properties = {}, required = [], additionalProperties }: JsonSchema, known: KnownIds) {
  if (typeof additionalProperties === 'object' && Object.keys(properties).length === 0)
    return fc.dictionary(text, validValue(additionalProperties, known), { maxKeys: 3, noNullPrototype: true })
  const fields = Object.entries(properties).map(([name, schema]) => [name, validValue(schema, known)] as const)
  const requiredKeys = fields.map(([name]) => name).filter(name => required.includes(name))
  return fc.record(Object.fromEntries(fields), { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<Json>
}

type Fields = Readonly<Record<string, Json>>
/** Makes one mistake: removes a field, changes its value, or adds an unknown field. */
const mistake = fc.oneof(
  fc.nat().map(n => (fields: Fields) => {
    const names = Object.keys(fields)
    const { [names[n % Math.max(1, names.length)] ?? '']: _removed, ...rest } = fields
    return rest
  }),
  fc.tuple(fc.nat(), anyJson).map(([n, value]) => (fields: Fields) => {
    const names = Object.keys(fields)
    return names.length === 0 ? fields : { ...fields, [names[n % names.length] ?? '']: value }
  }),
  fc.tuple(text, anyJson).map(([name, value]) => (fields: Fields) => ({ ...fields, [name]: value })),
)

export interface RandomInput {
  readonly kind: 'valid' | 'nearly valid' | 'garbage'
  readonly value: Json
}
export function randomInput(op: OperationName, known: KnownIds): fc.Arbitrary<RandomInput> {
  const valid = validValue(inputSchema(op), known)
  const nearly = fc.tuple(valid, mistake).map(([value, change]) => change(value as Fields)) // inputs are objects
  return fc.oneof(
    { weight: 3, arbitrary: valid.map(value => ({ kind: 'valid' as const, value })) },
    { weight: 3, arbitrary: nearly.map(value => ({ kind: 'nearly valid' as const, value })) },
    { weight: 1, arbitrary: anyJson.map(value => ({ kind: 'garbage' as const, value })) },
  )
}

/** Texts that are not what a JSON body should be. */
export const garbageBodies = [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"ask":{"__proto__":{"polluted":true}}}',
  '{"\\u005f_proto__":{"polluted":true}}',
  '{"a":1e999}',
  '{"a":"\\ud800"}',
  `${'['.repeat(100)}${']'.repeat(100)}`,
  '\u0000',
  '\ufeff{}',
] as const
