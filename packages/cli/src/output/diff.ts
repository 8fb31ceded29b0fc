/** Formats the changes of a file as rows: each line with its sign and its number. */
import { type Comparison, type DiffRow, displayRun } from '@holdpoint/client'
import { quotedRow, type Row, row, trusted } from './span.ts'

/** Formats several changes of one file, with a row between them. */
export function diffRows({ diffs }: Comparison): readonly Row[] {
  return diffs.flatMap((rows, index) => [...(index > 0 ? [row(trusted('  ⋮', 'quiet'))] : []), ...numberedRows(rows)])
}

/** Formats the lines of a diff, each with its number in the new text, or in the old text if it is removed. The agent sends only the changed part of a file, so the numbers count from the start of that part. */
export function numberedRows(rows: readonly DiffRow[]): readonly Row[] {
  const numberOf = ({ before, after }: DiffRow) => after ?? before ?? 0
  const width = String(rows.reduce((most, line) => Math.max(most, numberOf(line)), 0)).length
  return rows.map(line => {
    const { sign } = line
    const text = displayRun(line, { escapeRightToLeft: true })
    const { gutter, spans } = quotedRow(sign === ' ' ? text : markTrailingSpaces(text), signStyles[sign], `${sign} `)
    const number = trusted(`${String(numberOf(line)).padStart(width)} `, 'quiet')
    return { gutter: { ...gutter, rest: gutter.rest + ' '.repeat(width + 1) }, spans: [number, ...spans] }
  })
}
/** Shows trailing spaces, because they may be the only change in a line. */
function markTrailingSpaces(line: string): string {
  const end = line.endsWith('⟨CR⟩') ? '⟨CR⟩' : ''
  const text = line.slice(0, line.length - end.length)
  let last = text.length
  while (text[last - 1] === ' ') last--
  const count = text.length - last
  return count === 0 ? line : `${text.slice(0, last)}⟨${count} ${count === 1 ? 'space' : 'spaces'}⟩${end}`
}
const signStyles = { '+': 'yes', '-': 'no', ' ': null } as const
