/** What the program tells of itself on stderr: one JSON object a line, its text made visible whatever an agent's words hold (G9). */
import { escapeInvisible, limits } from '@holdpoint/protocol'

export function log(line: object): void {
  const visible = (_: string, value: unknown) =>
    typeof value === 'string' ? escapeInvisible(value.slice(0, limits.reasonMax)) : value
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), ...line }, visible)}\n`)
}
