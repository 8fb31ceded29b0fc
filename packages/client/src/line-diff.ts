/** Compares two texts line by line and detects their line endings. If the diffs take longer than `timeoutMs`, all old lines count as removed and all new lines as added. */
import { diffArrays } from 'diff/lib/diff/array.js'
import type { TextEdit } from './ask-view.ts'
import { forEachRun, type LineRun } from './display-text.ts'

/** A line of one text or of both. The text is not escaped yet: `displayRun` escapes it, once the row is drawn. */
export interface DiffRow extends LineRun {
  readonly sign: ' ' | '-' | '+'
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

/** The time for all edits of a request together. It is long enough for every diff that people would read, and short enough to keep the page responsive. */
const timeoutMs = 30

export function diffLines(edits: readonly TextEdit[]): Comparison {
  const lineEndings = lineEndingsOf(...edits.flatMap(({ before, after }) => [before, after]))
  const normalize = lineEndings === 'crlf' ? (text: string) => text.replaceAll('\r\n', '\n') : (text: string) => text
  const deadline = performance.now() + timeoutMs
  const counts = { ' ': 0, '-': 0, '+': 0 }
  const diffs = edits.map(({ before, after }) => {
    const rows = diffRows(normalize(before), normalize(after), deadline)
    for (const { sign, count } of rows) counts[sign] += count
    return rows
  })
  return { diffs, removed: counts['-'], added: counts['+'], lineEndings }
}

export function lineEndingsOf(...texts: readonly string[]): LineEndings {
  const count = (end: string) => texts.reduce((sum, text) => sum + countOf(text, end), 0)
  const crlfCount = count('\r\n')
  if (crlfCount === 0) return 'lf'
  return crlfCount === count('\n') ? 'crlf' : 'mixed'
}

/** Returns the number of lines of a text. An empty text has one line. */
export function lineCount(text: string): number {
  return countOf(text, '\n') + 1
}

function countOf(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++
  return count
}

function diffRows(before: string, after: string, deadline: number): readonly DiffRow[] {
  const from = linesOf(before)
  const to = linesOf(after)
  const isWholeText = from.length === 0 || to.length === 0
  const timeout = Math.max(1, deadline - performance.now())
  const changes = (isWholeText ? null : diffArrays(from, to, { timeout })) ?? [
    { value: from, removed: true, added: false },
    { value: to, removed: false, added: true },
  ]
  const rows: DiffRow[] = []
  let [left, right] = [0, 0]
  for (const { value, removed, added } of changes)
    forEachRun(value, (text, count) => {
      const sign = removed ? '-' : added ? '+' : ' '
      rows.push({ sign, text, count, before: added ? null : left + 1, after: removed ? null : right + 1 })
      if (!added) left += count
      if (!removed) right += count
    })
  return rows
}

/** Splits a text into lines. An empty text has no lines. After a final line feed there is one empty line, so that a diff shows whether the line feed was added or removed. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}
