/**
 * Measures, cuts and wraps text by terminal columns. The text has already been escaped: it has no joiners or control
 * characters, and variation selectors only directly after an emoji.
 *
 * The packages string-width, wrap-ansi and slice-ansi do not fit. They measure grapheme clusters, so they count a flag as
 * two columns although many terminals draw it four columns wide, and text could run past the edge. They also take minutes
 * for a line of about 100,000 characters, which an agent may send.
 */
import { markersIn } from '@holdpoint/client'
import { eastAsianWidth } from 'get-east-asian-width'
import { type Row, type Span, trusted } from './span.ts'

const combining = /\p{Mn}/u
/** Ranges of characters whose width differs between terminals: circled numbers on a black square, and the blocks that contain emoji. */
const ambiguous = [
  { from: 0x3248, to: 0x324f },
  { from: 0x1f000, to: 0x1faff },
]

/** The selector that makes a terminal draw the character before it as an emoji, mostly two columns wide. */
const emojiSelector = '\u{fe0f}'

/** Splits a text into characters. A selector stays with its emoji, so that no line ends between them. */
function* charsOf(text: string): Generator<string> {
  let last = ''
  for (const char of text) {
    if (char === emojiSelector && last !== '') {
      yield last + char
      last = ''
    } else {
      if (last !== '') yield last
      last = char
    }
  }
  if (last !== '') yield last
}

/** Returns how many columns a character takes. Returns the larger number when in doubt, because a character that is drawn wider than counted would push text past the right edge, out of sight. */
function charWidth(char: string): number {
  if (char.length > 1 && char.endsWith(emojiSelector)) return 2
  const code = char.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (combining.test(char)) return 0
  return ambiguous.some(({ from, to }) => code >= from && code <= to) ? 2 : eastAsianWidth(code)
}

export function widthOf(text: string): number {
  let width = 0
  for (const char of charsOf(text)) width += charWidth(char)
  return width
}
export function widthOfSpans(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + widthOf(span.text), 0)
}

/** Shortens the text to this many columns. Keeps its start and its end, and marks the gap between them. */
export function cut(text: string, columns: number): string {
  const gap = omission(text, columns)
  return gap ? `${text.slice(0, gap.from)}${gap.marker}${text.slice(gap.to)}` : text
}
/** Does the same as `cut` for a line of several spans. */
export function cutSpans(spans: readonly Span[], columns: number): readonly Span[] {
  const gap = omission(spans.map(span => span.text).join(''), columns)
  if (!gap) return spans
  const [before, rest] = splitAt(spans, gap.from)
  const [, after] = splitAt(rest, gap.to - gap.from)
  return [...before, trusted(gap.marker, 'quiet'), ...after]
}

/** On lines at least this wide, the marker says how many characters are missing. */
const countedFromColumns = 48

/** Returns the offsets of the part to leave out so that the text fits, and the marker to put there. Returns null if the whole text fits. */
function omission(text: string, columns: number): { from: number; to: number; marker: string } | null {
  const total = widthOf(text)
  if (total <= columns) return null
  const markerFor = (chars: number) => (columns < countedFromColumns ? '…' : ` ⟨${chars} more⟩ `)
  const available = Math.max(0, columns - markerFor(text.length).length)
  const tail = Math.ceil(available / 3)
  let [from, to, width, index] = [0, text.length, 0, 0]
  for (const char of charsOf(text)) {
    width += charWidth(char)
    index += char.length
    if (width <= available - tail) from = index
    if (total - width <= tail && to === text.length) to = index
  }
  // An escape that is cut in two would be unreadable, so it is left out as a whole.
  for (const marker of markersIn(text)) {
    if (marker.from < from && from < marker.to) from = marker.from
    if (marker.from < to && to < marker.to) to = marker.to
  }
  return { from, to, marker: columns < 1 ? '' : markerFor([...text.slice(from, to)].length) }
}

/** A line as it is printed: the gutter, then the text. */
export type StyledLine = readonly Span[]

/** The text next to the gutter always gets at least this many columns, even on a very narrow screen. */
const textColumnsMin = 8

/** Wraps a row into screen lines. In a pipe `columns` is null, and nothing is wrapped. */
export function wrap({ gutter, spans }: Row, columns: number | null): readonly StyledLine[] {
  const lines: StyledLine[] = []
  for (let rest = spans; rest.length > 0 || lines.length === 0; ) {
    const prefix = lines.length === 0 ? gutter.first : gutter.rest
    const available = columns === null ? Number.POSITIVE_INFINITY : Math.max(textColumnsMin, columns - widthOf(prefix))
    const [line, after] = splitAt(rest, breakIndex(rest, available))
    lines.push(prefix === '' ? line : [trusted(prefix, 'quiet'), ...line])
    rest = after
  }
  return lines
}

/** Returns the offset at which to break the line: its end if the line fits, otherwise after the last space in the last third of the columns, or inside a word if there is no such space. */
function breakIndex(spans: readonly Span[], columns: number): number {
  let [width, index, afterSpace] = [0, 0, 0]
  for (const { text } of spans)
    for (const char of charsOf(text)) {
      width += charWidth(char)
      if (width > columns) return afterSpace || index
      index += char.length
      if (char === ' ' && width > (columns * 2) / 3) afterSpace = index
    }
  return index
}

function splitAt(spans: readonly Span[], index: number): readonly [Span[], Span[]] {
  const [before, after]: [Span[], Span[]] = [[], []]
  let start = 0
  for (const span of spans) {
    const [head, tail] = span.split(Math.max(0, index - start))
    if (head.text !== '') before.push(head)
    if (tail.text !== '') after.push(tail)
    start += span.text.length
  }
  return [before, after]
}
