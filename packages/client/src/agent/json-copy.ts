/** Copies a value from an agent with the gateway's strict JSON parser, so that the agent cannot change the object after it was sent. */
import { Fault, type Json, messageOf, parseJsonStrict } from '@holdpoint/protocol'

export function jsonCopy(value: unknown, what: string): Json {
  try {
    // JSON.stringify returns undefined for values without a JSON form; the strict parser refuses the empty text.
    return parseJsonStrict(JSON.stringify(value) ?? '')
  } catch (error) {
    throw new Fault('bad_input', `${what} is not valid JSON: ${messageOf(error)}`)
  }
}
