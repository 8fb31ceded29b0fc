/** A diff as two columns: what was taken away stands beside what came in its place, and the part in which the two differ is known. */
import type { DiffRow } from '@holdpoint/client'

export interface Pair {
  readonly left: DiffRow | null
  readonly right: DiffRow | null
}
/** Offsets of what differs. */
export type Span = readonly [from: number, to: number]

export function pairRows(rows: readonly DiffRow[]): readonly Pair[] {
  const pairs: Pair[] = []
  let gone: DiffRow[] = []
  let come: DiffRow[] = []
  const settle = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++)
      pairs.push({ left: gone[i] ?? null, right: come[i] ?? null })
    gone = []
    come = []
  }
  for (const row of rows) {
    if (row.sign === '-') gone.push(row)
    else if (row.sign === '+') come.push(row)
    else {
      settle()
      pairs.push({ left: row, right: row })
    }
  }
  settle()
  return pairs
}

/** Only what stands near a change: runs of rows that belong together. */
export function hunksOf(rows: readonly DiffRow[], context: number): readonly (readonly DiffRow[])[] {
  const hunks: DiffRow[][] = []
  let keptTo = 0
  rows.forEach((row, at) => {
    if (row.sign === ' ') return
    const from = Math.max(keptTo, at - context)
    const to = Math.min(rows.length, at + context + 1)
    const last = hunks.at(-1)
    if (last && from === keptTo) last.push(...rows.slice(from, to))
    else hunks.push(rows.slice(from, to))
    keptTo = Math.max(keptTo, to)
  })
  return hunks
}

/** Lines that have little in common are simply other lines: marking parts of them would only be noise. */
const commonMin = 0.3

/** Null where the lines have too little in common, or nothing that differs. */
export function differingSpans(before: string, after: string): readonly [Span, Span] | null {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  while (head > 0 && isHalf(before, head)) head--
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  while (tail > 0 && isHalf(before, before.length - tail)) tail--
  if (before === after || head + tail < Math.max(before.length, after.length) * commonMin) return null
  return [
    [head, before.length - tail],
    [head, after.length - tail],
  ]
}

/** Whether a cut here would part a character from its second half or from its marks. */
function isHalf(text: string, at: number): boolean {
  return /^[\udc00-\udfff\p{M}]/u.test(text.slice(at, at + 2)) || /^[\udc00-\udfff]/.test(text.slice(at, at + 1))
}
