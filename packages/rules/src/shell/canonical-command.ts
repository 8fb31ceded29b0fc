/** Writes a proven command so that every shell reads it in the same way. This is the text that an agent runs after a rule has allowed a command. */
import type { CommandSegment } from './parsed-command.ts'

/** Words that bash, dash and zsh take literally, with any options. With MAGIC_EQUAL_SUBST, zsh expands a second = in a word. */
const safeWord = /^(?!.*[=:]=)[\w./:@%+,-][\w./:@%+,=-]*$/

export function quoteWord(word: string): string {
  return safeWord.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Returns the text of the segments. Parsing the result gives the same segments again. */
export function canonicalCommand(segments: readonly CommandSegment[]): string {
  return segments.map(canonicalSegment).join('')
}

function canonicalSegment({ argv: [name = '', ...args], operator, redirects }: CommandSegment): string {
  const before = operator === null ? '' : operator === ';' ? '; ' : ` ${operator} `
  const words = name === '[' ? [name, ...args.slice(0, -1).map(quoteWord), ']'] : [name, ...args].map(quoteWord)
  return before + [...words, ...redirects].join(' ')
}
