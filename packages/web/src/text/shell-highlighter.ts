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

export function highlightShell(text: string): readonly ColoredText[] {
  const segments: ColoredText[] = []
  for (const { text: part, kind, startsCommand } of shellTokens(text)) {
    const color = startsCommand ? 'name' : colors[kind]
    const last = segments.at(-1)
    if (color === null && last?.color === null) segments[segments.length - 1] = { text: last.text + part, color }
    else segments.push({ text: part, color })
  }
  return segments
}
