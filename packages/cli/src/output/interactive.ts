/** Paging and line prompts for commands that must not act before the person has read everything. */
import { createInterface } from 'node:readline'
import type { Output } from './output.ts'
import { type Row, type Span, trusted } from './span.ts'

/** Thrown before anything has changed, if the person did not confirm or did not read to the end. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** Input is discarded for this long before a question is printed, so that keys typed earlier do not answer it. */
const discardMs = 150
/** Ctrl+C arrives as this character when the terminal is in raw mode. */
const ctrlC = 3

/** Asks for one line. Returns null at the end of input; Ctrl+C ends the program as usual. */
export async function askLine(output: Output, ...question: readonly Span[]): Promise<string | null> {
  await discardTypedAhead()
  output.prompt(...question)
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
  const discard = (typed: Buffer) => {
    if (typed.includes(ctrlC)) process.kill(process.pid, 'SIGINT')
  }
  // Without raw mode, the terminal delivers only complete lines, so an unfinished line would not be discarded.
  stdin.setRawMode(true)
  stdin.on('data', discard)
  await new Promise(resolve => setTimeout(resolve, discardMs))
  stdin.off('data', discard)
  stdin.pause()
  stdin.setRawMode(false)
}

/** Waits for one key: space or Enter continues; q, Escape and Ctrl+D cancel; other keys do nothing. Ctrl+C ends the program as usual. */
async function askToContinue(output: Output, ...question: readonly Span[]): Promise<boolean> {
  await discardTypedAhead()
  output.prompt(...question)
  const { stdin } = process
  stdin.setRawMode(true)
  const continues = await new Promise<boolean>(resolve => {
    const onData = (typed: Buffer) => {
      // Only the first key of a chunk counts, because the rest was typed for something else.
      const decision = pagerKeys.get(typed[0] ?? 0)
      if (typed.includes(ctrlC)) process.kill(process.pid, 'SIGINT')
      if (decision === undefined) return
      stdin.off('data', onData)
      stdin.off('end', onEnd)
      resolve(decision)
    }
    const onEnd = () => resolve(false)
    stdin.on('data', onData)
    stdin.once('end', onEnd)
    stdin.resume()
  })
  stdin.pause()
  stdin.setRawMode(false)
  output.endPrompt()
  return continues
}
const pagerKeys: ReadonlyMap<number, boolean> = new Map(
  [
    [' ', true],
    ['\r', true],
    ['\n', true],
    ['q', false],
    ['Q', false],
    ['\u001b', false],
    ['\u0004', false],
  ].map(([key, continues]) => [String(key).charCodeAt(0), continues === true]),
)

/** Prints the rows one screen at a time. Returns false if the person quits before the end. */
export async function pageThrough(output: Output, rows: readonly Row[]): Promise<boolean> {
  const lines = output.wrapRows(rows)
  // Keep the last screen line free for the question.
  const pageSize = Math.max(1, output.rows - 1)
  for (let from = 0; from < lines.length; from += pageSize) {
    output.printLines(lines.slice(from, from + pageSize))
    const left = lines.length - from - pageSize
    if (left <= 0) return true
    const continues = await askToContinue(
      output,
      trusted(`── ${left} more lines · space: continue · q: cancel ── `, 'waiting'),
    )
    if (!continues) return false
  }
  return true
}
