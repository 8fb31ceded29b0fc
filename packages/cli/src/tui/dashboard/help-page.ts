/** The help page of `holdpoint tui`, which scrolls if the screen is too small for it. */
import { blankRow, type Row, row, trusted } from '../../output/span.ts'
import { type StyledLine, wrap } from '../../output/width.ts'
import { typedLetter } from '../prompt/key-result.ts'
import type { Key } from '../terminal/key-parser.ts'
import { helpLines } from './texts.ts'

const keyColumns = 15

const rows: readonly Row[] = [
  row(trusted('Keys', 'strong')),
  blankRow,
  ...helpLines.map(line => (line ? row(trusted(line[0].padEnd(keyColumns)), trusted(line[1], 'quiet')) : blankRow)),
]

export class HelpPage {
  #top = 0
  #height = 0
  #lineCount = 0

  get hasMore(): boolean {
    return this.#top + this.#height < this.#lineCount
  }
  lines(columns: number, height: number): readonly StyledLine[] {
    const all = rows.flatMap(one => wrap(one, columns))
    this.#lineCount = all.length
    this.#height = height
    return all.slice(this.#top, this.#top + height)
  }
  /** Scrolls if there is more to show; returns false if the key closes the page. */
  handleKey(key: Key): boolean {
    const isScroll = key.name === 'down' || key.name === 'pagedown' || typedLetter(key) === ' '
    if (!isScroll || !this.hasMore) return false
    this.#top += key.name === 'down' ? 1 : this.#height
    return true
  }
}
