/** Makes an agent's text safe to show (G9). Invisible characters are escaped, and long runs of blanks become markers such as ⟨80 spaces⟩. Agent text that looks like a marker is escaped as well. */
import { type EscapeOptions, escapeInvisible, hasInvisible, readsRightToLeft } from '@holdpoint/protocol'
import { type CodeKind, lookAlikes } from './look-alikes.ts'

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
  return lineRuns(text.split('\n'))
    .map(run => displayRun(run, options))
    .join('\n')
}

/** Returns text that is executed or compared, such as a command, a path or a name, for a surface that draws right-to-left letters in its own order: a terminal, a tooltip, a notification. Such letters are escaped, so the order is always the stored order. */
export function exactText(text: string, options: EscapeOptions = {}): string {
  return displayText(text, { ...options, escapeRightToLeft: true })
}

/** Returns a title or a label for the same surfaces. A label that reads only from right to left is kept, because nothing in it can change places with text of the other direction. */
export function labelText(text: string, options: EscapeOptions = {}): string {
  return displayText(text, { ...options, escapeRightToLeft: !readsRightToLeft(text) })
}

/** One line of a text, or a long run of blank lines. The text of a run is the marker that replaces it. */
export interface LineRun {
  readonly text: string
  /** How many lines of the text this run contains. It is more than 1 only for blank lines. */
  readonly count: number
}

/** Replaces long runs of blank lines with markers. The other lines are not escaped yet. */
export function lineRuns(lines: readonly string[]): readonly LineRun[] {
  const result: LineRun[] = []
  forEachRun(lines, (text, count) => result.push({ text, count }))
  return result
}

/** Like `lineRuns`, without an object for each line. */
export function forEachRun(lines: readonly string[], take: (text: string, count: number) => void): void {
  for (let at = 0; at < lines.length; ) {
    const run = isBlankLine(lines[at]) ? blankRun(lines, at) : []
    const count = run.length > blankLinesMax ? run.length : 1
    take(count > 1 ? blankLinesMarker(run) : (lines[at] ?? ''), count)
    at += count
  }
}

/** Returns a line or run of lines, escaped for display. */
export function displayRun({ text, count }: LineRun, options: EscapeOptions = {}): string {
  return count > 1 ? text : displayLine(text, { ...options, multiline: true })
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
  while (isBlankLine(lines[to]) && lines[to]?.endsWith('\r') === hasCr) to++
  return lines.slice(at, to)
}

/** Characters after which a line can still be blank: tab, carriage return, space. */
const blankCodes: ReadonlySet<number> = new Set([9, 13, 32])

function isBlankLine(line: string | undefined): boolean {
  if (line === undefined) return false
  // Texts may have 100,000 lines, and this test is much faster than the pattern.
  return line === '' || (blankCodes.has(line.charCodeAt(0)) && /^[ \t]*\r?$/.test(line))
}

function blankLinesMarker(run: readonly string[]): string {
  const kind = run.some(line => line !== '' && /[ \t]/.test(line)) ? 'whitespace lines' : 'blank lines'
  return `⟨${run.length} ${kind}⟩${run[0]?.endsWith('\r') ? crMarker : ''}`
}

/** Joins lines with ↵ for lists and titles. The result is not escaped. It does not replace the full text, which people must see before they answer. */
export function singleLine(text: string): string {
  const lines = text.split('\n').map(line => line.trim())
  return lines.filter(line => line !== '').join(' ↵ ')
}

/** Removes blank lines at the start and all blanks at the end, because the layout already leaves gaps between messages. */
export function withoutOuterBlankLines(text: string): string {
  let start = 0
  while (text[start] === '\n') start++
  return text.slice(start).trimEnd()
}

