/** A line that is being typed, as it is drawn: whole where there is room, else what stands around the caret and how much there is beside it. */
import { gutterOf, type Row, row, trusted, untrusted } from '../../output/span.ts'
import { type StyledLine, wrap } from '../../output/width.ts'
import type { TextInput } from './text-input.ts'

export interface TextInputView {
  readonly label: string
  readonly line: TextInput
  /** Shown as so many dots. */
  readonly secret?: boolean
}

const caret = '▏'
/** Nothing else in such a line has it, whatever is typed. */
const caretLook = 'strong'
export const textInputRowsMax = 6

/** Each row is a line of a screen with so many columns; one of them says what is missing. */
export function textInputRows(
  { label, line: { text, at }, secret }: TextInputView,
  columns: number,
  most = textInputRowsMax,
): readonly Row[] {
  const drawn = (part: string) => (secret ? '•'.repeat([...part].length) : part)
  const before = drawn(text.slice(0, at)).split('\n')
  const [after = '', ...below] = drawn(text.slice(at)).split('\n')
  const above = before.slice(0, -1)
  const here = [untrusted(before.at(-1) ?? ''), trusted(caret, caretLook), untrusted(after)]
  const first = label === '' ? '› ' : `${label} › `
  const gutter = gutterOf(first, first.length)
  const pieces = [...above.map(one => [untrusted(one)]), here, ...below.map(one => [untrusted(one)])].flatMap(
    (spans, index) => wrap({ gutter: index === 0 ? gutter : { ...gutter, first: gutter.rest }, spans }, columns),
  )
  return pieces.length <= most ? pieces.map(piece => row(...piece)) : windowed(pieces, Math.max(1, most - 1))
}

function windowed(pieces: readonly StyledLine[], size: number): readonly Row[] {
  const place = pieces.findIndex(piece => piece.some(({ style }) => style === caretLook))
  const from = Math.min(pieces.length - size, Math.max(0, place - Math.floor(size / 2)))
  const below = pieces.length - size - from
  const parts = [...(from > 0 ? [`${from} above`] : []), ...(below > 0 ? [`${below} below`] : [])]
  return [
    row(trusted(`⟨${parts.join(', ')}⟩`, 'quiet')),
    ...pieces.slice(from, from + size).map(piece => row(...piece)),
  ]
}
