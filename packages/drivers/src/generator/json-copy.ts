/** Values that agents hand over become JSON here, by the rules of the wire: whatever happens to them later changes nothing of what was asked or said. */
import { Fault, type Json, messageOf, parseJsonStrict } from '@holdpoint/protocol'

export function jsonCopy(value: unknown, what: string): Json {
  try {
    // What has no JSON form at all reads as nothing, which `readJson` refuses.
    return parseJsonStrict(JSON.stringify(value) ?? '')
  } catch (error) {
    throw new Fault('bad_input', `${what}: is not JSON: ${messageOf(error)}`)
  }
}
