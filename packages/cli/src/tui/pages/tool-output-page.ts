/** Shows a tool call of a session in full: its input and its output. Arrow keys go to earlier and later calls. */
import { type Entry, outputText, type ToolEntry } from '@holdpoint/client'
import { blankRow, codeRows, type Row, row, trusted, untrustedCode, untrustedLine } from '../../output/span.ts'
import { cutSpans, type StyledLine, wrap } from '../../output/width.ts'
import type { KeyHint } from '../prompt/layout/prompt-sections.ts'
import type { Key } from '../terminal/key-parser.ts'
import { type ScreenPage, ScrolledLines } from './screen-page.ts'
import { pageKeys, pageTexts as texts } from './texts.ts'
import { toolInputRows } from './tool-input.ts'

/** Returns the tool calls of a transcript that can be opened. */
export function toolCalls(entries: readonly Entry[]): readonly ToolEntry[] {
  return entries.filter((entry): entry is ToolEntry => entry.kind === 'tool' && entry.state !== 'preparing')
}

export class ToolOutputPage implements ScreenPage {
  readonly #calls: () => readonly ToolEntry[]
  readonly #scrolled = new ScrolledLines()
  /** The id of the call that is shown. The list grows while the page is open. */
  #shown: string | undefined
  /** The rows of a call are cached, because an output can be very long. */
  #drawn: { readonly call: ToolEntry; readonly columns: number; readonly lines: readonly StyledLine[] } | null = null

  constructor(calls: () => readonly ToolEntry[]) {
    this.#calls = calls
    this.#shown = calls().at(-1)?.id
  }

  get keys(): readonly KeyHint[] {
    const count = this.#calls().length
    return [
      ...(this.#scrolled.isScrollable ? pageKeys.scroll : []),
      ...(count > 1 ? pageKeys.otherCalls : []),
      ...pageKeys.close,
    ]
  }

  lines(columns: number, height: number): readonly StyledLine[] {
    const calls = this.#calls()
    const index = this.#index(calls)
    const call = calls[index]
    if (!call) return [[trusted(texts.noCalls, 'quiet')]]
    const head = cutSpans(
      [
        trusted(`${texts.toolCall(index + 1, calls.length)}  `, 'quiet'),
        untrustedCode(call.tool, 'strong'),
        trusted(`  ${texts.states[call.state]}`, call.state === 'failed' ? 'no' : 'quiet'),
      ],
      columns,
    )
    return [head, ...this.#scrolled.visible(this.#linesOf(call, columns), columns, Math.max(1, height - 1))]
  }
  handleKey(key: Key): boolean {
    const by = key.name === 'left' ? -1 : key.name === 'right' ? 1 : 0
    if (by === 0) return this.#scrolled.handleKey(key)
    const calls = this.#calls()
    const next = calls[Math.max(0, Math.min(calls.length - 1, this.#index(calls) + by))]
    if (next && next.id !== this.#shown) this.#scrolled.toTop()
    this.#shown = next?.id
    return true
  }

  #index(calls: readonly ToolEntry[]): number {
    const index = calls.findIndex(({ id }) => id === this.#shown)
    return index < 0 ? calls.length - 1 : index
  }
  #linesOf(call: ToolEntry, columns: number): readonly StyledLine[] {
    if (this.#drawn?.call !== call || this.#drawn.columns !== columns)
      this.#drawn = { call, columns, lines: callRows(call).flatMap(one => wrap(one, columns)) }
    return this.#drawn.lines
  }
}

function callRows({ tool, title, input, inputText, output, state }: ToolEntry): readonly Row[] {
  return [
    ...(title === undefined ? [] : [row(untrustedLine(title))]),
    ...(input ? toolInputRows(tool, input) : codeRows(inputText)),
    blankRow,
    ...(output === undefined
      ? [row(trusted(state === 'running' ? texts.noOutputYet : texts.noOutput, 'quiet'))]
      : [row(trusted(texts.output, 'quiet')), ...outputRows(output)]),
  ]
}

/** Returns what a tool returned, as escaped rows. */
export function outputRows(output: unknown): readonly Row[] {
  return codeRows(outputText(output) ?? JSON.stringify(output, null, 2))
}
