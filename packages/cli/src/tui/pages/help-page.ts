/** The help of a live view, which scrolls if the screen is too small for it. */
import { blankRow, gutterOf, type Row, row, trusted } from '../../output/span.ts'
import { type StyledLine, wrap } from '../../output/width.ts'
import type { KeyHint } from '../prompt/layout/prompt-sections.ts'
import type { Key } from '../terminal/key-parser.ts'
import { type ScreenPage, ScrolledLines } from './screen-page.ts'
import { pageKeys, pageTexts } from './texts.ts'

const keyColumns = 15

/** Lines that continue are below the text, not below the key. */
function keyRow([key, action]: KeyHint): Row {
  return { gutter: gutterOf('', keyColumns), spans: [trusted(key.padEnd(keyColumns)), trusted(action, 'quiet')] }
}

export class HelpPage implements ScreenPage {
  readonly #rows: readonly Row[]
  readonly #scrolled = new ScrolledLines()

  /** `keys` are the lines of the help; null stands for a blank line. */
  constructor(keys: readonly (KeyHint | null)[]) {
    this.#rows = [
      row(trusted(pageTexts.help, 'strong')),
      blankRow,
      ...keys.map(line => (line ? keyRow(line) : blankRow)),
    ]
  }

  get keys(): readonly KeyHint[] {
    return this.#scrolled.isScrollable ? pageKeys.scrolled : pageKeys.whole
  }
  lines(columns: number, height: number): readonly StyledLine[] {
    return this.#scrolled.visible(
      this.#rows.flatMap(one => wrap(one, columns)),
      columns,
      height,
    )
  }
  handleKey(key: Key): boolean {
    return this.#scrolled.isScrollable && this.#scrolled.handleKey(key)
  }
}
