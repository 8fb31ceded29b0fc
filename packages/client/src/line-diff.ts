/** Compares two texts line by line and detects their line endings. If a diff takes longer than `timeoutMs`, all old lines count as removed and all new lines as added. */
import { diffArrays } from 'diff/lib/diff/array.js'
import type { TextEdit } from './ask-view.ts'
import { displayLines } from './display-text.ts'

export interface DiffRow {
  readonly sign: ' ' | '-' | '+'
  /** The text of the line, escaped for display. */
  readonly text: string
  /** How many lines of the original text this row represents. It is more than 1 only for a marker that replaces a long run of blank lines. */
  readonly count: number
  /** The line numbers in the two texts, counted from 1. A number is null if its text does not contain the line. */
  readonly before: number | null
  readonly after: number | null
}
/** Whether all lines of a text end in LF, all lines end in CRLF, or the text contains both. */
export type LineEndings = 'lf' | 'crlf' | 'mixed'
export interface Comparison {
  /** The rows of each edit. */
  readonly diffs: readonly (readonly DiffRow[])[]
  /** The numbers of removed and added lines. */
  readonly removed: number
  readonly added: number
  /** The line endings of all texts together. If they are mixed, each row that ends in CRLF has a marker. */
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

/** Returns groups of consecutive rows with the same sign. The text of these rows is not escaped yet. */
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

/** Splits a text into lines. An empty text has no lines. After a final line feed there is one empty line, so that a diff shows whether the line feed was added or removed. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}
