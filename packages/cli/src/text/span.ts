/** What may be written to a terminal: words that are known to be visible. The one place where an agent's text becomes such (G9). */
import { hidesSomething, reveal } from '@holdpoint/protocol'

/** Waiting is amber and nothing else is; green and red stand only on what became of something. */
export type Look = 'strong' | 'quiet' | 'waiting' | 'yes' | 'no'

/** Made only here, so that nothing else can be printed. */
export class Span {
  readonly text: string
  readonly look: Look | null
  private constructor(text: string, look: Look | null) {
    this.text = text
    this.look = look
  }
  static ours(text: string, look: Look | null): Span {
    // Ours is visible as it stands; a slip must not become an escape.
    return new Span(hidesSomething(text) ? reveal(text) : text, look)
  }
  static theirs(text: string, look: Look | null, tabs: boolean): Span {
    // Only a line of a block has tabs; elsewhere they are spelt out.
    return new Span(tabs ? drawn(reveal(text, { multiline: true })) : drawn(reveal(text)), look)
  }
  shortened(to: (text: string) => string): Span {
    return new Span(to(this.text), this.look)
  }
  /** Both parts of it at a place between two characters. */
  split(at: number): readonly [Span, Span] {
    return [new Span(this.text.slice(0, at), this.look), new Span(this.text.slice(at), this.look)]
  }
}

const blanksMax = 40
const tabsMax = 10
const blankRuns = new RegExp(`[ \\t]{${blanksMax + 1},}|\\t{${tabsMax + 1},}`, 'g')

/** Blanks take no place in which something could be pushed out of sight: a long run is counted, and a tab is drawn. What only looks like such a count is spelt out. */
function drawn(text: string): string {
  return text
    .replace(/(\\*)⟨(?=\d)/g, '$1$1\\u{27e8}')
    .replace(blankRuns, run => {
      const kind = run.includes('\t') ? (run.includes(' ') ? 'blanks' : 'tabs') : 'spaces'
      return `⟨${run.length} ${kind}⟩`
    })
    .replaceAll('\t', '→   ')
}

/** Our own words, and what the client has made visible already. */
export function ours(text: string, look: Look | null = null): Span {
  return Span.ours(text, look)
}
/** What an agent or a person has said, in one line. */
export function theirs(text: string, look: Look | null = null): Span {
  return Span.theirs(text, look, false)
}

/** The same for lists and logs: what had several lines is told in one. */
export function brief(text: string, look: Look | null = null): Span {
  const lines = text.split('\n').map(line => line.trim())
  return theirs(lines.filter(line => line !== '').join(' ↵ '), look)
}

/** A line of output. Where it is wrapped, every piece stands behind the gutter: nothing that an agent says begins a line of ours. */
export interface Row {
  readonly gutter: Gutter
  readonly spans: readonly Span[]
}
/** What stands before the first piece of a row, and before the others. */
export interface Gutter {
  readonly first: string
  readonly rest: string
}

/** A broken bar says that the line goes on; it stands under the end of what comes first. */
export function gutterOf(first: string, columns = Math.max(4, first.length)): Gutter {
  return { first, rest: `${' '.repeat(columns - 2)}┊ ` }
}
const plain = gutterOf('')
const belonging = gutterOf('  ')
/** An agent's content stands behind a bar. */
const barred = gutterOf('  │ ')

export function row(...spans: readonly Span[]): Row {
  return { gutter: plain, spans }
}
export const blank: Row = row()

/** Our own lines that belong to the one above. */
export function indented(...spans: readonly Span[]): Row {
  return { gutter: belonging, spans }
}

const factWidth = 12
/** Something known, under its name. */
export function fact(name: string, ...spans: readonly Span[]): Row {
  return { gutter: gutterOf('', factWidth), spans: [ours(name.padEnd(factWidth), 'quiet'), ...spans] }
}

/** A block of an agent's content: line by line, all of it. */
export function quoted(text: string, look: Look | null = null): readonly Row[] {
  return quotedLines(text.split('\n').map(line => ({ text: line, look, sign: '' })))
}
export function quotedLine(line: string): Row {
  return rowOf({ text: line, look: null, sign: '' })
}

export interface QuotedLine {
  readonly text: string
  readonly look: Look | null
  /** What stands before it, of ours. */
  readonly sign: string
}
const blankLinesMax = 5

/** Many blank lines in a row are counted, as many blanks are. */
export function quotedLines(lines: readonly QuotedLine[]): readonly Row[] {
  const rows: Row[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as QuotedLine // within the list
    let end = at
    while (lines[end]?.sign === line.sign && /^[ \t]*$/.test(lines[end]?.text ?? '')) end++
    const many = end - at > blankLinesMax
    const counted = [ours(line.sign, line.look), ours(`⟨${end - at} blank lines⟩`, line.look)]
    rows.push(many ? { gutter: barred, spans: counted } : rowOf(line))
    at = many ? end : at + 1
  }
  return rows
}
function rowOf({ text, look, sign }: QuotedLine): Row {
  const spans = [...(sign === '' ? [] : [ours(sign, look)]), Span.theirs(text, look, true)]
  return { gutter: barred, spans }
}
