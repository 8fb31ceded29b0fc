/** Where output goes: a terminal with its colours and size, or a pipe with neither. */
import type { WriteStream } from 'node:tty'
import { editableJson } from '@holdpoint/client'
import type { Row, Span, Style } from './span.ts'
import { type StyledLine, wrap } from './width.ts'

const codes: Readonly<Record<Style, number>> = { strong: 1, quiet: 2, waiting: 33, yes: 32, no: 31 }
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

  /** Null in a pipe: whoever reads it breaks lines as they like. */
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
  printLines(pieces: readonly StyledLine[]): void {
    if (pieces.length > 0) this.#stream.write(pieces.map(piece => `${this.styled(piece).trimEnd()}\n`).join(''))
  }
  /** Without a line end: what is typed stands behind it. */
  prompt(...spans: readonly Span[]): void {
    this.#stream.write(this.styled(spans))
  }

  /** Its text is spelt out where it could not be seen: still the same JSON, and harmless to look at. */
  json(value: unknown): void {
    this.#stream.write(`${editableJson(value, 0)}\n`)
  }
  /** An answer for a program to read, to the byte; on a terminal, visible. */
  printAnswer(text: string, shown: readonly Row[]): void {
    if (this.isTerminal) this.print(...shown)
    else this.#stream.write(`${text}\n`)
  }

  /** For shells: a word and what it means, with the tab between them that they expect. */
  printPairs(printPairs: readonly (readonly [Span, Span])[]): void {
    this.#stream.write(printPairs.map(([word, about]) => `${word.text}\t${about.text}\n`).join(''))
  }

  /** The line with the escape sequences of its styles. */
  styled(line: StyledLine): string {
    return line
      .map(({ text, style }) => (style && this.#hasColor ? `\u001b[${codes[style]}m${text}\u001b[0m` : text))
      .join('')
  }
}

export const out = new Output(process.stdout)
export const err = new Output(process.stderr)
