/** Splits a long text into chunks that can be escaped and drawn one at a time. Escaping the chunks gives the same result as escaping the whole text. */
import { cutOffset } from './display-text.ts'

const linesMax = 300
const charsMax = 8000
/** Characters outside ASCII may need an element each, for an escape or a warning, so fewer of them fit into a chunk. */
const unusualMax = 800
const unusual = /[^\0-\x7f]/g
/** Blanks, backslashes and marks are counted or escaped together with their neighbors, so a long line is not split beside them. */
const joined = /[\s\\⟨\u200d]|\p{M}/u
const blankLines = /(?:[ \t]*\r?\n)+/y

/** Returns the chunks of a text. A chunk that ends at a line break does not include the line break. */
export function textChunks(text: string): readonly string[] {
  const chunks: string[] = []
  let from = 0
  while (from <= text.length) {
    const end = chunkEnd(text, from)
    chunks.push(text.slice(from, end))
    from = text[end] === '\n' || end === text.length ? end + 1 : end
  }
  return chunks
}

/** Returns the offset at which the chunk ends: at a line break if possible, otherwise inside a line that is longer than a chunk. */
function chunkEnd(text: string, from: number): number {
  const end = sizedEnd(text, from)
  // Search only this part, because searching the rest of the text for every chunk would take quadratic time.
  const at = from + unusualEnd(text.slice(from, end))
  if (at >= end) return end
  const lineBreak = from + text.slice(from, at).lastIndexOf('\n')
  return lineBreak > from ? Math.min(end, endOfBlankLines(text, lineBreak)) : splitPoint(text, at)
}

/** Returns the offset after the last unusual character that fits into a chunk, or the length of the text if all fit. */
function unusualEnd(text: string): number {
  unusual.lastIndex = 0
  for (let count = 0; count < unusualMax; count++) if (!unusual.test(text)) return text.length
  return unusual.lastIndex
}

/** Returns where the chunk ends if only lines and characters count. */
function sizedEnd(text: string, from: number): number {
  const part = text.slice(from, from + charsMax + 1)
  let end = -1
  for (let lines = 0; lines < linesMax; lines++) {
    const next = part.indexOf('\n', end + 1)
    if (next === -1 && part.length <= charsMax) return text.length
    if (next === -1) return end === -1 ? splitPoint(text, from + charsMax) : from + end
    end = next
  }
  return endOfBlankLines(text, from + end)
}

/** Returns the end of the blank lines that follow a line break, because a run of blank lines is counted as a whole. */
function endOfBlankLines(text: string, end: number): number {
  blankLines.lastIndex = end + 1
  return blankLines.test(text) ? blankLines.lastIndex - 1 : end
}

function splitPoint(text: string, at: number): number {
  let point = cutOffset(text, at)
  const isJoined = () => joined.test(text[point] ?? '') || joined.test(text[point - 1] ?? '')
  const isInLine = () => point < text.length && text[point] !== '\n'
  // A run of blanks may have any length, because it becomes one short marker.
  while (isInLine() && isJoined() && (point - at < joinedMax || isBlank(text[point]))) point++
  return Math.max(point, at)
}

const joinedMax = 1000

function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t'
}
