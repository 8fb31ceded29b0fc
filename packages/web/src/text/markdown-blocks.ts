/** Parses Markdown into blocks, incrementally while a text streams, and detects markup that would hide text or stall the parser. */
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'

/** Longer texts are shown as source, because parsing them takes too long. */
export const markdownMax = 48_000
/** Maximum number of emphasis characters in a paragraph. marked compares each emphasis character with all others, so thousands of them would freeze the page. */
const emphasisMax = 1000
/** Matches 40 nested quotes or lists that start on one line. Such nesting freezes marked. */
const tooDeepNesting = /^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){40}/m

export type Block = MarkedToken

/** Returns the blocks of a text; null if the text should be shown as source. */
export function readBlocks(text: string): readonly Block[] | null {
  if (text.length > markdownMax || tooDeepNesting.test(text) || text.split(/\n\s*\n/).some(hasTooMuchEmphasis))
    return null
  try {
    // Make a lone carriage return visible, because marked would treat it as a line ending and so hide it from the reader.
    return lexer(text.replace(/\r(?!\n)/g, '␍')) as Block[] // Without extensions, marked returns no other token types.
  } catch {
    return null
  }
}

function hasTooMuchEmphasis(paragraph: string): boolean {
  return paragraph.length > emphasisMax && (paragraph.match(/[*_~]/g)?.length ?? 0) > emphasisMax
}

/** Parses a text that has grown since `previous` was parsed. Reuses all blocks except the last one, because appended text continues the last block or follows it. An appended link definition affects the reused blocks only once the whole text is parsed again. */
export function growBlocks(previous: readonly Block[], text: string): readonly Block[] | null {
  const last = previous.findLastIndex(block => block.type !== 'space')
  const stable = previous.slice(0, Math.max(0, last))
  const readLength = stable.reduce((sum, block) => sum + block.raw.length, 0)
  if (readLength === 0 || !text.startsWith(stable.map(block => block.raw).join(''))) return readBlocks(text)
  const rest = text.length > markdownMax ? null : readBlocks(text.slice(readLength))
  return rest && [...stable, ...rest]
}

export interface LinkTarget {
  readonly href: string
  /** The host to which the link leads, or the address of a mailto link, whatever the link text says. */
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
