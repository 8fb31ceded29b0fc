/** Colours for commands, at once and without a grammar to load: what runs, what joins and redirects, what is quoted. */
import type { ColoredText, TokenColor } from './token-colors.ts'

const names = new Set(['bash', 'sh', 'shell', 'zsh', 'console'])
export function isShell(lang: string): boolean {
  return names.has(lang)
}

/** Comments, quotes (one that is not closed goes to the end), variables, what joins commands, words, blanks: every character is of one. */
const parts =
  /(?<comment>(?<![^\s;|&()])#[^\n]*)|(?<string>'[^']*'?|"(?:\\[\s\S]|[^"\\])*"?)|(?<variable>\$(?:\{[^}]*\}?|\w+|[^\w\s]?))|(?<join>[|&;<>()\n]+)|(?<word>(?:\\[\s\S]|[^\s'"$|&;<>()\\])+)|\s|\\/g

export function highlightShell(text: string): readonly ColoredText[] {
  let begins = true
  return [...text.matchAll(parts)].map(({ 0: part, groups = {} }): ColoredText => {
    const tone = toneOf(groups, part, begins)
    if (groups.join !== undefined) begins = !/[<>]$/.test(part)
    // What stands before a command sets a variable for it, and the command is still to come.
    else if (groups.comment === undefined && part.trim() !== '' && !/^\w+=/.test(part)) begins = false
    return { text: part, tone }
  })
}

function toneOf(
  groups: Readonly<Record<string, string | undefined>>,
  part: string,
  begins: boolean,
): TokenColor | null {
  if (groups.comment !== undefined) return 'quiet'
  if (groups.string !== undefined) return 'string'
  if (groups.variable !== undefined) return 'number'
  if (groups.join !== undefined) return 'keyword'
  return groups.word !== undefined && begins && !part.includes('=') ? 'name' : null
}
