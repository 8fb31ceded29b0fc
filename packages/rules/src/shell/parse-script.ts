/** Parses shell texts with the complete parser. */
import { type ParsedScript, parse } from 'unbash'

let last: { readonly text: string; readonly script: ParsedScript } | null = null

/** Returns the syntax tree of a text, which nobody may change. Both readings of a command need the same tree one after the other, so the last one is remembered. */
export function parseScript(text: string): ParsedScript {
  if (last?.text !== text) last = { text, script: parse(text) }
  return last.script
}
