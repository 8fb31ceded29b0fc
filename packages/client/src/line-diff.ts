/** Texts compared line by line, and how their lines end. Where a comparison would take too long, everything is taken away and everything put in: true, if not short. */
import { diffArrays } from 'diff/lib/diff/array.js'
import type { TextEdit } from './ask-view.ts'
import { displayLines } from './display-text.ts'

export interface DiffRow {
  readonly sign: ' ' | '-' | '+'
  /** As it is shown. */
  readonly text: string
  /** How many lines it stands for: many blank ones are one row. */
  readonly count: number
  /** Line numbers from 1 on, in the text that has this line. */
  readonly before: number | null
  readonly after: number | null
}
/** By line feeds; all of them by carriage return and line feed; or some so and some so. */
export type LineEnds = 'lf' | 'crlf' | 'mixed'
export interface Comparison {
  /** One for each part. */
  readonly diffs: readonly (readonly DiffRow[])[]
  /** How many lines went, and how many came. */
  readonly removed: number
  readonly added: number
  /** Where they are mixed, each row shows its own. */
  readonly ends: LineEnds
}

const timeoutMs = 200

export function diffLines(parts: readonly TextEdit[]): Comparison {
  const ends = lineEnds(...parts.flatMap(({ before, after }) => [before, after]))
  const laid = ends === 'crlf' ? (text: string) => text.replaceAll('\r\n', '\n') : (text: string) => text
  const diffs = parts.map(({ before, after }) => runsOf(laid(before), laid(after)).flatMap(shown))
  const lines = (sign: DiffRow['sign']) =>
    diffs.flat().reduce((sum, row) => sum + (row.sign === sign ? row.count : 0), 0)
  return { diffs, removed: lines('-'), added: lines('+'), ends }
}

export function lineEnds(...texts: readonly string[]): LineEnds {
  const count = (end: string) => texts.reduce((sum, text) => sum + text.split(end).length - 1, 0)
  const returns = count('\r\n')
  if (returns === 0) return 'lf'
  return returns === count('\n') ? 'crlf' : 'mixed'
}

/** Rows that follow each other and share their sign; their text is not shown yet. */
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

function shown(run: readonly DiffRow[]): readonly DiffRow[] {
  let at = 0
  return displayLines(run.map(row => row.text)).map(({ text, count }): DiffRow => {
    const row = run[at] as DiffRow // together they stand for all that were given
    at += count
    return { ...row, text, count }
  })
}

/** A text without lines is no line; a line feed at the end stays visible as what differs. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}