/** Removes the most common Markdown syntax, for the last message in a session list. */
export function plainText(markdown: string): string {
  const lines = markdown.split('\n').map(line => line.trim())
  const texts = lines.filter(line => !line.startsWith('```') && !line.startsWith('~~~')).map(withoutHashes)
  return texts
    .map(line => withoutPairs(withoutPairs(line, '**'), '`'))
    .filter(line => line !== '')
    .join(' ')
}

function withoutHashes(line: string): string {
  return line.replace(/^#{1,6}\s/, '').trimStart()
}

/** Removes each pair of markers that encloses a text without blanks at its ends. */
function withoutPairs(line: string, sign: string): string {
  const [first = '', ...parts] = line.split(sign)
  let [result, isOpen] = [first, false]
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1
    const opens = !isOpen && !isLast && part !== '' && part.trim() === part
    result += opens || isOpen ? part : sign + part
    isOpen = opens
  })
  return result
}

/** A text in two parts, with the number of characters that are left out between them. */
export interface CutText {
  readonly head: string
  readonly omitted: number
  readonly tail: string
}

/** Cuts a text that is longer than `max` in its middle, because the important part is often at the end. The parts are not escaped. */
export function cutMiddle(text: string, max: number, tailLength = Math.floor(max / 3)): CutText {
  if (text.length <= max) return { head: text, omitted: 0, tail: '' }
  const tailStart = cutOffset(text, text.length - tailLength)
  const headEnd = cutOffset(text, max - tailLength)
  return { head: text.slice(0, headEnd), omitted: tailStart - headEnd, tail: text.slice(tailStart) }
}

/** Splits a text before its last characters, so that a line that does not fit can be shortened in its middle. */
export function splitTail(text: string, tailLength: number): CutText {
  const at = cutOffset(text, Math.max(0, text.length - tailLength))
  return { head: text.slice(0, at), omitted: 0, tail: text.slice(at) }
}

/** The most marks that a displayed letter has: `escapeInvisible` escapes any further ones. */
const marksMax = 4

/** Returns the offset, or a smaller one nearby: never inside a surrogate pair, between a letter and its marks, or after a backslash, which may belong to an escape. */
export function cutOffset(text: string, offset: number): number {
  let at = offset
  while (at > 0 && at >= offset - 2 * marksMax && continuesCharacter(text, at)) at--
  while (at > 0 && text[at - 1] === '\\') at--
  return at
}

function continuesCharacter(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return (unit >= 0xdc00 && unit <= 0xdfff) || /^\p{M}/u.test(text.slice(at, at + 2))
}

/** Cuts a text in its middle, and joins the lines of each part with ↵. */
export function singleLineCut(text: string, max: number): CutText {
  const { head, omitted, tail } = cutMiddle(text, max)
  return { head: singleLine(head), omitted, tail: singleLine(tail) }
}

/** Returns the marker that replaces text that was left out. */
export function omissionMarker(omitted: number): string {
  return omitted === 0 ? '' : `⟨${omitted} more⟩`
}

/** A marked part of a displayed text. Either Holdpoint inserted it (an escaped character, the count of omitted characters, or a line ending), or it consists of characters of the agent that look like others. */
export interface DisplayMarker {
  readonly from: number
  readonly to: number
  readonly kind: 'escape' | 'count' | 'end' | 'look-alike'
}
const markers = /(?<!\\)\\+u\{[0-9a-f]+\}|⟨(?:\d+ [a-z ]+|CR)⟩/g

/** Returns the markers of a displayed text, in order. Look-alikes are included if the text is code. */
export function markersIn(displayed: string, code?: CodeKind): readonly DisplayMarker[] {
  const inserted = insertedMarkers(displayed)
  const similar = code ? lookAlikes(displayed, code) : []
  if (similar.length === 0) return inserted
  const marked = similar.map(({ from, to }): DisplayMarker => ({ from, to, kind: 'look-alike' }))
  return [...inserted, ...marked].sort((a, b) => a.from - b.from)
}

function insertedMarkers(displayed: string): readonly DisplayMarker[] {
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
