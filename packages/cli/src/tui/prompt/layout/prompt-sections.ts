/** Defines the sections of a prompt, builds the rows that all prompts share (key hints and numbered lists), and lays out the footer. */
import { gutterOf, type Row, row, type Span, trusted, untrusted, untrustedCode } from '../../../output/span.ts'
import { cutSpans, type StyledLine, widthOf, wrap } from '../../../output/width.ts'
import type { ListSelection } from '../list-selection.ts'
import { type TextInputView, textInputRows, textInputRowsMax } from '../text-input-view.ts'
import { questionTexts } from '../texts.ts'

export interface PromptSections {
  readonly body: readonly Row[]
  /** The index of the body row to scroll to; null if there is none. */
  readonly focus: number | null
  /** The index of the selected list item, or -1 if none is selected; left out if the item need not be fully shown. */
  readonly chosen?: number
  /** The parts of the answer that the person has prepared. Each row is cut to one line. */
  readonly notes: readonly Row[]
  /** The decision to make, such as "[a] Allow  [r] Deny". */
  readonly decision: readonly Row[]
  readonly input: TextInputView | null
  readonly keys: readonly KeyHint[]
}
/** The sections below the body. */
export type PromptFooter = Omit<PromptSections, 'body' | 'focus' | 'chosen'> & {
  /** Keys that the view handles itself, shown after the keys of the prompt. */
  readonly viewKeys?: readonly KeyHint[]
}
export const emptyFooter: PromptFooter = { notes: [], decision: [], input: null, keys: [] }

export type KeyHint = readonly [key: string, action: string]
export const backKey: KeyHint = ['Esc', 'back']

/** Asks whether the answer `r` means the letter or that the person declines. */
export const letterFooter: PromptFooter = {
  ...emptyFooter,
  decision: [row(trusted(questionTexts.letter, 'strong'))],
  keys: [['r', 'decline'], ['s', 'send the letter “r”'], backKey],
}

/** Arranges key hints in rows without splitting a hint between two rows. */
export function keyRows(keys: readonly KeyHint[], columns: number): readonly Row[] {
  const rows: Span[][] = []
  let columnsLeft = 0
  for (const [key, action] of keys) {
    const width = widthOf(`${key} ${action}`)
    const line = rows.at(-1)
    if (line && columnsLeft >= width + gap)
      line.push(trusted(' '.repeat(gap)), trusted(key), trusted(` ${action}`, 'quiet'))
    else rows.push([trusted(key), trusted(` ${action}`, 'quiet')])
    columnsLeft = (line && columnsLeft >= width + gap ? columnsLeft - gap : columns) - width
  }
  return rows.map(spans => row(...spans))
}
const gap = 2

export interface ListOption {
  readonly title: string
  readonly about?: string
  /** True if the title is executed or compared, such as a command to remember. */
  readonly isCode?: boolean
  /** True if the client package has already escaped the title. */
  readonly isEscaped?: boolean
}
/** Builds the rows of a numbered list. The cursor and the marks are characters, because a terminal may not show colors. */
export function listRows(options: readonly ListOption[], { cursor, marked }: ListSelection, isMultiple: boolean) {
  return options.map(({ title, about, isCode, isEscaped }, index) => {
    const isCursor = index === cursor
    const mark = isMultiple ? (marked.includes(index) ? '[x] ' : '[ ] ') : ''
    const number = String(index + 1).padStart(options.length > 9 ? 2 : 1)
    const first = `  ${isCursor ? '›' : ' '} ${number}  ${mark}`
    const spans: Span[] = [
      (isEscaped ? trusted : isCode ? untrustedCode : untrusted)(title, isCursor ? 'strong' : null),
      ...(about ? [trusted('  '), untrusted(about, 'quiet')] : []),
    ]
    return { row: { gutter: gutterOf(first), spans }, isCursor }
  })
}

/** On a screen with fewer lines than this for a request, its keys take one line if the request does not fit. */
const tightBelow = 14
/** Key hints are shown only if the body keeps at least this many lines. */
const bodyMin = 3

export interface FooterSpace {
  readonly columns: number
  /** The number of lines for the body and the footer together. */
  readonly lines: number
  /** The number of lines that the whole body has. */
  readonly bodyLines: number
  /** If not empty, replaces the decision or the first line of the keys, so that nothing moves when the message appears and disappears. */
  readonly message: string
}

/** Returns null if the notes, the decision and the text input leave no line for the body. */
export function layoutFooter(
  { notes, decision, input, keys, viewKeys = [] }: PromptFooter,
  hint: string | null,
  { columns, lines, bodyLines, message }: FooterSpace,
): readonly StyledLine[] | null {
  const wrapAll = (rows: readonly Row[]): readonly StyledLine[] => rows.flatMap(one => wrap(one, columns))
  const cutAll = (rows: readonly Row[]) => rows.map(({ spans }) => cutSpans(spans, columns))
  const available = lines - 1
  const preferred = Math.max(1, lines - bodyMin)
  const wrapped = wrapAll(decision)
  const decisionLines = notes.length + wrapped.length + (input ? 2 : 0) <= available ? wrapped : cutAll(decision)
  const allKeyLines = wrapAll(keyRows([...keys, ...viewKeys], columns))
  // A long request needs the lines of a small screen. If the decision names the most important keys, the keys of the view follow, which lead to the help.
  const isTight = lines < tightBelow && bodyLines > lines - decisionLines.length - allKeyLines.length
  const tightKeys = decision.length > 0 && viewKeys.length > 0 ? viewKeys : keys
  const keyLines = isTight ? wrapAll(keyRows(tightKeys, columns)).slice(0, 1) : allKeyLines
  const inputMax = preferred - notes.length - decisionLines.length - keyLines.length
  const inputLines = input
    ? wrapAll(textInputRows(input, columns, Math.max(2, Math.min(textInputRowsMax, inputMax))))
    : []
  const required = notes.length + decisionLines.length + inputLines.length
  if (required > available) return null
  const spare = Math.max(0, preferred - required)
  const hintLines = hint === null ? [] : wrapAll([row(trusted(hint, 'strong'))])
  // If no line is free, the hint takes a line from the body. If the body has no line to spare, the hint replaces the decision.
  const shownHint = hintLines.slice(0, Math.max(spare, Math.min(1, available - required)))
  const middle =
    shownHint.length === 0 && hintLines.length > 0 ? hintLines.slice(0, decisionLines.length) : decisionLines
  const shownKeys = keyLines.slice(0, Math.max(0, spare - shownHint.length))
  const covered = (some: readonly StyledLine[]) =>
    message === '' ? some : some.map((line, at) => (at === 0 ? cutSpans([trusted(message, 'waiting')], columns) : line))
  const [above, below] = middle.length > 0 ? [covered(middle), shownKeys] : [middle, covered(shownKeys)]
  return [...shownHint, ...cutAll(notes), ...above, ...inputLines, ...below]
}
