/** A page that covers a live view for a moment, such as the help. Any key that does not scroll closes the page. */

import { trusted } from '../../output/span.ts'
import { cutSpans, type StyledLine, wrap } from '../../output/width.ts'
import { typedLetter } from '../prompt/key-result.ts'
import { type KeyHint, keyRows } from '../prompt/layout/prompt-sections.ts'
import type { Key } from '../terminal/key-parser.ts'

export interface ScreenPage {
  /** The keys that work now. */
  readonly keys: readonly KeyHint[]
  /** Returns at most `height` lines. */
  lines(columns: number, height: number): readonly StyledLine[]
  /** Returns false if the key closes the page. */
  handleKey(key: Key): boolean
}

/** Returns the lines of a page with its keys below. */
export function pageLines(page: ScreenPage, columns: number, height: number): readonly StyledLine[] {
  // Only a page that was laid out knows whether it scrolls.
  page.lines(columns, height - 1)
  const keys = keyRows(page.keys, columns).flatMap(one => wrap(one, columns))
  return [...page.lines(columns, height - keys.length), ...keys].slice(-height)
}

/** The visible part of a text that may be longer than the screen. */
export class ScrolledLines {
  #top = 0
  #height = 0
  #count = 0

  get hasMore(): boolean {
    return this.#top + this.#height < this.#count
  }
  get isScrollable(): boolean {
    return this.#height < this.#count
  }
  toTop(): void {
    this.#top = 0
  }
  /** Returns the visible lines. If some are missing, the last line says which ones are shown. */
  visible(lines: readonly StyledLine[], columns: number, height: number): readonly StyledLine[] {
    this.#count = lines.length
    this.#height = lines.length > height ? Math.max(1, height - 1) : height
    this.#top = Math.max(0, Math.min(this.#top, lines.length - this.#height))
    const shown = lines.slice(this.#top, this.#top + this.#height)
    if (!this.isScrollable) return shown
    const position = `── lines ${this.#top + 1}–${this.#top + shown.length} of ${lines.length} ──`
    return [...shown, cutSpans([trusted(position, 'quiet')], columns)].slice(0, height)
  }
  /** Scrolls if the key means that. Returns whether it does. */
  handleKey(key: Key): boolean {
    const page = Math.max(1, this.#height - 1)
    const by = {
      down: 1,
      up: -1,
      pagedown: page,
      pageup: -page,
      home: -this.#count,
      end: this.#count,
      ' ': page,
      b: -page,
    }
    const name = typedLetter(key) ?? key.name
    const isScroll = Object.hasOwn(by, name)
    if (isScroll) this.#top = Math.max(0, this.#top + (by[name as keyof typeof by] ?? 0)) // `isScroll` checks the name
    return isScroll
  }
}
