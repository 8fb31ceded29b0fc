/** What of a transcript can be printed for good, once: a terminal that scrolls takes nothing back. */
import type { Entry, MessageEntry, ToolEntry } from '@holdpoint/client'
import { blankRow, quotedRow, type Row } from '../../output/span.ts'
import { entryRows, failedRow, proseRows, type Reader, refusedRow } from './entry-rows.ts'

export class TranscriptPrinter {
  /** Entries that have been printed. */
  readonly #printed = new Set<string>()
  /** Tools that ran when they were printed. */
  readonly #running = new Set<string>()
  /** What people said and agents have yet to take. */
  readonly #said = new Set<string>()
  /** Of a block that still streams: which, and how much of its text has been printed. */
  #begun: { readonly id: string; readonly text: string } | null = null
  #last: Entry | null = null

  /** The rows that are new since the last time. Text that streams is printed by whole lines. */
  advance(entries: readonly Entry[], reader: Reader): readonly Row[] {
    const rows: Row[] = []
    for (const entry of entries) {
      if (this.#printed.has(entry.id)) {
        if (entry.kind === 'tool') rows.push(...this.#finish(entry, reader))
        if (entry.kind === 'message') rows.push(...this.#refuse(entry))
      } else if (isSettled(entry)) {
        rows.push(...this.#apart(entry, this.#settle(entry, reader)))
      } else {
        rows.push(...this.#apart(entry, this.#begin(entry)))
        break
      }
    }
    return rows
  }

  /** What is under way and not printed: the rest of a text that streams. */
  rest(entries: readonly Entry[]): readonly Row[] {
    const entry = entries.find(one => !this.#printed.has(one.id))
    if (entry?.kind !== 'message' || !entry.streaming) return []
    const rows = this.#prose(entry, this.#unprinted(entry))
    return rows.length > 0 && stands(entry, this.#last) ? [blankRow, ...rows] : rows
  }

  /** Words and deeds stand apart, so that the eye finds both. */
  #apart(entry: Entry, rows: readonly Row[]): readonly Row[] {
    if (rows.length === 0) return rows
    const apart = stands(entry, this.#last)
    this.#last = entry
    return apart ? [blankRow, ...rows] : rows
  }

  #settle(entry: Entry, reader: Reader): readonly Row[] {
    this.#printed.add(entry.id)
    if (entry.kind === 'tool' && entry.state === 'running') this.#running.add(entry.id)
    if (entry.kind === 'message' && (entry.state === 'waiting' || entry.state === 'taken')) this.#said.add(entry.id)
    if (entry.kind !== 'message' || this.#begun?.id !== entry.id) return entryRows(entry, reader)
    const rows = this.#prose(entry, this.#unprinted(entry))
    this.#begun = null
    return rows
  }

  #begin(entry: Entry): readonly Row[] {
    if (entry.kind !== 'message' || !entry.streaming) return []
    const text = this.#unprinted(entry)
    const end = text.lastIndexOf('\n') + 1
    if (end === 0) return []
    const rows = this.#prose(entry, text.slice(0, end))
    this.#begun = { id: entry.id, text: this.#before(entry) + text.slice(0, end) }
    return rows
  }

  #before({ id }: MessageEntry): string {
    return this.#begun?.id === id ? this.#begun.text : ''
  }
  /** All of it, should it not begin with what was printed. */
  #unprinted(entry: MessageEntry): string {
    const before = this.#before(entry)
    return entry.text.startsWith(before) ? entry.text.slice(before.length) : entry.text
  }
  /** A blank line between what was printed of it and what follows is a paragraph's end, and stays. */
  #prose(entry: MessageEntry, text: string): readonly Row[] {
    const rows = proseRows(text)
    const before = this.#before(entry)
    const gap = /\n[ \t]*\n\s*$/.test(before + (/^\s*/.exec(text)?.[0] ?? ''))
    return rows.length > 0 && gap && before.trim() !== '' ? [quotedRow(''), ...rows] : rows
  }

  /** A tool is told of when it begins; only that it failed is worth another line. */
  #finish(entry: ToolEntry, reader: Reader): readonly Row[] {
    if (entry.state === 'running' || !this.#running.delete(entry.id) || entry.state !== 'failed') return []
    return [failedRow(entry, reader)]
  }
  /** What a person said was printed before the agent had it. */
  #refuse(entry: MessageEntry): readonly Row[] {
    if (entry.state === 'failed' && this.#said.delete(entry.id)) return [refusedRow(entry)]
    if (entry.state === 'done') this.#said.delete(entry.id)
    return []
  }
}

/** Whether a blank line stands between this entry and the one before. */
export function stands(entry: Entry, last: Entry | null): boolean {
  if (last === null || last.id === entry.id) return false
  return entry.kind === 'message' || last.kind === 'message'
}

/** Whether nothing of it will change that a reader of the scroll needs. */
function isSettled(entry: Entry): boolean {
  if (entry.kind === 'message') return !entry.streaming
  if (entry.kind === 'tool') return entry.state !== 'preparing'
  return entry.kind !== 'request' || entry.request.status === 'resolved'
}
