/** Formats the change of one file: what happens to the file, and the lines of each changed part. */
import { diffLines, type FileEdits, lineEndingsLabel } from '@holdpoint/client'
import { numberedRows } from './diff.ts'
import { codeRows, type Row, row, trusted, untrustedCode } from './span.ts'

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
