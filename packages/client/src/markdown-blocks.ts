/** Parses Markdown into blocks, incrementally while a text streams, and detects markup that would hide text or stall the parser. */
import { hasRightToLeft } from '@holdpoint/protocol'
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { displayText } from './display-text.ts'

/** Longer texts are shown as source, because parsing them takes too long. */
export const markdownMax = 48_000
/**
 * Limits for texts that marked parses. Marked compares each emphasis sign of a paragraph with all others, and searches the rest of
 * the paragraph at each bracket, so a few thousand such signs would freeze the page or the terminal. Ordinary texts stay far below these limits.
 */
const paragraphLimits = { chars: 8000, emphasis: 120, signs: 400 } as const
const textLimits = { lines: 3000, items: 400, emphasis: 1000, signs: 3000 } as const
const wordMax = 1500
/** The number of nested quotes and lists that may start on one line. Deep nesting freezes marked. */
const nestingMax = 10
const nestedMark = /[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])/y

export type MarkdownBlock = MarkedToken
export type MarkdownTable = Tokens.Table
export type MarkdownList = Tokens.List

/** Returns the blocks of a text; null if the text should be shown as source. */
export function readBlocks(text: string): readonly MarkdownBlock[] | null {
  if (text.length > markdownMax || isTooComplex(text)) return null
  try {
    // Make a lone carriage return visible, because marked would treat it as a line ending and so hide it from the reader.
    return lexer(text.replace(/\r(?!\n)/g, '␍')) as MarkdownBlock[] // Without extensions, marked returns no other token types.
  } catch {
    return null
  }
}

/** How many escaped characters or mirrored signs a text may have, because the page draws each in an element of its own. */
const elementsMax = 1000
/** The length of an escape such as \u{200b}. */
const escapeLength = 8

function needsTooManyElements(text: string): boolean {
  const added = displayText(text, { multiline: true, keepEmoji: true }).length - text.length
  return added > elementsMax * escapeLength || (hasRightToLeft(text) && countOf(text, /\p{Bidi_M}/gu) > elementsMax)
}

function isTooComplex(text: string): boolean {
  if (needsTooManyElements(text)) return true
  const lines = text.split('\n')
  if (lines.length > textLimits.lines) return true
  const total = { items: 0, emphasis: 0, signs: 0 }
  let paragraph = { chars: 0, emphasis: 0, signs: 0 }
  for (const line of lines) {
    if (line.trim() === '') paragraph = { chars: 0, emphasis: 0, signs: 0 }
    const [emphasis, signs] = [countOf(line, /[*_~]/g), countOf(line, /[`![\]<&|\\@]/g)]
    paragraph.chars += line.length
    for (const counts of [paragraph, total]) {
      counts.emphasis += emphasis
      counts.signs += signs
    }
    if (/^[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/.test(line)) total.items++
    if (isTooDeep(line) || hasLongWord(line)) return true
    if (isAbove(paragraph, paragraphLimits) || isAbove(total, textLimits)) return true
  }
  return false
}

function isTooDeep(line: string): boolean {
  nestedMark.lastIndex = 0
  let depth = 0
  while (depth <= nestingMax && nestedMark.test(line)) depth++
  nestedMark.lastIndex = 0
  return depth > nestingMax
}

function countOf(line: string, sign: RegExp): number {
  return line.match(sign)?.length ?? 0
}

function hasLongWord(line: string): boolean {
  return line.length > wordMax && line.split(/\s/).some(word => word.length > wordMax)
}

function isAbove(counts: Readonly<Record<string, number>>, limits: Readonly<Record<string, number>>): boolean {
  return Object.entries(counts).some(([name, count]) => count > (limits[name] ?? 0))
}

/** Parses a text that has grown since `previous` was parsed. Reuses all blocks except the last one, because appended text continues the last block or follows it. An appended link definition affects the reused blocks only once the whole text is parsed again. */
export function growBlocks(previous: readonly MarkdownBlock[], text: string): readonly MarkdownBlock[] | null {
  const last = previous.findLastIndex(block => block.type !== 'space')
  const stable = previous.slice(0, Math.max(0, last))
  const readLength = stable.reduce((sum, block) => sum + block.raw.length, 0)
  if (readLength === 0 || !text.startsWith(stable.map(block => block.raw).join(''))) return readBlocks(text)
  const rest = text.length > markdownMax ? null : readBlocks(text.slice(readLength))
  return rest && [...stable, ...rest]
}

export interface LinkTarget {
  readonly href: string
  /** The host to which the link leads, or the address of a mailto link, even if the link text says something else. */
  readonly host: string
}
const safeProtocols = new Set(['http:', 'https:', 'mailto:'])

/** Returns null if the link is invalid or unsafe. */
export function linkTarget(href: string): LinkTarget | null {
  if (!URL.canParse(href)) return null
  const url = new URL(href)
  if (!safeProtocols.has(url.protocol)) return null
  return { href: url.href, host: url.protocol === 'mailto:' ? url.pathname : url.host }
}

/** Returns true if marked drops cells of the table because a row has more cells than the header. Such a table is shown as source. */
export function hidesCells({ raw, header, rows }: Tokens.Table): boolean {
  let at = 0
  let rest = ''
  for (const { text } of [header, ...rows].flat()) {
    const escaped = text.replaceAll('|', '\\|')
    const found = raw.indexOf(escaped, at)
    if (found === -1) return true
    rest += raw.slice(at, found)
    at = found + escaped.length
  }
  return /[^\s|:\-\\]/.test(rest + raw.slice(at))
}

/** Returns the tokens inside a token, if any. */
export function childTokens(token: Token): readonly MarkedToken[] {
  return ('tokens' in token ? (token.tokens ?? []) : []) as MarkedToken[] // Without extensions, marked returns no other token types.
}
