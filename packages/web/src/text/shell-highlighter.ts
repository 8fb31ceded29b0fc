/** Highlights shell commands synchronously: program names, operators, strings, variables and comments. highlight.js does not mark program names or operators. */
import type { ColoredText, TokenColor } from './token-colors.ts'

const shellNames = new Set(['bash', 'sh', 'shell', 'zsh', 'console'])
export function isShell(lang: string): boolean {
  return shellNames.has(lang)
}

/** Matches one token at a time. Every character belongs to a token, and an unclosed quote extends to the end of the text. */
const tokenPattern =
  /(?<comment>(?<![^\s;|&()])#[^\n]*)|(?<string>'[^']*'?|"(?:\\[\s\S]|[^"\\])*"?)|(?<variable>\$(?:\{[^}]*\}?|\w+|[^\w\s]?))|(?<operator>[|&;<>()\n]+)|(?<word>(?:\\[\s\S]|[^\s'"$|&;<>()\\])+)|\s|\\/g

export function highlightShell(text: string): readonly ColoredText[] {
  let startsCommand = true
  return [...text.matchAll(tokenPattern)].map(({ 0: token, groups = {} }): ColoredText => {
    const color = colorOf(groups, token, startsCommand)
    if (groups.operator !== undefined) startsCommand = !/[<>]$/.test(token)
    // After a variable assignment, the command name is still to come.
    else if (groups.comment === undefined && token.trim() !== '' && !/^\w+=/.test(token)) startsCommand = false
    return { text: token, color }
  })
}

function colorOf(
  groups: Readonly<Record<string, string | undefined>>,
  token: string,
  startsCommand: boolean,
): TokenColor | null {
  if (groups.comment !== undefined) return 'quiet'
  if (groups.string !== undefined) return 'string'
  if (groups.variable !== undefined) return 'number'
  if (groups.operator !== undefined) return 'keyword'
  return groups.word !== undefined && startsCommand && !token.includes('=') ? 'name' : null
}
