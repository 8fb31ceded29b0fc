/** A short conversation on a terminal, for commands that must not act on a glance: paging to the end, and a line typed in reply. */
import { createInterface } from 'node:readline'
import type { Output } from './output.ts'
import { type Row, type Span, trusted } from './span.ts'

/** A person thought better of it, or was not asked to the end: nothing has happened. */
export class Cancelled extends Error {
  override readonly name = 'NotDone'
}

/** What was typed before a question stood there is no answer to it. */
const discardMs = 150
/** Ctrl+C, which a raw terminal gives as a character. */
const ctrlC = 3

/** A line; null where there is none to come. Ctrl+C ends the program as it would elsewhere. */
export async function askLine(screen: Output, ...question: readonly Span[]): Promise<string | null> {
  await discardTypedAhead()
  screen.prompt(...question)
  const lines = createInterface({ input: process.stdin })
  return new Promise(resolve => {
    lines.once('line', line => {
      resolve(line)
      lines.close()
    })
    lines.once('close', () => {
      process.stdin.pause()
      resolve(null)
    })
  })
}

async function discardTypedAhead(): Promise<void> {
  const { stdin } = process
  const drop = (typed: Buffer) => {
    if (typed.includes(ctrlC)) process.kill(process.pid, 'SIGINT')
  }
  // Raw, so that half a line that was typed is dropped too.
  stdin.setRawMode(true)
  stdin.on('data', drop)
  await new Promise(resolve => setTimeout(resolve, discardMs))
  stdin.off('data', drop)
  stdin.pause()
  stdin.setRawMode(false)
}

/** Screen by screen; false where the person leaves before the end. */
export async function pageThrough(screen: Output, rows: readonly Row[]): Promise<boolean> {
  const pieces = screen.wrapRows(rows)
  // A line is left for the question.
  const size = Math.max(1, screen.rows - 1)
  for (let at = 0; at < pieces.length; at += size) {
    screen.printLines(pieces.slice(at, at + size))
    const left = pieces.length - at - size
    if (left <= 0) return true
    const said = await askLine(screen, trusted(`── ${left} more lines · Enter: go on · q: leave ── `, 'waiting'))
    if (said === null || said.trim().toLowerCase() === 'q') return false
  }
  return true
}
