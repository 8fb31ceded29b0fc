/** Prints a sentence for the person on stderr. Commands that load little use this function instead of `Output`. */
import { escapeInvisible } from '@holdpoint/protocol'

/** Writes to stderr directly, because `console` goes to the log if the runner is inline. */
export function printNotice(message: string): void {
  process.stderr.write(`holdpoint: ${escapeInvisible(message, { escapeRightToLeft: true })}\n`)
}
