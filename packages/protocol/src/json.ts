/** JSON at the border: a reader that refuses what two parsers could read differently, and the canonical form that digests cover. */
import { z } from 'zod'
import { Fault } from './fault.ts'
import { limits } from './limits.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
/** Values that came through `readJson` are JSON already; deeper checks would only cost time. */
export const JsonObject = z.custom<{ readonly [key: string]: Json }>(
  value => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
)
export type JsonObject = z.infer<typeof JsonObject>

/** RFC 8785: keys by UTF-16 code units, numbers and strings as ECMAScript writes them. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Fault('bad_input', 'a number is not finite and has no JSON form')
    return JSON.stringify(value)
  }
  if (Array.isArray(value))
    return `[${value.map(item => (item === undefined ? 'null' : canonicalJson(item))).join(',')}]`
  if (typeof value !== 'object') throw new Fault('bad_input', `a ${typeof value} has no JSON form`)
  const parts: string[] = []
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key] // an object, by the line above
    if (item !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(item)}`)
  }
  return `{${parts.join(',')}}`
}

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

/** Parses text from outside. Duplicate keys, prototype keys, lone surrogates and deep nesting are refused, not repaired. */
export function parseJsonStrict(text: string): Json {
  let parsed: Json
  try {
    parsed = JSON.parse(text) as Json // JSON.parse returns JSON
  } catch (error) {
    throw new Fault('bad_json', `This is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
  scan(text)
  if (!text.isWellFormed() || (text.includes('\\u') && !wellFormed(parsed)))
    throw new Fault('bad_json', 'This JSON holds a lone surrogate; send well-formed Unicode')
  if (maybeHuge.test(text) && !finite(parsed))
    throw new Fault('bad_json', 'This JSON holds a number that is too large to be one; send it as text')
  return parsed
}

/** Only an exponent of three digits or hundreds of digits can leave the range of numbers; most bodies hold neither. */
const maybeHuge = /\d[eE]\+?\d{3}|\d{300}/

function finite(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value !== 'object') return true
  return Object.values(value).every(finite)
}

/** Walks text that JSON.parse accepted, so only structure matters: depth, and the keys of each open object. */
function scan(text: string): void {
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
        if (keys.has(key)) throw new Fault('bad_json', `The key "${key.slice(0, 80)}" stands twice in one object`)
        if (forbiddenKeys.has(key)) throw new Fault('bad_json', `The key "${key}" is not accepted`)
        keys.add(key)
        expectKey = false
      }
    } else if (code === 0x7b || code === 0x5b) {
      open.push(code === 0x7b ? new Set() : null)
      expectKey = code === 0x7b
      if (open.length > limits.jsonDepthMax)
        throw new Fault('bad_json', `This JSON nests deeper than ${limits.jsonDepthMax} levels`)
    } else if (code === 0x7d || code === 0x5d) {
      open.pop()
      expectKey = false
    } else if (code === 0x2c) expectKey = open.at(-1) !== null
  }
}

function wellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) return value.every(wellFormed)
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && wellFormed(item))
}
