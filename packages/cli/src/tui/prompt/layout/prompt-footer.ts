/** What stands below what is asked: why nothing came of the last key, what goes with the answer, what is typed or decided, which keys do what. */
import { type Row, row, trusted } from '../../../output/span.ts'
import { cutSpans, type StyledLine, wrap } from '../../../output/width.ts'
import { textInputRows, textInputRowsMax } from '../text-input-view.ts'
import { keyRows, type PromptFooter } from './prompt-sections.ts'

/** So many lines of what is asked come before what the keys do. */
const bodyMin = 3

export interface FooterSpace {
  readonly columns: number
  /** For body and foot together. */
  readonly lines: number
}

/** Null where there is no room for what must be in sight: what would be sent, and the place where it is said. */
export function layoutFooter(
  { notes, foot, typed, keys }: PromptFooter,
  hint: string | null,
  { columns, lines }: FooterSpace,
) {
  const laid = (rows: readonly Row[]): readonly StyledLine[] => rows.flatMap(one => wrap(one, columns))
  const oneEach = (rows: readonly Row[]) => rows.map(({ spans }) => cutSpans(spans, columns))
  const most = lines - 1
  const wanted = Math.max(1, lines - bodyMin)
  const whole = laid(foot)
  const asked = notes.length + whole.length + (typed ? 2 : 0) <= most ? whole : oneEach(foot)
  const does = laid(keyRows(keys, columns))
  const left = Math.max(2, Math.min(textInputRowsMax, wanted - notes.length - asked.length - does.length))
  const line = typed ? laid(textInputRows(typed, columns, left)) : []
  const must = notes.length + asked.length + line.length
  if (must > most) return null
  const spare = Math.max(0, wanted - must)
  const said = hint === null ? [] : laid([row(trusted(hint, 'strong'))])
  // Why nothing happened takes a line of the body where there is no other, and where there is but one, the place of what it is about.
  const why = said.slice(0, Math.max(spare, Math.min(1, most - must)))
  const says = why.length === 0 && said.length > 0 ? said.slice(0, asked.length) : asked
  return [...why, ...oneEach(notes), ...says, ...line, ...does.slice(0, Math.max(0, spare - why.length))]
}
