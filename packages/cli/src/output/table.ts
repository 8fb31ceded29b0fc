/** Lists as columns: each as wide as its longest cell; the last one takes what is left of the screen, and those for which nothing is left are left out. */
import { type Row, row, type Span, trusted } from './span.ts'
import { cut, widthOf } from './width.ts'

const gap = 2
const lastColumnMin = 12
export const titleColumns = 28

/** A list is for finding; what is decided is shown whole elsewhere, so a screen may show less than all of it. In a pipe nothing is cut. */
export function tableRows(
  head: readonly string[],
  lines: readonly (readonly Span[])[],
  columns: number | null,
): readonly Row[] {
  const whole = [head.map(name => trusted(name.toUpperCase(), 'quiet')), ...lines]
  const widths = head.map((_, at) => Math.max(...whole.map(cells => widthOf(cells[at]?.text ?? ''))))
  const before = (count: number) => widths.slice(0, count - 1).reduce((sum, width) => sum + width + gap, 0)
  const fits = (count: number) =>
    columns === null || before(count) + Math.min(lastColumnMin, widths[count - 1] ?? 0) <= columns
  let shown = head.length
  while (shown > 1 && !fits(shown)) shown--
  const last = columns === null ? Number.POSITIVE_INFINITY : Math.max(1, columns - before(shown))
  const all = whole.map(cells => cells.slice(0, shown))
  return all.map(cells =>
    row(
      ...cells.flatMap((span, at) => {
        if (at === cells.length - 1) return [span.shortened(text => cut(text, last))]
        return [span, trusted(' '.repeat((widths[at] ?? 0) - widthOf(span.text) + gap))]
      }),
    ),
  )
}
