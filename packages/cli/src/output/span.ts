/**
 * Agents' text is escaped for the terminal here. Except for JSON, `Output` writes only spans and rows, so this file is the security
 * boundary between agents' text and the terminal (G9): escape sequences, control characters and direction marks become visible text.
 * Some terminals reorder right-to-left letters and others do not, and a program cannot find out. So in code, and in labels that
 * mix directions, such letters are escaped. Prose keeps them.
 */
import { displayText, exactText, labelText, singleLine } from '@holdpoint/client'
import { escapeInvisible, hasInvisible } from '@holdpoint/protocol'

/** Text styles. `waiting` is amber and asks for attention; `yes` is green and `no` is red. `emphasis` and `code` are for an agent's Markdown, and `selected` for the row of a list that the keys act on. */
export type Style = 'strong' | 'quiet' | 'waiting' | 'yes' | 'no' | 'emphasis' | 'code' | 'selected'

/** A piece of text that is safe to print, with its style. The constructor is private, so unescaped text cannot become a span. */
export class Span {
  readonly text: string
  readonly style: Style | null
  private constructor(text: string, style: Style | null) {
    this.text = text
    this.style = style
  }
  static trusted(text: string, style: Style | null): Span {
    // Our own text has no invisible characters. Escape them anyway, in case a caller passes an agent's text by mistake.
    return new Span(hasInvisible(text) ? escapeInvisible(text) : text, style)
  }
  static label(text: string, style: Style | null): Span {
    return new Span(labelText(text), style)
  }
  static code(text: string, style: Style | null): Span {
    return new Span(exactText(text), style)
  }
  static prose(text: string, style: Style | null): Span {
    return new Span(displayText(text), style)
  }
  /** Creates a span from a line that `displayText` has escaped with `multiline`. That option keeps tabs, so they are drawn as arrows here. */
  static displayed(line: string, style: Style | null): Span {
    return Span.trusted(line.replaceAll('\t', '→   '), style)
  }
  /** Like `displayed`, for a text that may have several lines. The caller splits the span at its line breaks. */
  static prepared(text: string, style: Style | null): Span {
    return new Span(
      text
        .split('\n')
        .map(line => Span.displayed(line, style).text)
        .join('\n'),
      style,
    )
  }
  shortened(to: (text: string) => string): Span {
    return new Span(to(this.text), this.style)
  }
  withStyle(style: Style | null): Span {
    return new Span(this.text, style)
  }
  split(index: number): readonly [Span, Span] {
    return [new Span(this.text.slice(0, index), this.style), new Span(this.text.slice(index), this.style)]
  }
}

/**
 * Text that we wrote ourselves, or that the client package has already escaped. Never pass text from an agent or a
 * person: an escape or a marker that such text imitates would be printed as if it were real.
 */
export function trusted(text: string, style: Style | null = null): Span {
  return Span.trusted(text, style)
}

/** A title, label or name from an agent or a person. Invisible characters are escaped, including line breaks. */
export function untrusted(text: string, style: Style | null = null): Span {
  return Span.label(text, style)
}

/** Like `untrusted`, for text that is executed, compared or typed: a command, a path, a value, the name of a tool. */
export function untrustedCode(text: string, style: Style | null = null): Span {
  return Span.code(text, style)
}

/** One line of prose, for example a message that a person is typing. */
export function untrustedText(line: string, style: Style | null = null): Span {
  return Span.prose(line, style)
}

/** Sentences from an agent or a person in one line: line breaks become a short ↵. */
export function untrustedLine(text: string, style: Style | null = null): Span {
  return Span.prose(singleLine(text), style)
}

/** One line of output. A row that is wider than the terminal is wrapped. Every continuation line starts with `gutter.rest`, so that an agent's text cannot look like a new row. */
export interface Row {
  readonly gutter: Gutter
  readonly spans: readonly Span[]
}
/** The prefixes of a row: `first` for its first line, `rest` for each continuation line. */
export interface Gutter {
  readonly first: string
  readonly rest: string
}

/** Returns a gutter whose `rest` is `columns` wide and ends with a dashed bar. By default, `rest` is as wide as `first`, but at least 4 columns. */
export function gutterOf(first: string, columns = Math.max(4, first.length)): Gutter {
  return { first, rest: `${' '.repeat(columns - 2)}┊ ` }
}
const noGutter = gutterOf('')
const indent = gutterOf('  ')
/** The bar in front of an agent's content. */
const bar = gutterOf('  │ ')

export function row(...spans: readonly Span[]): Row {
  return { gutter: noGutter, spans }
}
export const blankRow: Row = row()

/** An indented row, which belongs to the row above. */
export function indented(...spans: readonly Span[]): Row {
  return { gutter: indent, spans }
}

const labelWidth = 12
/** A label and its value, aligned in two columns. */
export function labelled(label: string, ...spans: readonly Span[]): Row {
  return { gutter: gutterOf('', labelWidth), spans: [trusted(label.padEnd(labelWidth), 'quiet'), ...spans] }
}

/** An agent's sentences as escaped rows, each with a bar in front. */
export function quotedRows(text: string, style: Style | null = null): readonly Row[] {
  return displayText(text, { multiline: true })
    .split('\n')
    .map(line => quotedRow(line, style))
}

/** Like `quotedRows`, for text that is executed: a command, a file, JSON. */
export function codeRows(text: string): readonly Row[] {
  return exactText(text, { multiline: true })
    .split('\n')
    .map(line => quotedRow(line))
}

/** One line of an agent's content with a bar in front. `displayText` must have escaped the line. `sign` is our own prefix, such as `+ `. */
export function quotedRow(line: string, style: Style | null = null, sign = ''): Row {
  return { gutter: bar, spans: [...(sign === '' ? [] : [trusted(sign, style)]), Span.displayed(line, style)] }
}
