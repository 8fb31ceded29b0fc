/** Lists as columns: each as wide as its longest cell; the last one takes what is left of the screen. */
import { ours, type Row, row, type Span } from './span.ts'
import { cut, widthOf } from './width.ts'

const gap = 2
const lastMin = 20
export const titleColumns = 28

/** A list is for finding; what is decided is shown whole elsewhere, so the last cell may be cut on a screen. In a pipe nothing is. */
export function tableRows(
  head: readonly string[],
  lines: readonly (readonly Span[])[],
  columns: number | null,
): readonly Row[] {
  const all = [head.map(name => ours(name.toUpperCase(), 'quiet')), ...lines]
  const widths = head.map((_, at) => Math.max(...all.map(cells => widthOf(cells[at]?.text ?? ''))))
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap, 0)
  const last = columns === null ? Number.POSITIVE_INFINITY : Math.max(lastMin, columns - before)
  return all.map(cells =>
    row(
      ...cells.flatMap((span, at) => {
        if (at === cells.length - 1) return [span.shortened(text => cut(text, last))]
        return [span, ours(' '.repeat((widths[at] ?? 0) - widthOf(span.text) + gap))]
      }),
    ),
  )
}
