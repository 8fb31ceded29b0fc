/** Builds the largest inputs that the schema of an operation allows, with text that is hard to process. Because they come from the schema, a new operation or field gets them too. */
import { contract, type Json, limits, type OperationName } from '@holdpoint/protocol'
import { literalCommands } from '@holdpoint/rules'
import { z } from 'zod'

export interface JsonSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

export function inputSchema(op: OperationName): JsonSchema {
  const schema = z.toJSONSchema(contract[op].input, { io: 'input', unrepresentable: 'any' })
  return schema as JsonSchema // the fields that the tests read have these types
}

/** Returns the prefix of an id, such as `ses`, if the schema is that of an id. */
export function idPrefix({ pattern = '' }: JsonSchema): string | null {
  return /^\^([a-z]{3})_\[/.exec(pattern)?.[1] ?? null
}
export function optionsOf(schema: JsonSchema): readonly JsonSchema[] | null {
  return schema.anyOf ?? schema.oneOf ?? null
}
/** Returns whether the schema takes any JSON, or any JSON object. */
export function takesAnyJson(schema: JsonSchema): boolean {
  if (optionsOf(schema) || schema.enum || schema.const !== undefined) return false
  return schema.type === undefined || (schema.type === 'object' && !schema.properties && !isRecord(schema))
}
function isRecord({ additionalProperties }: JsonSchema): boolean {
  return typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
}

/** Makes the value of a field: a text of at most `max` characters, or any JSON. `index` is the number of the item in its list, so that texts in a list differ. */
type Fill = (field: { readonly max: number; readonly takesJson: boolean; readonly index: number }) => Json

/** A field that takes much text or many values, and how to build an input in which only this field is filled. */
export interface LargeField {
  readonly name: string
  /** The largest number of characters, in all items of a list together. */
  readonly max: number
  readonly takesJson: boolean
  build(fill: Fill, itemsMax: number, index?: number): Json
}

/** The number of items in a list for which the schema sets no limit. */
const unlimitedItems = 5000
const recordItems = limits.fieldsMax

export function largeFields(schema: JsonSchema, name = 'input'): LargeField[] {
  const options = optionsOf(schema)
  if (options) return options.flatMap((option, i) => largeFields(option, `${name}/${i}`))
  if (schema.enum || schema.const !== undefined || idPrefix(schema)) return []
  if (takesAnyJson(schema)) {
    const max = limits.bodyMaxBytes
    return [{ name, max, takesJson: true, build: (fill, _, index = 0) => fill({ max, takesJson: true, index }) }]
  }
  switch (schema.type) {
    case 'string':
      return schema.pattern && schema.format === undefined ? [] : [textField(schema, name)]
    case 'array':
      return listFields(schema, name)
    case 'object':
      return isRecord(schema) ? recordFields(schema, name) : objectFields(schema, name)
    default:
      return []
  }
}

function textField(schema: JsonSchema, name: string): LargeField {
  const { maxLength: max = limits.bodyMaxBytes, format } = schema
  const build: LargeField['build'] = (fill, _, index = 0) => {
    const text = String(fill({ max, takesJson: false, index }))
    if (format === 'base64') return 'A'.repeat(text.length - (text.length % 4))
    return format === 'uri' ? `http://h/${text.slice(0, max - 9)}` : text
  }
  return { name, max, takesJson: false, build }
}

function objectFields(schema: JsonSchema, name: string): LargeField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([property, value]) =>
    largeFields(value, `${name}.${property}`).map(field => ({
      ...field,
      build: (fill: Fill, itemsMax: number, index = 0) => ({
        ...(smallest(schema, index) as object), // the schema is that of an object
        [property]: field.build(fill, itemsMax, index),
      }),
    })),
  )
}

function listFields({ items = {}, maxItems = unlimitedItems }: JsonSchema, name: string): LargeField[] {
  const inItems = largeFields(items, `${name}[]`)
  const list = (count: number, build: (index: number) => Json) => Array.from({ length: count }, (_, i) => build(i))
  const whole: LargeField = {
    name: `${name}[]`,
    max: maxItems,
    takesJson: false,
    build: (_, itemsMax) => list(Math.min(maxItems, itemsMax), index => smallest(items, index)),
  }
  return [
    ...(inItems.length === 0 ? [whole] : []),
    ...inItems.map(field => ({
      ...field,
      max: field.max * maxItems,
      build: (fill: Fill, itemsMax: number) =>
        list(Math.min(maxItems, itemsMax), index => field.build(fill, itemsMax, index)),
    })),
  ]
}

