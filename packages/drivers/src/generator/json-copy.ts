/** Copies a value from an agent as JSON, by the rules of the wire, so that later changes to the object do not change what was sent. */
import { Fault, type Json, messageOf, parseJsonStrict } from '@holdpoint/protocol'

export function jsonCopy(value: unknown, what: string): Json {
  try {
    // JSON.stringify returns undefined for values without a JSON form; the strict parser refuses the empty text.
    return parseJsonStrict(JSON.stringify(value) ?? '')
  } catch (error) {
    throw new Fault('bad_input', `${what}: is not JSON: ${messageOf(error)}`)
  }
}
