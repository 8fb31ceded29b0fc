/** Builds the input of an operation from the path, the query and the JSON body. Each field may be given only once. */
import { isUtf8 } from 'node:buffer'
import { contract, Fault, type Json, limits, type OperationName, parseJsonStrict, rolesFor } from '@holdpoint/protocol'
import type { IncomingRequest } from './http-message.ts'

type Fields = Record<string, unknown>

/** Reads the input, and the size of the body. `takeBytes` is called with the size before the body is read, and may throw a Fault. */
export async function readInput(
  incoming: IncomingRequest,
  op: OperationName,
  params: Readonly<Record<string, string>>,
  query: string,
  takeBytes: (bytes: number) => void,
): Promise<{ readonly input: Fields; readonly bytes: number }> {
  // Adding fields to an object that was copied takes ten times as long.
  const input: Fields = {}
  for (const [name, value] of Object.entries(params)) input[name] = value
  if (query) for (const [name, value] of new URLSearchParams(query)) addField(input, name, value)
  const body = await readBody(incoming, op, takeBytes)
  if (!body) return { input, bytes: 0 }
  for (const [name, value] of Object.entries(body.fields)) addField(input, name, value)
  return { input, bytes: body.bytes }
}

export function readQuery(query: string): Fields {
  const fields: Fields = {}
  for (const [name, value] of new URLSearchParams(query)) addField(fields, name, value)
  return fields
}

function addField(input: Fields, name: string, value: unknown): void {
  // `in` also finds inherited names such as `__proto__`, so such a field is refused here and never sets a prototype.
  if (name in input) throw new Fault('bad_input', `The field "${name.slice(0, 80)}" is given twice, or is not allowed.`)
  input[name] = value
}

interface Body {
  readonly fields: { readonly [key: string]: Json }
  readonly bytes: number
}

async function readBody(
  incoming: IncomingRequest,
  op: OperationName,
  takeBytes: (bytes: number) => void,
): Promise<Body | null> {
  if (contract[op].method === 'GET') {
    if (incoming.hasBody)
      throw new Fault('bad_input', 'A GET request must not have a body. Send the fields in the query.')
    return null
  }
  const type = incoming.header('content-type')
  if (type === undefined ? incoming.hasBody : !/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type))
    throw new Fault('unsupported_type', 'The body must be JSON. Send content-type: application/json.')
  if (!incoming.hasBody) return null
  if ((incoming.header('content-encoding') ?? 'identity') !== 'identity')
    throw new Fault('unsupported_type', 'The body must not be compressed. Leave out content-encoding.')
  const maxBytes = bodyMaxBytes(op)
  takeBytes(Math.min(incoming.bodyBytes ?? maxBytes, maxBytes))
  const bytes = await incoming.body(maxBytes)
  if (bytes.length === 0) return null
  if (bytes.length > largeBodyBytes) await ownTurn()
  if (!isUtf8(bytes)) throw new Fault('bad_json', 'The body is not valid UTF-8.')
  const body = parseJsonStrict(bytes.toString('utf8'))
  if (!isObject(body)) throw new Fault('bad_input', 'The body must be a JSON object.')
  return { fields: body, bytes: bytes.length }
}

/** Parsing a larger body takes milliseconds, and so does a reply that contains it. */
export const largeBodyBytes = 64 * 1024
let lastTurn: Promise<void> = Promise.resolve()
/** Resolves in a turn of the event loop in which no other large body is parsed, so that other clients are served between large bodies that arrive at the same time. */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise(resolve => setImmediate(resolve)))
  return lastTurn
}

function bodyMaxBytes(op: OperationName): number {
  return rolesFor(op).includes('nobody') ? limits.publicBodyMaxBytes : limits.bodyMaxBytes
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Checks the format of an idempotency key. Returns null if the client sent no key. */
export function readIdempotencyKey(key: unknown): string | null {
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key) || key.length > limits.keyMax)
    throw new Fault('bad_input', `An idempotency key must have 1 to ${limits.keyMax} visible ASCII characters.`)
  return key
}

export function bodyTooLarge(maxBytes: number): Fault {
  return new Fault('body_too_large', `The body is larger than ${maxBytes} bytes.`)
}
