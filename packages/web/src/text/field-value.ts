/** Decides whether a text field shows its exact value. A field hides invisible characters, long runs of blanks and text that does not fit, and may draw right-to-left letters in another order. */
import { displayText, markersIn, mixesDirections } from '@holdpoint/client'

/** A longer value may not fit into a field of one line on a narrow screen. */
const oneLineMax = 30

/** Returns true if the field hides characters of the value. The person then has to confirm the value before it is sent. */
export function hidesCharacters(value: string): boolean {
  return displayText(value, { multiline: true, keepEmoji: true }) !== value
}

/** Returns true if the exact value must be shown beside the field. */
export function needsExactValue(value: string, isOneLine: boolean): boolean {
  if (hidesCharacters(value) || value.trim() !== value) return true
  if (mixesDirections(value) || markersIn(value, 'code').length > 0) return true
  return isOneLine && value.length > oneLineMax
}
