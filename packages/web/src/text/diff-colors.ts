/** Colors the rows of a diff like code. Removed and added rows are read as two texts, so that a comment or string over several lines has one color. */
import { type DiffRow, displayRun } from '@holdpoint/client'
import { highlight } from './highlighter.ts'
import type { ColoredText } from './token-colors.ts'

export type RowColors = ReadonlyMap<DiffRow, readonly ColoredText[]>

const noColors: RowColors = new Map()

/** Returns the colored segments of each row. Rows that are longer than `lineMax` have no colors. */
export function rowColors(rows: readonly DiffRow[], lang: string | undefined, lineMax: number): RowColors {
  if (lang === undefined) return noColors
  const colors = new Map<DiffRow, readonly ColoredText[]>()
  for (const sign of ['-', '+'] as const) {
    const side = rows.filter(row => (row.sign === ' ' || row.sign === sign) && row.text.length <= lineMax)
    const segments = highlight(side.map(row => displayRun(row)).join('\n'), lang)
    if (!segments) return noColors
    const lines = splitLines(segments)
    for (const [index, row] of side.entries()) colors.set(row, lines[index] ?? [])
  }
  return colors
}

/** Splits colored segments into lines. */
function splitLines(segments: readonly ColoredText[]): readonly (readonly ColoredText[])[] {
  const lines: ColoredText[][] = [[]]
  for (const { text, color } of segments)
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push({ text: part, color })
    }
  return lines
}
