/** What may be written to a terminal: words that are known to be visible. The one place where an agent's text becomes such (G9). */
import { displayText, singleLine } from '@holdpoint/client'
import { escapeInvisible, hasInvisible } from '@holdpoint/protocol'

/** Waiting is amber and nothing else is; green and red stand only on what became of something. */
export type Style = 'strong' | 'quiet' | 'waiting' | 'yes' | 'no'

/** Made only here, so that nothing else can be printed. */
export class Span {
  readonly text: string
  readonly style: Style | null
  private constructor(text: string, style: Style | null) {
    this.text = text
    this.style = style
  }
  static trusted(text: string, style: Style | null): Span {
    // Ours is visible as it stands; a slip must not become an escape.
    return new Span(hasInvisible(text) ? escapeInvisible(text) : text, style)
  }
  static untrusted(text: string, style: Style | null): Span {
    return new Span(displayText(text), style)
  }
  /** A line of a block as the client shows it: only there are tabs, and they are drawn. */
  static displayed(line: string, style: Style | null): Span {
    return Span.trusted(line.replaceAll('\t', '→   '), style)
  }
  shortened(to: (text: string) => string): Span {
    return new Span(to(this.text), this.style)
  }
  /** Both parts of it at a place between two characters. */
  split(at: number): readonly [Span, Span] {
    return [new Span(this.text.slice(0, at), this.style), new Span(this.text.slice(at), this.style)]
  }
}

/** Our own words, and what the client has made visible already. */
export function trusted(text: string, look: Style | null = null): Span {
  return Span.trusted(text, look)
}
/** What an agent or a person has said, in one line. */
export function untrusted(text: string, look: Style | null = null): Span {
  return Span.untrusted(text, look)
}

/** The same for lists and logs: what had several lines is told in one. */
export function untrustedLine(text: string, look: Style | null = null): Span {
  return untrusted(singleLine(text), look)
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
const noGutter = gutterOf('')
const indent = gutterOf('  ')
/** An agent's content stands behind a bar. */
const bar = gutterOf('  │ ')

export function row(...spans: readonly Span[]): Row {
  return { gutter: noGutter, spans }
}
export const blankRow: Row = row()

/** Our own lines that belong to the one above. */
export function indented(...spans: readonly Span[]): Row {
  return { gutter: indent, spans }
}

const labelWidth = 12
/** Something known, under its name. */
export function labelled(name: string, ...spans: readonly Span[]): Row {
  return { gutter: gutterOf('', labelWidth), spans: [trusted(name.padEnd(labelWidth), 'quiet'), ...spans] }
}

/** A block of an agent's content: line by line, all of it. */
export function quotedRows(text: string, look: Style | null = null): readonly Row[] {
  return displayText(text, { multiline: true })
    .split('\n')
    .map(line => quotedRow(line, look))
}

/** One line of such a block, shown already. What stands before it is ours. */
export function quotedRow(line: string, look: Style | null = null, sign = ''): Row {
  return { gutter: bar, spans: [...(sign === '' ? [] : [trusted(sign, look)]), Span.displayed(line, look)] }
}
