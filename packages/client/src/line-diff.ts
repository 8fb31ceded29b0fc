/** Compares texts line by line and detects their line endings. If a diff would take too long, all lines count as removed and added. */
import { diffArrays } from 'diff/lib/diff/array.js'
import type { TextEdit } from './ask-view.ts'
import { displayLines } from './display-text.ts'

export interface DiffRow {
  readonly sign: ' ' | '-' | '+'
  /** Escaped for display. */
  readonly text: string
  /** The number of lines in this row: many blank lines are shown as one row. */
  readonly count: number
  /** Line numbers, from 1. Null if the text does not have this line. */
  readonly before: number | null
  readonly after: number | null
}
/** All lines end in LF, all in CRLF, or some in each. */
export type LineEndings = 'lf' | 'crlf' | 'mixed'
export interface Comparison {
  /** One diff per edit. */
  readonly diffs: readonly (readonly DiffRow[])[]
  /** Number of removed and of added lines. */
  readonly removed: number
  readonly added: number
  /** If mixed, each row marks its own. */
  readonly lineEndings: LineEndings
}

const timeoutMs = 200

export function diffLines(edits: readonly TextEdit[]): Comparison {
  const lineEndings = lineEndingsOf(...edits.flatMap(({ before, after }) => [before, after]))
  const normalize = lineEndings === 'crlf' ? (text: string) => text.replaceAll('\r\n', '\n') : (text: string) => text
  const diffs = edits.map(({ before, after }) => runsOf(normalize(before), normalize(after)).flatMap(displayRun))
  const countLines = (sign: DiffRow['sign']) =>
    diffs.flat().reduce((sum, row) => sum + (row.sign === sign ? row.count : 0), 0)
  return { diffs, removed: countLines('-'), added: countLines('+'), lineEndings }
}

export function lineEndingsOf(...texts: readonly string[]): LineEndings {
  const count = (end: string) => texts.reduce((sum, text) => sum + text.split(end).length - 1, 0)
  const crlfCount = count('\r\n')
  if (crlfCount === 0) return 'lf'
  return crlfCount === count('\n') ? 'crlf' : 'mixed'
}

/** Groups of consecutive rows with the same sign. Their text is not escaped. */
function runsOf(before: string, after: string): readonly (readonly DiffRow[])[] {
  const from = linesOf(before)
  const to = linesOf(after)
  const changes = diffArrays(from, to, { timeout: timeoutMs }) ?? [
    { value: from, removed: true, added: false },
    { value: to, removed: false, added: true },
  ]
  let [left, right] = [0, 0]
  return changes.map(({ value, removed, added }) =>
    value.map((text): DiffRow => {
      if (removed) return { sign: '-', text, count: 1, before: ++left, after: null }
      if (added) return { sign: '+', text, count: 1, before: null, after: ++right }
      return { sign: ' ', text, count: 1, before: ++left, after: ++right }
    }),
  )
}

function displayRun(run: readonly DiffRow[]): readonly DiffRow[] {
  let index = 0
  return displayLines(run.map(row => row.text)).map(({ text, count }): DiffRow => {
    const row = run[index] as DiffRow // the counts add up to the length of the run
    index += count
    return { ...row, text, count }
  })
}

/** An empty text has no lines. A final line feed is followed by an empty line, so that adding or removing it is visible. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}
