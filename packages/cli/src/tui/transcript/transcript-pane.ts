/** A session's transcript in a pane: its newest lines, or earlier ones as a person goes back. */
import type { Entry, Transcript } from '@holdpoint/client'
import type { StyledLine } from '../../output/width.ts'
import { wrap } from '../../output/width.ts'
import { entryRows, type Reader } from './entry-rows.ts'
import { stands } from './transcript-printer.ts'

export class TranscriptPane {
  readonly transcript: Transcript
  /** Entries do not change, they are replaced: what was laid out once is laid out. */
  #laid = new WeakMap<Entry, readonly StyledLine[]>()
  #columns = 0
  /** Lines between the last one in sight and the newest. */
  #back = 0

  constructor(transcript: Transcript) {
    this.transcript = transcript
  }

  get back(): number {
    return this.#back
  }

  /** The last lines in sight, at most so many. */
  pieces(reader: Reader, height: number): readonly StyledLine[] {
    if (reader.columns !== this.#columns) this.#laid = new WeakMap()
    this.#columns = reader.columns
    const { entries, earlier } = this.transcript.getSnapshot()
    const lines: StyledLine[] = []
    let last: Entry | null = null
    for (const entry of entries) {
      // What is asked stands in its prompt.
      if (entry.kind === 'request' && entry.request.status === 'pending') continue
      const pieces = this.#lay(entry, reader)
      if (pieces.length === 0) continue
      if (stands(entry, last)) lines.push([])
      lines.push(...pieces)
      last = entry
    }
    this.#back = Math.max(0, Math.min(this.#back, lines.length - height))
    if (this.#back > 0 && this.#back + height >= lines.length && earlier === 'some')
      // Where it fails, going back once more tries again.
      void this.transcript.loadEarlier().catch(() => {})
    return lines.slice(Math.max(0, lines.length - height - this.#back), lines.length - this.#back)
  }

  scroll(lines: number): void {
    this.#back = Math.max(0, this.#back + lines)
  }

  #lay(entry: Entry, reader: Reader): readonly StyledLine[] {
    const known = this.#laid.get(entry)
    if (known) return known
    const pieces = entryRows(entry, reader).flatMap(row => wrap(row, reader.columns))
    this.#laid.set(entry, pieces)
    return pieces
  }
}
