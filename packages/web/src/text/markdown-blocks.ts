/** Markdown as blocks: how a text that grows is read without reading all of it again, and which of its markup would hide something. */
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'

/** Longer texts are shown as they are written: reading markup in them takes too long. */
export const markdownMax = 48_000
/** In one paragraph: the reader compares each of them with all the others, so that thousands would stop the page. */
const marksMax = 1000
/** Quotes and lists inside each other that begin on one line: so many nobody means. */
const tooDeep = /^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){40}/m

export type Block = MarkedToken

/** One block after another, together the whole text. Null where its markup is too wild to be read. */
export function readBlocks(text: string): readonly Block[] | null {
  if (text.length > markdownMax || tooDeep.test(text) || text.split(/\n\s*\n/).some(hasTooManyMarks)) return null
  try {
    // The reader takes a lone carriage return for a line end: then nobody would see that it is none.
    return lexer(text.replace(/\r(?!\n)/g, '␍')) as Block[] // no extension is installed, so there are no other kinds
  } catch {
    return null
  }
}

function hasTooManyMarks(paragraph: string): boolean {
  return paragraph.length > marksMax && (paragraph.match(/[*_~]/g)?.length ?? 0) > marksMax
}

/** The blocks of a text that has grown: all but the last stay as they are, since what is added cannot change them. */
export function growBlocks(known: readonly Block[], text: string): readonly Block[] | null {
  const last = known.findLastIndex(block => block.type !== 'space')
  const stable = known.slice(0, Math.max(0, last))
  const read = stable.reduce((sum, block) => sum + block.raw.length, 0)
  if (read === 0 || !text.startsWith(stable.map(block => block.raw).join(''))) return readBlocks(text)
  const fresh = text.length > markdownMax ? null : readBlocks(text.slice(read))
  return fresh && [...stable, ...fresh]
}

export interface Target {
  readonly href: string
  /** Where it really leads, whatever its words say. */
  readonly host: string
}
const safe = new Set(['http:', 'https:', 'mailto:'])

/** Null: no link that one may follow. */
export function targetOf(href: string): Target | null {
  if (!URL.canParse(href)) return null
  const url = new URL(href)
  if (!safe.has(url.protocol)) return null
  return { href: url.href, host: url.protocol === 'mailto:' ? url.pathname : url.host }
}

/** Cells beyond the columns of its head are left out of a table: then the table is shown as it is written. */
export function dropsCells({ raw, header, rows }: Tokens.Table): boolean {
  let at = 0
  let rest = ''
  for (const { text } of [header, ...rows].flat()) {
    const spelt = text.replaceAll('|', '\\|')
    const found = raw.indexOf(spelt, at)
    if (found === -1) return true
    rest += raw.slice(at, found)
    at = found + spelt.length
  }
  return /[^\s|:\-\\]/.test(rest + raw.slice(at))
}

/** Tokens inside a token, where it has any. */
export function inside(token: Token): readonly MarkedToken[] {
  return ('tokens' in token ? (token.tokens ?? []) : []) as MarkedToken[] // see readBlocks
}
