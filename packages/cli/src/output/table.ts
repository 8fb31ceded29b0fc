/** Lays out a list in columns. On a narrow screen the last column is cut, and then whole columns are left out. */
import { type Row, row, type Span, trusted } from './span.ts'
import { cut, widthOf } from './width.ts'

const gapColumns = 2
const lastColumnMin = 12
/** How many columns the title of a session takes at most, so that a screen with 80 columns has room for the rest of the row. */
export function titleColumns(columns: number): number {
  return columns < 100 ? 16 : 28
}

export interface NarrowTable {
  /** The columns that are left out first on a narrow screen. After them, columns are left out from the right. */
  readonly spare?: readonly string[]
  /** Columns are left out until the last one has this width. */
  readonly lastMin?: number
}

/** Cutting is safe in a list, because `show` and `allow` print a request in full before anyone answers it. */
export function tableRows(
  head: readonly string[],
  lines: readonly (readonly Span[])[],
  columns: number,
  { spare: [first, ...spare] = [], lastMin = lastColumnMin }: NarrowTable = {},
): readonly Row[] {
  const rows = layOut(head, lines, { columns, lastMin, maySkip: first === undefined })
  if (rows) return rows
  const without = first === undefined ? -1 : head.indexOf(first)
  const others = <T>(cells: readonly T[]) => cells.filter((_, index) => index !== without)
  return tableRows(others(head), lines.map(others), columns, { spare, lastMin })
}

/** Returns null if the columns do not fit, unless columns may be left out from the right. */
function layOut(
  head: readonly string[],
  lines: readonly (readonly Span[])[],
  { columns, lastMin, maySkip }: { readonly columns: number; readonly lastMin: number; readonly maySkip: boolean },
): readonly Row[] | null {
  const table = [head.map(name => trusted(name.toUpperCase(), 'quiet')), ...lines]
  const widths = head.map((_, index) => Math.max(...table.map(cells => widthOf(cells[index]?.text ?? ''))))
  const startOfLast = (count: number) => widths.slice(0, count - 1).reduce((sum, width) => sum + width + gapColumns, 0)
  const fits = (count: number) => startOfLast(count) + Math.min(lastMin, widths[count - 1] ?? 0) <= columns
  let shown = head.length
  if (!maySkip && !fits(shown)) return null
  while (shown > 1 && !fits(shown)) shown--
  const lastWidth = Math.max(1, columns - startOfLast(shown))
  return table.map(cells =>
    row(
      ...cells.slice(0, shown).flatMap((span, index) => {
        if (index === Math.min(shown, cells.length) - 1) return [span.shortened(text => cut(text, lastWidth))]
        return [span, trusted(' '.repeat((widths[index] ?? 0) - widthOf(span.text) + gapColumns))]
      }),
    ),
  )
}
