/** Formats the change of one file: what happens to the file, and the lines of each changed part. */
import { type DiffRow, diffLines, displayRun, type FileEdits, lineEndingsLabel } from '@holdpoint/client'
import { codeRows, quotedRow, type Row, row, trusted, untrustedCode } from './span.ts'

const headings: Readonly<Record<FileEdits['kind'], string>> = {
  write: 'Full content of ',
  edit: 'In ',
  delete: 'Deletes ',
  move: 'Moves ',
}

export function changeRows({ path, kind, edits, diff, movedTo }: FileEdits): readonly Row[] {
  const { diffs, lineEndings } = diffLines(edits)
  const about = lineEndingsLabel(lineEndings)
  const moved = movedTo === undefined ? [] : [trusted(' to '), untrustedCode(movedTo)]
  return [
    row(trusted(headings[kind]), untrustedCode(path), ...moved, trusted(about && ` · ${about}`, 'quiet')),
    ...diffs.flatMap((rows, index) => [...partRows(edits[index]?.header, index === 0), ...numberedRows(rows)]),
    ...(diff ? codeRows(diff) : []),
  ]
}

/** Separates a part from the one before it, and shows where in the file it is, as the agent says it. */
function partRows(header: string | undefined, isFirst: boolean): readonly Row[] {
  if (header !== undefined) return [row(untrustedCode(header, 'quiet'))]
  return isFirst ? [] : [row(trusted('  ⋮', 'quiet'))]
}

/** Formats the lines of a diff, each with its number in the new text, or in the old text if it is removed. The agent sends only the changed part of a file, so the numbers count from the start of that part. */
function numberedRows(rows: readonly DiffRow[]): readonly Row[] {
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
