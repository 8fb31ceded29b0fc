/** The first and the last part of a long text. */
import { cutMiddle, lineCount } from '@holdpoint/client'

const headLines = 12
const tailLines = 4
const headChars = 3000
const tailChars = 1000

export interface TextExcerpt {
  readonly head: string
  readonly tail: string
  /** How many whole lines are left out; 0 if only a part of a long line is left out. */
  readonly omittedLines: number
  readonly omittedChars: number
  /** The number of lines of the whole text. */
  readonly lines: number
}

/** Returns null if the text is short enough to be shown as a whole. */
export function excerptOf(text: string): TextExcerpt | null {
  const lines = lineCount(text)
  if (lines <= headLines + tailLines && text.length <= headChars + tailChars) return null
  const start = lines > headLines + tailLines ? text.slice(0, nthLineBreak(text, headLines)) : null
  const end = start === null ? null : text.slice(nthLastLineBreak(text, tailLines) + 1)
  if (start !== null && end !== null && start.length <= headChars && end.length <= tailChars) {
    const omittedChars = text.length - start.length - end.length
    return { head: start, tail: end, omittedLines: lines - headLines - tailLines, omittedChars, lines }
  }
  const { head, omitted, tail } = cutMiddle(text, headChars + tailChars, tailChars)
  return { head, tail, omittedLines: 0, omittedChars: omitted, lines }
}

function nthLineBreak(text: string, n: number): number {
  let at = -1
  for (let i = 0; i < n; i++) at = text.indexOf('\n', at + 1)
  return at
}

function nthLastLineBreak(text: string, n: number): number {
  let at = text.length
  for (let i = 0; i < n; i++) at = text.lastIndexOf('\n', at - 1)
  return at
}
