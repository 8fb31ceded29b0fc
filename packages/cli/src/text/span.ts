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
  static theirs(text: string, look: Look | null): Span {
    return new Span(reveal(text), look)
  }
  shortened(to: (text: string) => string): Span {
    return new Span(to(this.text), this.look)
  }
  /** Both parts of it at a place between two characters. */
  split(at: number): readonly [Span, Span] {
    return [new Span(this.text.slice(0, at), this.look), new Span(this.text.slice(at), this.look)]
  }
}

/** Our own words, and what the client has made visible already. */
export function ours(text: string, look: Look | null = null): Span {
  return Span.ours(text, look)
}
/** What an agent or a person has said, in one line. */
export function theirs(text: string, look: Look | null = null): Span {
  return Span.theirs(text, look)
}

/** The same for lists and logs: what had several lines is told in one. */
export function brief(text: string, look: Look | null = null): Span {
  return Span.theirs(text.trim().replace(/\s*\n\s*/g, ' ↵ '), look)
}

/** A line of output. Where it is wrapped, every piece stands behind the gutter. */
export interface Row {
  readonly gutter: Gutter
  readonly spans: readonly Span[]
}
/** What stands before the first piece of a row, and before the others. */
export interface Gutter {
  readonly first: string
  readonly rest: string
}
const plain: Gutter = { first: '', rest: '' }
/** An agent's content stands behind a bar; a broken one says that the line goes on. */
const barred: Gutter = { first: '  │ ', rest: '  ┊ ' }

export function row(...spans: readonly Span[]): Row {
  return { gutter: plain, spans }
}
export const blank: Row = row()

/** Our own lines that belong to the one above. */
export function indented(...spans: readonly Span[]): Row {
  return { gutter: { first: '  ', rest: '  ' }, spans }
}

/** A block of an agent's content: line by line, all of it. */
export function quoted(text: string, look: Look | null = null): readonly Row[] {
  return text.split('\n').map(line => quotedLine(line, look))
}
export function quotedLine(line: string, look: Look | null = null, sign = ''): Row {
  const spans = [...(sign === '' ? [] : [ours(sign, look)]), theirs(withTabsDrawn(line), look)]
  return { gutter: barred, spans }
}

const tabWidth = 4
/** A tab is a place on the screen, not a character: it is drawn, so that no run of them can push text out of sight. */
function withTabsDrawn(line: string): string {
  let drawn = ''
  for (const piece of line.split(/(\t)/)) drawn += piece === '\t' ? `→${' '.repeat(tabWidth - 1)}` : piece
  return drawn
}
