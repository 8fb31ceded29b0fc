/** Decides which texts are drawn letter by letter in stored order, and which follow the direction of their script. */
import { type FormField, hasRightToLeft, readsRightToLeft } from '@holdpoint/protocol'

export function mixesDirections(text: string): boolean {
  return hasRightToLeft(text) && !readsRightToLeft(text)
}

/** Formats whose values mean something to a program, letter by letter. */
const exactFormats = new Set(['email', 'uri', 'date', 'date-time'])

/** Returns whether the value of a field is drawn in stored order: a value for a program, or a default of the agent that mixes directions. Any other field shows typed text in the usual direction of its script. */
export function isExactField(field: FormField): boolean {
  return field.type !== 'string' || exactFormats.has(field.format ?? '') || mixesDirections(field.default ?? '')
}
