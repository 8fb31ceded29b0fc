/** Draws the text that a person is typing. A long text is cut to the lines around the caret, with the number of hidden lines. */
import { gutterOf, type Row, row, trusted, untrustedCode, untrustedText } from '../../output/span.ts'
import { type StyledLine, wrap } from '../../output/width.ts'
import type { TextInput } from './text-input.ts'

export interface TextInputView {
  readonly label: string
  readonly line: TextInput
  /** Whether the text is drawn as dots. */
  readonly secret?: boolean
  /** Whether the text is a value for a program, whose order must be exact. */
  readonly isCode?: boolean
}

const caretSign = '▏'
/** Only the caret has this style, so that `visibleWindow` can find the line with the caret. */
const caretStyle = 'strong'
export const textInputRowsMax = 6

/** Returns one row per screen line, and at most `most` rows. */
export function textInputRows(
  { label, line: { text, caret }, secret, isCode }: TextInputView,
  columns: number,
  most = textInputRowsMax,
): readonly Row[] {
  const drawn = (shown: string) => (secret ? '•'.repeat([...shown].length) : shown)
  const before = drawn(text.slice(0, caret)).split('\n')
  const [after = '', ...below] = drawn(text.slice(caret)).split('\n')
  const above = before.slice(0, -1)
  const shown = (line: string) => (isCode ? untrustedCode(line) : untrustedText(line))
  const here = [shown(before.at(-1) ?? ''), trusted(caretSign, caretStyle), shown(after)]
  const first = label === '' ? '› ' : `${label} › `
  const gutter = gutterOf(first, first.length)
  const lines = [...above.map(one => [shown(one)]), here, ...below.map(one => [shown(one)])].flatMap((spans, index) =>
    wrap({ gutter: index === 0 ? gutter : { ...gutter, first: gutter.rest }, spans }, columns),
  )
  return lines.length <= most ? lines.map(line => row(...line)) : visibleWindow(lines, Math.max(1, most - 1))
}

function visibleWindow(lines: readonly StyledLine[], size: number): readonly Row[] {
  const caretLine = lines.findIndex(line => line.some(({ style }) => style === caretStyle))
  const from = Math.min(lines.length - size, Math.max(0, caretLine - Math.floor(size / 2)))
  const below = lines.length - size - from
  const hidden = [...(from > 0 ? [`${from} above`] : []), ...(below > 0 ? [`${below} below`] : [])]
  return [row(trusted(`⟨${hidden.join(', ')}⟩`, 'quiet')), ...lines.slice(from, from + size).map(line => row(...line))]
}
