/** A strict JSON parser, which refuses input that two parsers could read differently, and the canonical JSON from which digests are computed. */
import { z } from 'zod'
import { Fault } from './fault.ts'
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

/** Parses untrusted JSON. Throws a Fault if the text contains duplicate keys, prototype keys, lone surrogates, numbers out of range or too many nested levels. */
export function parseJsonStrict(text: string): Json {
  let parsed: Json
  try {
    parsed = JSON.parse(text) as Json // `JSON.parse` returns only JSON values
  } catch (error) {
    throw new Fault('bad_json', `This is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
  checkStructure(text)
  if (!text.isWellFormed() || (text.includes('\\u') && !isWellFormed(parsed)))
    throw new Fault('bad_json', 'The JSON contains a lone surrogate. Send well-formed Unicode.')
  if (mayOverflow.test(text) && !hasOnlyFiniteNumbers(parsed))
    throw new Fault('bad_json', 'The JSON contains a number that is too large. Send it as a string.')
  return parsed
}

/** Matches an exponent of three or more digits, and a run of 200 digits. Every other number is below 1e299. Texts without a match skip the full check, which visits every value. */
const mayOverflow = /\d[eE]\+?\d{3}|\d{200}/

function hasOnlyFiniteNumbers(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value !== 'object') return true
  return Object.values(value).every(hasOnlyFiniteNumbers)
}

/** Checks the depth and the keys. JSON.parse has already accepted the text, so this function only has to track strings, brackets and commas. */
function checkStructure(text: string): void {
  const open: (Set<string> | null)[] = []
  let expectKey = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) {
      const start = i
      for (i++; text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++
      const keys = open.at(-1)
      if (keys && expectKey) {
        const raw = text.slice(start, i + 1)
        const key = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1) // a JSON string parses to a string
        if (keys.has(key)) throw new Fault('bad_json', `The key "${key.slice(0, 80)}" appears twice in one object.`)
        if (forbiddenKeys.has(key)) throw new Fault('bad_json', `The key "${key}" is not allowed.`)
        keys.add(key)
        expectKey = false
      }
    } else if (code === 0x7b || code === 0x5b) {
      open.push(code === 0x7b ? new Set() : null)
      expectKey = code === 0x7b
      if (open.length > limits.jsonDepthMax)
        throw new Fault('bad_json', `The JSON is nested deeper than ${limits.jsonDepthMax} levels.`)
    } else if (code === 0x7d || code === 0x5d) {
      open.pop()
      expectKey = false
    } else if (code === 0x2c) expectKey = open.at(-1) !== null
  }
}

function isWellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) return value.every(isWellFormed)
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item))
}
