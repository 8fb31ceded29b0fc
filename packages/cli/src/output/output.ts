/** Writes rows and JSON to stdout or stderr: with colors and wrapping on a terminal, plain in a pipe. */
import type { WriteStream } from 'node:tty'
import { editableJson } from '@holdpoint/client'
import { blankRow, type Row, row, type Span, type Style, trusted } from './span.ts'
import { type NarrowTable, tableRows } from './table.ts'
import { type StyledLine, wrap } from './width.ts'

const ansiCodes: Readonly<Record<Style, number>> = {
  strong: 1,
  quiet: 2,
  waiting: 33,
  yes: 32,
  no: 31,
  emphasis: 3,
  code: 36,
  selected: 7,
}
const sizeDefault = { columns: 80, rows: 24 }

export class Output {
  readonly isTerminal: boolean
  readonly #stream: WriteStream
  readonly #hasColor: boolean

  constructor(stream: WriteStream, env: NodeJS.ProcessEnv = process.env) {
    this.#stream = stream
    this.isTerminal = stream.isTTY === true
    this.#hasColor = this.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb'
  }

  /** The width of the terminal, or null in a pipe, where lines are not wrapped. */
  get columns(): number | null {
    return this.isTerminal ? this.#stream.columns || sizeDefault.columns : null
  }
  get rows(): number {
    return this.#stream.rows || sizeDefault.rows
  }

  print(...rows: readonly Row[]): void {
    this.printLines(this.wrapRows(rows))
  }
  wrapRows(rows: readonly Row[]): readonly StyledLine[] {
    return rows.flatMap(row => wrap(row, this.columns))
  }
  printLines(lines: readonly StyledLine[]): void {
    if (lines.length > 0) this.#stream.write(lines.map(line => `${this.styled(line).trimEnd()}\n`).join(''))
  }
  /** Prints without a line break, so that the person types on the same line. */
  prompt(...spans: readonly Span[]): void {
    this.#stream.write(this.styled(spans))
  }

  /** Ends the line of a prompt that was answered with a key, which is not echoed. */
  endPrompt(): void {
    this.#stream.write('\n')
  }

  /** Prints a list: in columns on a terminal, and in a pipe as one line per item with tabs between the cells and without a head. */
  printTable(head: readonly string[], lines: readonly (readonly Span[])[], narrow: NarrowTable = {}): void {
    if (this.columns !== null) this.print(...tableRows(head, lines, this.columns, narrow))
    // No span contains a tab or a line break.
    else this.#stream.write(lines.map(cells => `${cells.map(({ text }) => text).join('\t')}\n`).join(''))
  }
  /** Prints lines of CSV that the client package has escaped. */
  printCsv(lines: readonly string[]): void {
    this.#stream.write(lines.map(line => `${trusted(line).text}\r\n`).join(''))
  }
  /** Prints a sentence below a list for people, and nothing in a pipe. */
  printHint(text: string): void {
    if (this.isTerminal) this.print(blankRow, row(trusted(text, 'quiet')))
  }

  /** Prints JSON with invisible characters as \uXXXX, which is equivalent but safe to view in a terminal. */
  json(value: unknown): void {
    this.#stream.write(`${editableJson(value, 0)}\n`)
  }
  /** Prints an answer unchanged in a pipe, for programs, and as escaped rows on a terminal. */
  printAnswer(text: string, rows: readonly Row[]): void {
    if (this.isTerminal) this.print(...rows)
    else this.#stream.write(`${text}\n`)
  }

  /** Prints completion candidates: word, tab, description, as the shells expect. */
  printPairs(pairs: readonly (readonly [Span, Span])[]): void {
    this.#stream.write(pairs.map(([word, description]) => `${word.text}\t${description.text}\n`).join(''))
  }

  /** Returns the line with the escape sequences of its styles. */
  styled(line: StyledLine): string {
    return line
      .map(({ text, style }) => (style && this.#hasColor ? `\u001b[${ansiCodes[style]}m${text}\u001b[0m` : text))
      .join('')
  }
}

export const out = new Output(process.stdout)
export const err = new Output(process.stderr)

/** Says that a list has no items. In a pipe, the sentence goes to stderr, so that a script that counts lines counts none. */
export function printEmptyList(text: string): void {
  const output = out.isTerminal ? out : err
  output.print(row(trusted(text)))
}
