/** How many columns a text takes in a terminal, and where it is broken or cut. Everything here has been revealed: no joiners, no selectors, no controls. */
import { ours, type Row, type Span } from './span.ts'

const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Yi}\p{Script=Tangut}\p{Script=Bopomofo}\p{Emoji_Presentation}\u3000-\u303e\u31c0-\u33ff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u
const stacked = /[\p{Mn}\p{Me}]/u

function charWidth(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (stacked.test(char)) return 0
  return code >= 0x1100 && wide.test(char) ? 2 : 1
}

export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** The text in at most so many columns; what is missing shows as an ellipsis. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let width = 0
  for (const char of text) {
    width += charWidth(char)
    if (width > columns - 1) break
    kept += char
  }
  return `${kept}…`
}

/** A printed line: its gutter and what stands behind it. */
export type Piece = readonly Span[]

/** A row as the lines of a screen with so many columns; one line where the columns are unknown, as in a pipe. */
export function wrap({ gutter, spans }: Row, columns: number | null): readonly Piece[] {
  const room = columns === null ? Number.POSITIVE_INFINITY : Math.max(8, columns - widthOf(gutter.first))
  const pieces: Piece[] = []
  for (let rest = spans; rest.length > 0 || pieces.length === 0; ) {
    const [line, after] = breakAt(rest, room)
    const lead = pieces.length === 0 ? gutter.first : gutter.rest
    pieces.push(lead === '' ? line : [ours(lead, 'quiet'), ...line])
    rest = after
  }
  return pieces
}

/** A blank within the last third of a line is a better place to break than the middle of a word. */
function breakAt(spans: readonly Span[], room: number): readonly [Span[], Span[]] {
  let width = 0
  let blankAt: { readonly span: number; readonly at: number } | null = null
  for (const [index, span] of spans.entries()) {
    let at = 0
    for (const char of span.text) {
      const next = width + charWidth(char)
      if (next > room) return splitAt(spans, blankAt ?? { span: index, at })
      at += char.length
      width = next
      if (char === ' ' && width > (room * 2) / 3) blankAt = { span: index, at }
    }
  }
  return [[...spans], []]
}

function splitAt(
  spans: readonly Span[],
  { span: index, at }: { readonly span: number; readonly at: number },
): readonly [Span[], Span[]] {
  const [before, after] = (spans[index] as Span).split(at) // the index is one of theirs
  const filled = (list: readonly Span[]) => list.filter(span => span.text !== '')
  return [filled([...spans.slice(0, index), before]), filled([after, ...spans.slice(index + 1)])]
}