function recordFields({ additionalProperties }: JsonSchema, name: string): LargeField[] {
  return largeFields(additionalProperties as JsonSchema, `${name}{}`).map(field => ({
    ...field,
    max: field.max * recordItems,
    build: (fill, itemsMax) => {
      const keys = Array.from({ length: Math.min(recordItems, itemsMax) }, (_, i) => `field ${i}`)
      return Object.fromEntries(keys.map((key, index) => [key, field.build(fill, itemsMax, index)]))
    },
  }))
}

/** Returns a small value that fits the schema. */
export function smallest(schema: JsonSchema, index = 0): Json {
  const [option] = optionsOf(schema) ?? []
  if (option) return smallest(option, index)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0] ?? null
  const prefix = idPrefix(schema)
  if (prefix) return `${prefix}_${'0'.repeat(20)}`
  switch (schema.type) {
    case 'string':
      return schema.format === 'base64' ? 'AAAA' : `text ${index}`
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, (_, i) => smallest(schema.items ?? {}, i))
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return Math.max(0, schema.minimum ?? 0)
    case 'object': {
      const { properties = {}, required = [] } = schema
      return Object.fromEntries(required.map(name => [name, smallest(properties[name] ?? {}, index)]))
    }
    default:
      return {}
  }
}

const repeated = (pattern: string) => (length: number) =>
  pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length)

/** Texts that parsers and regular expressions find hard, of any length. */
export const hostileTexts: Readonly<Record<string, (length: number) => string>> = {
  blanks: repeated(' '),
  'tabs and line feeds': repeated('\t\n'),
  words: repeated('a '),
  'different words': length => differentWords(length),
  digits: repeated('9'),
  'opening brackets': repeated('([{'),
  'command substitutions': repeated('$('),
  'nested quotes': repeated(`"'\``),
  backslashes: repeated('\\'),
  'escape sequences': repeated('\u001b[31m'),
  'control characters': repeated('\u0000'),
  'astral characters': repeated('𝕏'),
  'right-to-left letters': repeated('אב '),
  'combining marks': length => `a${repeated('\u0301')(Math.max(0, length - 1))}`,
  'commands in a row': repeated('a;'),
  pipes: repeated('a|'),
  'here documents': repeated('<<a\n'),
  patterns: repeated('*[?'),
  paths: repeated('../'),
  // With more parts, a path counts as too long.
  'paths with many parts that exist': length => `${'/usr/..'.repeat(40)}/${'x'.repeat(length)}`.slice(0, length),
  'commands with many paths': repeated('cat /usr/../usr/../usr/../bin/../bin/sh\n'),
  variables: repeated(`\${a`),
  'assignments and options': repeated('a=b --c=d '),
  'searches of one folder': length => `grep -r x ${repeated('. ')(1900)}`.slice(0, length),
  'searches of folders': length => repeated('find . ;')(Math.min(length, 65_000)),
  'text that looks like credentials': repeated('hp_aA1aA1aA1aA1aA1aA1aA1aA1aA1aA1aA1aA1aA1aA1 '),
  'text that looks like hidden folders': repeated('~/.h'),
}

/** Commands that are hard to search. Each is made from a number, so that the commands of a text can differ. */
const hostileCommands: Readonly<Record<string, (i: string) => string>> = {
  'equal commands': () => 'a;',
  'different commands': i => `${i};`,
  'changes of the folder': i => `cd ${i};`,
  'deleted files': i => `rm ${i};`,
  'moved files': i => `mv a ${i};`,
  'printed files': i => `cat a/b/${i};`,
  'staged files': i => `git add ${i};`,
  redirects: i => `a>${i};`,
  functions: i => `f${i}(){ a;};`,
  substitutions: i => `$(${i});`,
  'substitutions in backquotes': i => `\`${i}\`;`,
  'quoted words': i => `"${i}" `,
  'variables in many words': i => (i === '0' ? 'a=1;b=2;' : 'git $a$b '),
  'lists in braces': i => (i === '0' ? 'git ' : '{a,b} '),
  'commands in commands': () => 'env ',
  'different commands in commands': i => `sudo ${i};`,
  'shells in shells': () => 'bash -c ',
  'code of interpreters': i => `python3 -c '${i}("a","b")';`,
  'commands with here-documents': i => `cat <<E${i}\na\nE${i}\n`,
}
/** About the longest text of each of these commands that is searched to its end. A longer text is less work, because the search of that text stops early. */
export const longestSearched: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(hostileCommands).map(([name, command]) => [name, longestOf(command)]),
)
function longestOf(command: (i: string) => string): string {
  const textOf = (count: number) => Array.from({ length: count }, (_, i) => command(i.toString(36))).join('')
  let few = 1
  let many = 40_000
  while (many - few > few / 20) {
    const middle = Math.floor((few + many) / 2)
    if (literalCommands(textOf(middle)).isCutShort) many = middle
    else few = middle
  }
  return textOf(few)
}

