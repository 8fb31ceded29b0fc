/** A strict JSON parser, which refuses input that two parsers could read differently, and the canonical JSON from which digests are computed. */
import { z } from 'zod'
import { Fault } from './fault.ts'
import { keepsValue } from './json-number.ts'
import { limits } from './limits.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
/** Checks only the outermost type: `parseJsonStrict` has already checked the values inside. */
export const JsonObject = z
  .custom<{ readonly [key: string]: Json }>(
    value => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .meta({ type: 'object', description: 'Any JSON object.' })
export type JsonObject = z.infer<typeof JsonObject>

/** Returns canonical JSON as in RFC 8785: keys are sorted by UTF-16 code units, and numbers and strings are formatted as in ECMAScript. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Fault('bad_input', 'An infinite number or NaN has no JSON form.')
    return JSON.stringify(value)
  }
  if (Array.isArray(value))
    return `[${value.map(item => (item === undefined ? 'null' : canonicalJson(item))).join(',')}]`
  if (typeof value !== 'object') throw new Fault('bad_input', `A value of type ${typeof value} has no JSON form.`)
  const parts: string[] = []
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key] // the checks above leave only objects
    if (item !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(item)}`)
  }
  return `{${parts.join(',')}}`
}

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

/** Parses untrusted JSON. Throws a Fault if the text contains duplicate keys, prototype keys, lone surrogates, too many values or nested levels, or numbers that lose digits when they are parsed. Takes time in proportion to the length of the text. */
export function parseJsonStrict(text: string): Json {
  // Check the text before parsing it, because `JSON.parse` takes long for a text with very many small values.
  checkStructure(text)
  const parsed = parseJson(text)
  if (!text.isWellFormed() || (text.includes('\\u') && !isWellFormed(parsed)))
    throw new Fault('bad_json', 'The JSON contains a lone surrogate. Send well-formed Unicode.')
  return parsed
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json // `JSON.parse` returns only JSON values
  } catch (error) {
    throw new Fault('bad_json', `This is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
}

/** Checks the keys, the numbers, the depth and the number of values in one pass that tracks strings, brackets, commas and numbers. `JSON.parse` finds everything else that is wrong with the text. */
function checkStructure(text: string): void {
  const open: (Set<string> | null)[] = []
  let expectKey = false
  // Every value follows an opening bracket or a comma.
  let values = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) {
      const start = i
      i = endOfString(text, start)
      const keys = open.at(-1)
      if (keys && expectKey) addKey(keys, text.slice(start, i + 1))
      expectKey = false
    } else if (code === 0x7b || code === 0x5b) {
      open.push(code === 0x7b ? new Set() : null)
      expectKey = code === 0x7b
      if (++values > limits.jsonValuesMax) throw tooManyValues()
      if (open.length > limits.jsonDepthMax)
        throw new Fault('bad_json', `The JSON is nested deeper than ${limits.jsonDepthMax} levels.`)
    } else if (code === 0x7d || code === 0x5d) {
      open.pop()
      expectKey = false
    } else if (code === 0x2c) {
      expectKey = open.at(-1) !== null
      if (++values > limits.jsonValuesMax) throw tooManyValues()
    } else if (code === 0x2d || isDigit(code)) {
      const start = i
      while (isInNumber(text.charCodeAt(i + 1))) i++
      if (!keepsValue(text, start, i + 1)) throw changedNumber(text.slice(start, i + 1))
    }
  }
}

/** Returns the index of the quote that ends the string at `start`, or the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  let i = start + 1
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) return i
    if (code === 0x5c) i++
  }
  return i
}

function addKey(keys: Set<string>, raw: string): void {
  const key = raw.includes('\\') ? String(parseJson(raw)) : raw.slice(1, -1)
  if (keys.has(key)) throw new Fault('bad_json', `The key "${key.slice(0, 80)}" appears twice in one object.`)
  if (forbiddenKeys.has(key)) throw new Fault('bad_json', `The key "${key}" is not allowed.`)
  keys.add(key)
}

function tooManyValues(): Fault {
  return new Fault(
    'bad_json',
    `The JSON contains more than ${limits.jsonValuesMax} values. Send large data as one string, or in several parts.`,
  )
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Returns whether a character can continue a number: a digit, a point, a sign or an exponent. */
function isInNumber(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d
}

function changedNumber(written: string): Fault {
  const start = written.length > 40 ? `${written.slice(0, 40)}…` : written
  return new Fault(
    'bad_json',
    `The JSON contains the number ${start}, which loses digits or overflows when it is parsed. Send it as a string.`,
  )
}

function isWellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) return value.every(isWellFormed)
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item))
}
