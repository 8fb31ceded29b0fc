/** Arranges a diff in two columns, groups it into hunks, and finds the part in which two lines differ. */
import type { DiffRow } from '@holdpoint/client'

export interface RowPair {
  readonly left: DiffRow | null
  readonly right: DiffRow | null
}
/** Start and end offset of the differing part of a line. */
export type Span = readonly [from: number, to: number]

export function pairRows(rows: readonly DiffRow[]): readonly RowPair[] {
  const pairs: RowPair[] = []
  let removed: DiffRow[] = []
  let added: DiffRow[] = []
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++)
      pairs.push({ left: removed[i] ?? null, right: added[i] ?? null })
    removed = []
    added = []
  }
  for (const row of rows) {
    if (row.sign === '-') removed.push(row)
    else if (row.sign === '+') added.push(row)
    else {
      flush()
      pairs.push({ left: row, right: row })
    }
  }
  flush()
  return pairs
}

/** Groups the changed rows into hunks, with up to `context` unchanged rows before and after each change. */
export function hunksOf(rows: readonly DiffRow[], context: number): readonly (readonly DiffRow[])[] {
  const hunks: DiffRow[][] = []
  let coveredTo = 0
  rows.forEach((row, index) => {
    if (row.sign === ' ') return
    const from = Math.max(coveredTo, index - context)
    const to = Math.min(rows.length, index + context + 1)
    const last = hunks.at(-1)
    if (last && from === coveredTo) last.push(...rows.slice(from, to))
    else hunks.push(rows.slice(from, to))
    coveredTo = Math.max(coveredTo, to)
  })
  return hunks
}

/** Minimum length of the common start and end of two lines, as a share of the longer line. Below this share, marking the differing part would only distract the reader. */
const commonRatioMin = 0.3

/** Returns the differing part of each line; null if the lines are equal or have too little in common. */
export function differingSpans(before: string, after: string): readonly [Span, Span] | null {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  while (head > 0 && splitsCharacter(before, head)) head--
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  while (tail > 0 && splitsCharacter(before, before.length - tail)) tail--
  if (before === after || head + tail < Math.max(before.length, after.length) * commonRatioMin) return null
  return [
    [head, before.length - tail],
    [head, after.length - tail],
  ]
}

/** Returns true if a cut at this offset would split a surrogate pair, or separate a character from its combining marks. */
function splitsCharacter(text: string, at: number): boolean {
  return /^[\udc00-\udfff\p{M}]/u.test(text.slice(at, at + 2)) || /^[\udc00-\udfff]/.test(text.slice(at, at + 1))
}
