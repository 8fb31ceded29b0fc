/** An agent's text as every surface shows it: revealed, and with nothing pushed out of sight by blanks (G9). The signs in it are ours; nothing that an agent writes can look like one. */
import { type EscapeOptions, escapeInvisible, hasInvisible } from '@holdpoint/protocol'

const blanksMax = 40
const tabsMax = 10
const blankLinesMax = 5
const blankRuns = new RegExp(`[ \\t]{${blanksMax + 1},}|\\t{${tabsMax + 1},}`, 'g')
/** A carriage return that ends a line. */
const endSign = '⟨CR⟩'
/** With the backslashes before it, all of them at once, so that a long run costs no more than its length. */
const forged = /(?<!\\)(\\*)⟨/g

/** One line, or with `multiline` a block that keeps its layout. */
export function displayText(text: string, options: EscapeOptions = {}): string {
  if (!options.multiline) return showLine(text, options)
  return displayLines(text.split('\n'), options)
    .map(line => line.text)
    .join('\n')
}

export interface DisplayLine {
  readonly text: string
  /** How many lines it stands for: many blank ones are one. */
  readonly count: number
}

/** The lines of a block. */
export function displayLines(lines: readonly string[], options: EscapeOptions = {}): readonly DisplayLine[] {
  const shown: DisplayLine[] = []
  for (let at = 0; at < lines.length; ) {
    const run = blankRun(lines, at)
    const count = run.length > blankLinesMax ? run.length : 1
    const text = count > 1 ? countLines(run) : showLine(lines[at] ?? '', { ...options, multiline: true })
    shown.push({ text, count })
    at += count
  }
  return shown
}

function showLine(text: string, options: EscapeOptions): string {
  const ends = options.multiline && text.endsWith('\r')
  const shown = escapeInvisible(ends ? text.slice(0, -1) : text, options)
    .replace(forged, '$1$1\\u{27e8}')
    .replace(blankRuns, countBlanks)
  return ends ? shown + endSign : shown
}

function countBlanks(run: string): string {
  const kind = run.includes('\t') ? (run.includes(' ') ? 'blanks' : 'tabs') : 'spaces'
  return `⟨${run.length} ${kind}⟩`
}

/** Blank lines that end alike, from here on. */
function blankRun(lines: readonly string[], at: number): readonly string[] {
  const ends = lines[at]?.endsWith('\r')
  let to = at
  while (/^[ \t]*\r?$/.test(lines[to] ?? 'none') && lines[to]?.endsWith('\r') === ends) to++
  return lines.slice(at, to)
}

function countLines(run: readonly string[]): string {
  const kind = run.some(line => /[ \t]/.test(line)) ? 'lines of blanks' : 'blank lines'
  return `⟨${run.length} ${kind}⟩${run[0]?.endsWith('\r') ? endSign : ''}`
}

/** For lists and titles: what has several lines is told in one. Not shown yet, and nothing to decide by. */
export function singleLine(text: string): string {
  const lines = text.split('\n').map(line => line.trim())
  return lines.filter(line => line !== '').join(' ↵ ')
}

/** Of what an agent wrote in Markdown, the words: for a line that tells where a session stands. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/^\s*(?:```|~~~).*$/gm, '')
    .replace(/^\s*#{1,6}\s+/gm, '')
    .replace(/(\*\*|`)(?=\S)(.*?\S)\1/g, '$2')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
}

/** A stretch of a shown text that is ours: a character spelt out, a count, a line end. */
export interface DisplayMarker {
  readonly from: number
  readonly to: number
  readonly kind: 'escape' | 'count' | 'end'
}
const signs = /(?<!\\)\\+u\{[0-9a-f]+\}|⟨(?:\d+ [a-z ]+|CR)⟩/g

export function markersIn(shown: string): readonly DisplayMarker[] {
  return [...shown.matchAll(signs)].flatMap(({ 0: found, index }): DisplayMarker[] => {
    const to = index + found.length
    if (found[0] !== '\\') return [{ from: index, to, kind: found === endSign ? 'end' : 'count' }]
    // Pairs of backslashes are the agent's own.
    const slashes = found.lastIndexOf('\\') + 1
    return slashes % 2 === 0 ? [] : [{ from: index + slashes - 1, to, kind: 'escape' }]
  })
}

/** Whether something in it cannot be seen and is spelt out: surfaces say so. */
export function hasEscapes(text: string, options: EscapeOptions = {}): boolean {
  return hasInvisible(options.multiline ? text.replace(/\r(?=\n|$)/g, '') : text, options)
}
