/** Makes an agent's text safe to show (G9). Invisible characters are escaped, and long runs of blanks become markers such as ⟨80 spaces⟩. Agent text that looks like a marker is escaped as well. */
import { type EscapeOptions, escapeInvisible, hasInvisible } from '@holdpoint/protocol'

const blanksMax = 40
const tabsMax = 10
const blankLinesMax = 5
const blankRuns = new RegExp(`[ \\t]{${blanksMax + 1},}|\\t{${tabsMax + 1},}`, 'g')
/** The marker at the end of a line that ends in CRLF. */
const crMarker = '⟨CR⟩'
/** Matches a ⟨ in the agent's text together with all backslashes before it, so that escaping takes linear time. */
const forgedMarker = /(?<!\\)(\\*)⟨/g

/** Returns the text escaped for display. Line breaks are escaped too, unless `multiline` is set. */
export function displayText(text: string, options: EscapeOptions = {}): string {
  if (!options.multiline) return displayLine(text, options)
  return displayLines(text.split('\n'), options)
    .map(line => line.text)
    .join('\n')
}

export interface DisplayLine {
  readonly text: string
  /** How many lines of the original text this line represents. It is more than 1 only for a marker that replaces a long run of blank lines. */
  readonly count: number
}

/** Like `displayText` with `multiline`, but returns the lines as a list. */
export function displayLines(lines: readonly string[], options: EscapeOptions = {}): readonly DisplayLine[] {
  const result: DisplayLine[] = []
  for (let at = 0; at < lines.length; ) {
    const run = blankRun(lines, at)
    const count = run.length > blankLinesMax ? run.length : 1
    const text = count > 1 ? blankLinesMarker(run) : displayLine(lines[at] ?? '', { ...options, multiline: true })
    result.push({ text, count })
    at += count
  }
  return result
}

function displayLine(text: string, options: EscapeOptions): string {
  const hasCr = options.multiline && text.endsWith('\r')
  const shown = escapeInvisible(hasCr ? text.slice(0, -1) : text, options)
    .replace(forgedMarker, '$1$1\\u{27e8}')
    .replace(blankRuns, blanksMarker)
  return hasCr ? shown + crMarker : shown
}

function blanksMarker(run: string): string {
  const kind = run.includes('\t') ? (run.includes(' ') ? 'whitespace characters' : 'tabs') : 'spaces'
  return `⟨${run.length} ${kind}⟩`
}

/** Returns the consecutive blank lines from this line on that have the same line ending as this line. */
function blankRun(lines: readonly string[], at: number): readonly string[] {
  const hasCr = lines[at]?.endsWith('\r')
  let to = at
  while (/^[ \t]*\r?$/.test(lines[to] ?? 'none') && lines[to]?.endsWith('\r') === hasCr) to++
  return lines.slice(at, to)
}

function blankLinesMarker(run: readonly string[]): string {
  const kind = run.some(line => /[ \t]/.test(line)) ? 'whitespace lines' : 'blank lines'
  return `⟨${run.length} ${kind}⟩${run[0]?.endsWith('\r') ? crMarker : ''}`
}

/** Joins lines with ↵ for lists and titles. The result is not escaped. It does not replace the full text, which people must see before they answer. */
export function singleLine(text: string): string {
  const lines = text.split('\n').map(line => line.trim())
  return lines.filter(line => line !== '').join(' ↵ ')
}

/** Removes the most common Markdown syntax, for the last message in a session list. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/^\s*(?:```|~~~).*$/gm, '')
    .replace(/^\s*#{1,6}\s+/gm, '')
    .replace(/(\*\*|`)(?=\S)(.*?\S)\1/g, '$2')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
}

/** A part of a displayed text that Holdpoint inserted: an escaped character, a count of blanks or a line ending. */
export interface DisplayMarker {
  readonly from: number
  readonly to: number
  readonly kind: 'escape' | 'count' | 'end'
}
const markers = /(?<!\\)\\+u\{[0-9a-f]+\}|⟨(?:\d+ [a-z ]+|CR)⟩/g

export function markersIn(displayed: string): readonly DisplayMarker[] {
  return [...displayed.matchAll(markers)].flatMap(({ 0: match, index }): DisplayMarker[] => {
    const to = index + match.length
    if (match[0] !== '\\') return [{ from: index, to, kind: match === crMarker ? 'end' : 'count' }]
    // An even number of backslashes means that the agent wrote this text itself.
    const slashes = match.lastIndexOf('\\') + 1
    return slashes % 2 === 0 ? [] : [{ from: index + slashes - 1, to, kind: 'escape' }]
  })
}

/** Returns whether the text has invisible characters that `displayText` escapes. Page and terminal then show a warning. */
export function hasEscapes(text: string, options: EscapeOptions = {}): boolean {
  return hasInvisible(options.multiline ? text.replace(/\r(?=\n|$)/g, '') : text, options)
}
