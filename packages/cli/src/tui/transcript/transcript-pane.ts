/** The scrollable transcript of a session: shows its newest lines, or earlier lines after scrolling up. */
import type { Entry, Transcript } from '@holdpoint/client'
import type { StyledLine } from '../../output/width.ts'
import { wrap } from '../../output/width.ts'
import { type EntryContext, entryRows, shownEntries } from './entry-rows.ts'
import { needsBlankLine } from './transcript-printer.ts'

export class TranscriptPane {
  readonly transcript: Transcript
  /** Entries are immutable, so their lines can be cached by identity until the width changes. */
  #cache = new WeakMap<Entry, readonly StyledLine[]>()
  #columns = 0
  /** The number of newer lines below the visible lines. */
  #linesBelow = 0

  constructor(transcript: Transcript) {
    this.transcript = transcript
  }

  get linesBelow(): number {
    return this.#linesBelow
  }

  /** Returns at most `height` lines, ending `linesBelow` lines before the end of the transcript. */
  visibleLines(context: EntryContext, height: number): readonly StyledLine[] {
    if (context.columns !== this.#columns) this.#cache = new WeakMap()
    this.#columns = context.columns
    const { entries, earlier } = this.transcript.getSnapshot()
    const lines: StyledLine[] = []
    let last: Entry | null = null
    for (const entry of shownEntries(entries)) {
      // A pending request is shown as a prompt instead.
      if (entry.kind === 'request' && entry.request.status === 'pending') continue
      const visibleLines = this.#linesOf(entry, context)
      if (visibleLines.length === 0) continue
      if (needsBlankLine(entry, last)) lines.push([])
      lines.push(...visibleLines)
      last = entry
    }
    this.#linesBelow = Math.max(0, Math.min(this.#linesBelow, lines.length - height))
    if (this.#linesBelow > 0 && this.#linesBelow + height >= lines.length && earlier === 'some')
      // If loading fails, scrolling up tries again.
      void this.transcript.loadEarlier().catch(() => {})
    return lines.slice(Math.max(0, lines.length - height - this.#linesBelow), lines.length - this.#linesBelow)
  }

  scroll(lines: number): void {
    this.#linesBelow = Math.max(0, this.#linesBelow + lines)
  }

  #linesOf(entry: Entry, context: EntryContext): readonly StyledLine[] {
    const cached = this.#cache.get(entry)
    if (cached) return cached
    const visibleLines = entryRows(entry, context).flatMap(row => wrap(row, context.columns))
    this.#cache.set(entry, visibleLines)
    return visibleLines
  }
}
