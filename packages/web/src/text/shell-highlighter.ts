/** Highlights shell commands synchronously: program names, operators, strings, variables and comments. */
import { type ShellToken, shellTokens } from '@holdpoint/client'
import type { ColoredText, TokenColor } from './token-colors.ts'

const shellNames = new Set(['bash', 'sh', 'shell', 'zsh', 'console'])
export function isShell(lang: string): boolean {
  return shellNames.has(lang)
}

const colors: Readonly<Record<ShellToken['kind'], TokenColor | null>> = {
  comment: 'quiet',
  string: 'string',
  variable: 'number',
  operator: 'keyword',
  word: null,
  blank: null,
}

/** Longer words may be broken, because they might not fit into one line. */
const unbrokenMax = 32

function colorOf({ text, kind, startsCommand }: ShellToken): TokenColor | null {
  if (startsCommand) return 'name'
  return kind === 'word' && text.includes('-') && text.length <= unbrokenMax ? 'word' : colors[kind]
}

export function highlightShell(text: string): readonly ColoredText[] {
  const segments: ColoredText[] = []
  for (const token of shellTokens(text)) {
    const { text: part } = token
    const color = colorOf(token)
    const last = segments.at(-1)
    if (color === null && last?.color === null) segments[segments.length - 1] = { text: last.text + part, color }
    else segments.push({ text: part, color })
  }
  return segments
}
