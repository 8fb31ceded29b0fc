/** The parts that sheets of every kind are made of: keys with what they do, numbered lists. */
import { gutterOf, type Row, row, type Span, trusted, untrusted } from '../../../output/span.ts'
import { widthOf } from '../../../output/width.ts'
import type { ListSelection } from '../list-selection.ts'
import type { TextInputView } from '../text-input-view.ts'

export interface PromptSections {
  readonly body: readonly Row[]
  /** The row of the body that must be in sight. */
  readonly focus: number | null
  /** Which choice that is, where one is taken by its row. */
  readonly chosen?: number
  /** What goes with the answer, a line each. */
  readonly notes: readonly Row[]
  readonly foot: readonly Row[]
  readonly typed: TextInputView | null
  readonly keys: readonly KeyHint[]
}
/** What stands below the body. */
export type PromptFooter = Omit<PromptSections, 'body' | 'focus' | 'chosen'>
export const emptyFooter: PromptFooter = { notes: [], foot: [], typed: null, keys: [] }

/** A key, and what it does. */
export type KeyHint = readonly [key: string, does: string]

/** Keys and what they do, as many to a line as fit whole. */
export function keyRows(keys: readonly KeyHint[], columns: number): readonly Row[] {
  const rows: Span[][] = []
  let room = 0
  for (const [key, does] of keys) {
    const width = widthOf(`${key} ${does}`)
    const line = rows.at(-1)
    if (line && room >= width + gap) line.push(trusted(' '.repeat(gap)), trusted(key), trusted(` ${does}`, 'quiet'))
    else rows.push([trusted(key), trusted(` ${does}`, 'quiet')])
    room = (line && room >= width + gap ? room - gap : columns) - width
  }
  return rows.map(spans => row(...spans))
}
const gap = 2

export interface Choice {
  readonly title: string
  readonly about?: string
}
/** A numbered list. What is chosen is marked by a sign, not by colour alone. */
export function choiceRows(choices: readonly Choice[], { cursor, marked }: ListSelection, many: boolean) {
  return choices.map(({ title, about }, index) => {
    const isCursor = index === cursor
    const mark = many ? (marked.includes(index) ? '[x] ' : '[ ] ') : ''
    const number = String(index + 1).padStart(choices.length > 9 ? 2 : 1)
    const first = `  ${isCursor ? '›' : ' '} ${number}  ${mark}`
    const spans: Span[] = [
      untrusted(title, isCursor ? 'strong' : null),
      ...(about ? [trusted('  '), untrusted(about, 'quiet')] : []),
    ]
    return { row: { gutter: gutterOf(first), spans }, isCursor }
  })
}
