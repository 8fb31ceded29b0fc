/** Writes the program's log to stderr: one JSON object per line. Text is escaped, because it may come from an agent (G9), and Holdpoint's own credentials are masked. */
import { escapeInvisible, limits, maskCredentials } from '@holdpoint/protocol'

export function log(entry: object): void {
  const escaped = (_: string, value: unknown) =>
    typeof value === 'string'
      ? escapeInvisible(maskCredentials(value).value.slice(0, limits.reasonMax).toWellFormed())
      : value
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), ...entry }, escaped)}\n`)
}
