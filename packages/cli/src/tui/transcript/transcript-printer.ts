/** Decides which rows of a transcript to print next. Printed lines cannot be changed, so an entry is printed once it is final, and streaming text is printed block by block. */
import type { Entry, MessageEntry, ToolEntry } from '@holdpoint/client'
import { splitGrowing } from '../../output/markdown.ts'
import { blankRow, quotedRow, type Row } from '../../output/span.ts'
import {
  agentTextRows,
  type EntryContext,
  entryRows,
  notDeliveredRow,
  shownEntries,
  toolFailedRow,
} from './entry-rows.ts'

export class TranscriptPrinter {
  /** The ids of printed entries. */
  readonly #printed = new Set<string>()
  /** The ids of tool calls that were printed while they were running. */
  readonly #runningTools = new Set<string>()
  /** The ids of printed messages that the agent has not received yet. */
  readonly #undelivered = new Set<string>()
  /** The message that is streaming, and the part of its text that has been printed. */
  #streaming: { readonly id: string; readonly text: string } | null = null
  #last: Entry | null = null

  /** Returns the rows that have become printable since the last call. */
  newRows(entries: readonly Entry[], context: EntryContext): readonly Row[] {
    const rows: Row[] = []
    for (const entry of shownEntries(entries)) {
      if (this.#printed.has(entry.id)) {
        if (entry.kind === 'tool') rows.push(...this.#toolFailure(entry, context))
        if (entry.kind === 'message') rows.push(...this.#deliveryFailure(entry))
      } else if (isFinal(entry)) {
        rows.push(...this.#separate(entry, this.#printWhole(entry, context)))
      } else {
        rows.push(...this.#separate(entry, this.#printFinishedBlocks(entry, context)))
        break
      }
    }
    return rows
  }

  /** Returns the part of the streaming message that has not been printed, usually its unfinished last block. It is drawn below the printed output. */
  unprintedRows(entries: readonly Entry[], context: EntryContext): readonly Row[] {
    const entry = shownEntries(entries).find(one => !this.#printed.has(one.id))
    if (entry?.kind !== 'message' || !entry.streaming) return []
    const rows = this.#textRows(entry, this.#unprinted(entry), context)
    return rows.length > 0 && needsBlankLine(entry, this.#last) ? [blankRow, ...rows] : rows
  }

  /** Puts a blank row before the rows if the entry or the last printed entry is a message. */
  #separate(entry: Entry, rows: readonly Row[]): readonly Row[] {
    if (rows.length === 0) return rows
    const apart = needsBlankLine(entry, this.#last)
    this.#last = entry
    return apart ? [blankRow, ...rows] : rows
  }

  #printWhole(entry: Entry, context: EntryContext): readonly Row[] {
    this.#printed.add(entry.id)
    if (entry.kind === 'tool' && entry.state === 'running') this.#runningTools.add(entry.id)
    if (entry.kind === 'message' && (entry.state === 'waiting' || entry.state === 'taken'))
      this.#undelivered.add(entry.id)
    if (entry.kind !== 'message' || this.#streaming?.id !== entry.id) return entryRows(entry, context)
    const rows = this.#textRows(entry, this.#unprinted(entry), context)
    this.#streaming = null
    return rows
  }

  /** Prints the blocks of a streaming message that no longer change. If its beginning is missing, the message is printed when it is complete. */
  #printFinishedBlocks(entry: Entry, context: EntryContext): readonly Row[] {
    if (entry.kind !== 'message' || !entry.streaming || entry.missesStart) return []
    const [finished] = splitGrowing(this.#unprinted(entry))
    if (finished === '') return []
    const rows = this.#textRows(entry, finished, context)
    this.#streaming = { id: entry.id, text: this.#printedText(entry) + finished }
    return rows
  }

  #printedText({ id }: MessageEntry): string {
    return this.#streaming?.id === id ? this.#streaming.text : ''
  }
  /** Returns the text after the printed part, or the whole text if the text no longer starts with that part. */
  #unprinted(entry: MessageEntry): string {
    const before = this.#printedText(entry)
    return entry.text.startsWith(before) ? entry.text.slice(before.length) : entry.text
  }
  /** Returns the rows of the text, preceded by a blank row if a paragraph ends between the printed text and this text. */
  #textRows(entry: MessageEntry, text: string, { columns }: EntryContext): readonly Row[] {
    const rows = agentTextRows(text, columns)
    const before = this.#printedText(entry)
    const gap =
      lineBreaks(before.slice(before.trimEnd().length)) +
        lineBreaks(text.slice(0, text.length - text.trimStart().length)) >
      1
    return rows.length > 0 && gap && before.trim() !== '' ? [quotedRow(''), ...rows] : rows
  }

  /** Returns a second row if the tool call failed after it was printed. */
  #toolFailure(entry: ToolEntry, context: EntryContext): readonly Row[] {
    if (entry.state === 'running' || !this.#runningTools.delete(entry.id) || entry.state !== 'failed') return []
    return [toolFailedRow(entry, context)]
  }
  /** Returns a second row if the delivery failed after the message was printed. */
  #deliveryFailure(entry: MessageEntry): readonly Row[] {
    if (entry.state === 'failed' && this.#undelivered.delete(entry.id)) return [notDeliveredRow(entry)]
    if (entry.state === 'done') this.#undelivered.delete(entry.id)
    return []
  }
}

function lineBreaks(blanks: string): number {
  return blanks.split('\n').length - 1
}

/** Returns whether a blank line separates the entry from the last printed entry. */
export function needsBlankLine(entry: Entry, last: Entry | null): boolean {
  if (last === null || last.id === entry.id) return false
  return entry.kind === 'message' || last.kind === 'message'
}

/** Returns whether the entry can be printed. Afterwards only a tool call or a delivery can still fail, and such a failure is printed as a second row. */
function isFinal(entry: Entry): boolean {
  if (entry.kind === 'message') return !entry.streaming
  if (entry.kind === 'tool') return entry.state !== 'preparing'
  return entry.kind !== 'request' || entry.request.status === 'resolved'
}
