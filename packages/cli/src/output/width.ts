/** How many columns a text takes in a terminal, and where it is broken or cut. Everything here has been revealed: no joiners, no selectors, no controls. */
import { eastAsianWidth } from 'get-east-asian-width'
import { type Row, type Span, trusted } from './span.ts'

const combining = /\p{Mn}/u
/** Terminals do not agree on these: numbers in a square, and pictures. */
const ambiguous = [
  { from: 0x3248, to: 0x324f },
  { from: 0x1f000, to: 0x1faff },
]

/** Rather too many than too few: what a terminal draws wider than was counted runs over the edge, and out of sight. */
function charWidth(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (combining.test(char)) return 0
  return ambiguous.some(({ from, to }) => code >= from && code <= to) ? 2 : eastAsianWidth(code)
}

export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}
export function widthOfSpans(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + widthOf(span.text), 0)
}

/** The text in at most so many columns: its beginning and its end, with a sign for what is missing between them. */
export function cut(text: string, columns: number): string {
  const gap = omission(text, columns)
  return gap ? `${text.slice(0, gap.from)}${gap.sign}${text.slice(gap.to)}` : text
}
/** The same for a line of several looks. */
export function cutSpans(spans: readonly Span[], columns: number): readonly Span[] {
  const gap = omission(spans.map(span => span.text).join(''), columns)
  if (!gap) return spans
  const [before, rest] = splitAt(spans, gap.from)
  const [, after] = splitAt(rest, gap.to - gap.from)
  return [...before, trusted(gap.sign, 'quiet'), ...after]
}

/** Where there is room it is said how much is missing. */
const countedFromColumns = 32

function omission(text: string, columns: number): { from: number; to: number; sign: string } | null {
  const total = widthOf(text)
  if (total <= columns) return null
  const counted = (chars: number) => (columns < countedFromColumns ? '…' : ` ⟨${chars} more⟩ `)
  const room = Math.max(0, columns - counted(text.length).length)
  const tail = Math.ceil(room / 3)
  let [from, to, width, at] = [0, text.length, 0, 0]
  for (const char of text) {
    width += charWidth(char)
    at += char.length
    if (width <= room - tail) from = at
    if (total - width <= tail && to === text.length) to = at
  }
  return { from, to, sign: columns < 1 ? '' : counted([...text.slice(from, to)].length) }
}

/** A printed line: its gutter and what stands behind it. */
export type StyledLine = readonly Span[]

/** So many columns a line has, however narrow the screen and wide the gutter. */
const textColumnsMin = 8

/** A row as the lines of a screen with so many columns; one line where the columns are unknown, as in a pipe. */
export function wrap({ gutter, spans }: Row, columns: number | null): readonly StyledLine[] {
  const pieces: StyledLine[] = []
  for (let rest = spans; rest.length > 0 || pieces.length === 0; ) {
    const lead = pieces.length === 0 ? gutter.first : gutter.rest
    const room = columns === null ? Number.POSITIVE_INFINITY : Math.max(textColumnsMin, columns - widthOf(lead))
    const [line, after] = splitAt(rest, breakIndex(rest, room))
    pieces.push(lead === '' ? line : [trusted(lead, 'quiet'), ...line])
    rest = after
  }
  return pieces
}

/** A blank within the last third of a line is a better place to break than the middle of a word. */
function breakIndex(spans: readonly Span[], room: number): number {
  let [width, at, blankAt] = [0, 0, 0]
  for (const { text } of spans)
    for (const char of text) {
      width += charWidth(char)
      if (width > room) return blankAt || at
      at += char.length
      if (char === ' ' && width > (room * 2) / 3) blankAt = at
    }
  return at
}

/** Both parts of a line, at a place between two characters. */
function splitAt(spans: readonly Span[], place: number): readonly [Span[], Span[]] {
  const [before, after]: [Span[], Span[]] = [[], []]
  let start = 0
  for (const span of spans) {
    const [head, tail] = span.split(Math.max(0, place - start))
    if (head.text !== '') before.push(head)
    if (tail.text !== '') after.push(tail)
    start += span.text.length
  }
  return [before, after]
}