function differentWords(length: number): string {
  const words: string[] = []
  for (let size = 0, i = 0; size < length; i++) {
    const word = i.toString(36)
    words.push(word)
    size += word.length + 1
  }
  return words.join(' ').slice(0, length)
}

/** JSON values with a hostile structure, with at most about this many bytes. */
export const hostileJson: Readonly<Record<string, (bytes: number) => Json>> = {
  'many keys': bytes =>
    manyKeys(
      bytes,
      i => `k${i}`,
      () => 0,
    ),
  'many long keys': bytes =>
    manyKeys(
      bytes,
      i => `${i}${'k'.repeat(80)}`,
      () => true,
    ),
  'many small texts': bytes => ({ list: listOf(bytes, i => `${i}`) }),
  'many numbers with many digits': bytes => ({ list: listOf(bytes, i => 123456789.123456 + i) }),
  'many empty objects': bytes => ({ list: listOf(bytes, () => ({})) }),
  'deep nesting': bytes => ({ list: listOf(bytes / 60, () => nested(limits.jsonDepthMax - 10)) }),
}
const valuesMax = limits.jsonValuesMax - 500

function manyKeys(bytes: number, key: (i: number) => string, value: () => Json): Json {
  const count = Math.min(valuesMax, Math.floor(bytes / (key(valuesMax).length + 6)))
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [key(i), value()]))
}
function listOf(bytes: number, item: (i: number) => Json): Json {
  const size = JSON.stringify(item(valuesMax)).length + 1
  const values = JSON.stringify(item(0)).split(/[[{]/).length
  const count = Math.min(Math.floor(valuesMax / Math.max(1, values - 1)), Math.floor(bytes / size))
  return Array.from({ length: count }, (_, i) => item(i))
}
function nested(depth: number): Json {
  let value: Json = []
  for (let i = 1; i < depth; i++) value = [value]
  return value
}

/** Returns the largest input of this size in which the field has the hostile content. Lists have as many items as fit with short texts, and the texts then share the remaining size. */
export function largestInput(field: LargeField, content: HostileContent, bytesMax: number): Json {
  const build = (cap: number, items: number) => {
    let fields = 0
    const input = field.build(({ max, takesJson, index }) => {
      fields++
      return content(Math.min(max, cap), takesJson, index)
    }, items)
    return { input, fields, bytes: sizeOf(input) }
  }
  let items = unlimitedItems
  let built = build(shortText, items)
  while (items > 1 && (built.bytes > bytesMax || valuesIn(built.input) > limits.jsonValuesMax - 100)) {
    items = Math.floor(items / 2)
    built = build(shortText, items)
  }
  const bytesPerCharacter = sizeOf(content(sampleLength, false, 0)) / sampleLength
  let cap = Math.ceil(bytesMax / Math.max(1, built.fields) / Math.max(1, bytesPerCharacter))
  for (;;) {
    const next = build(Math.min(cap, field.max), items)
    if (next.bytes <= bytesMax || cap <= shortText) return next.input
    cap = Math.floor(cap * Math.min(0.99, bytesMax / next.bytes))
  }
}
const shortText = 8
const sampleLength = 1000

export type HostileContent = (size: number, takesJson: boolean, index: number) => Json

export function textContent(text: (length: number) => string): HostileContent {
  return (size, takesJson, index) => {
    const content = (index === 0 ? '' : String(index)) + text(size)
    const cut = content.slice(0, size).toWellFormed()
    return takesJson ? { command: cut } : cut
  }
}
export function jsonContent(json: (bytes: number) => Json): HostileContent {
  return (size, takesJson) => (takesJson ? json(size) : 'text')
}

function sizeOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value))
}
function valuesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, item: Json) => sum + valuesIn(item), 1)
}
