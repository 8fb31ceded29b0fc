/** Two texts compared line by line. Where a comparison would take too long, everything is taken away and everything put in: true, if not short. */
import { diffArrays } from 'diff/lib/diff/array.js'

export interface DiffRow {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
  /** Line numbers from 1 on, in the text that has this line. */
  readonly before: number | null
  readonly after: number | null
}

const timeoutMs = 200

export function lineDiff(before: string, after: string): readonly DiffRow[] {
  const from = linesOf(before)
  const to = linesOf(after)
  const changes = diffArrays(from, to, { timeout: timeoutMs }) ?? [
    { value: from, removed: true, added: false },
    { value: to, removed: false, added: true },
  ]
  let [left, right] = [0, 0]
  return changes.flatMap(({ value, removed, added }) =>
    value.map((text): DiffRow => {
      if (removed) return { sign: '-', text, before: ++left, after: null }
      if (added) return { sign: '+', text, before: null, after: ++right }
      return { sign: ' ', text, before: ++left, after: ++right }
    }),
  )
}

/** A text without lines is no line; a line feed at the end stays visible as what differs. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}
