/**
 * Finds commands in a text in one pass and without a syntax tree: it only knows quotes, substitutions and separators. It never
 * fails and reads everything, so a mistake of the parser, or a text that no parser accepts, cannot hide a command from deny rules.
 */
import { ansiUnquoted } from './ansi-quotes.ts'
import type { FoundCommands } from './found-commands.ts'

/** One level of nesting: the text itself, a substitution or a group. */
interface Level {
  words: string[]
  /** Null between words. */
  word: string | null
  /** Whether this level is in double quotes. A quoted text continues the word of the level below. */
  readonly isQuoted: boolean
  /** Whether the next word is the target of a redirect and not an argument. */
  isTarget: boolean
}

/** The parts of a shell text that matter here, longest first. Everything else belongs to a word. */
const parts =
  /\\\n|\\[\s\S]|\$'(?:[^'\\]|\\[\s\S])*'?|'[^']*'?|`(?:[^`\\]|\\[\s\S])*`?|\$\(|\$?"|[<>]\(|&>>?|[<>]&|<<<|<>|>\||[<>]+|\n|[ \t\r]+|[;&|()]|#|[^\\'"`$<>&|;()\s#]+|[\s\S]/g
const partsInQuotes = /\\\n|\\[\s\S]|`(?:[^`\\]|\\[\s\S])*`?|\$\(|"|[^\\"`$]+|[\s\S]/g

/** A substitution costs more units, because the parser reads it again as a separate text. */
const substitutionUnits = 5

/** Adds the commands within the first `unitsMax` parts of the text. Returns how many units are left, which is below zero if the text has more parts. */
export function scanCommands(source: string, found: FoundCommands, unitsMax: number): number {
  const text = withoutHereDocuments(source, found)
  const levels: Level[] = [newLevel(false)]
  let unitsLeft = unitsMax
  let at = 0
  while (at < text.length && unitsLeft >= 0) {
    const level = levels.at(-1) as Level // the first level is never removed
    const pattern = level.isQuoted ? partsInQuotes : parts
    pattern.lastIndex = at
    const part = pattern.exec(text)?.[0] ?? (text[at] as string) // the last alternative matches any character
    at += part.length
    unitsLeft -= part[0] === '`' ? substitutionUnits : 1
    if (level.isQuoted) readQuoted(part, levels, found)
    else if (part === '#' && level.word === null) at = endOfLine(text, at)
    else readPart(part, levels, found)
  }
  while (levels.length > 0) closeLevel(levels, found)
  return unitsLeft
}

function readPart(part: string, levels: Level[], found: FoundCommands): void {
  const level = levels.at(-1) as Level // the first level is never removed
  switch (part) {
    case '\n':
    case ';':
    case '&':
    case '|':
      endCommand(level, found)
      return
    case '"':
    case '$"':
      level.word ??= ''
      levels.push(newLevel(true))
      return
    case '$(':
      level.word = `${level.word ?? ''}$()`
      levels.push(newLevel(false))
      return
    case '(':
    case '<(':
    case '>(':
      if (part === '(') endCommand(level, found)
      else level.word = `${level.word ?? ''}${part})`
      levels.push(newLevel(false))
      return
    case ')':
      if (levels.length > 1) closeLevel(levels, found)
      else endCommand(level, found)
      return
  }
  if (/^[<>&]/.test(part)) {
    if (/^\d+$/.test(level.word ?? '')) level.word = null
    endWord(level)
    level.isTarget = true
  } else if (/^\s+$/.test(part)) endWord(level)
  else level.word = (level.word ?? '') + wordText(part, found)
}

function readQuoted(part: string, levels: Level[], found: FoundCommands): void {
  const level = levels.at(-1) as Level // the first level is never removed
  if (part === '"') closeLevel(levels, found)
  else if (part === '$(') {
    level.word = `${level.word ?? ''}$()`
    levels.push(newLevel(false))
  } else level.word = (level.word ?? '') + (/^\\[^\\$`"\n]/.test(part) ? part : wordText(part, found))
}

function wordText(part: string, found: FoundCommands): string {
  if (part.startsWith("$'")) return ansiUnquoted(part)
  if (part === '\\\n') return ''
  if (part[0] === '\\') return part.slice(1)
  if (part.length > 1 && part[0] === "'") return part.slice(1, part.endsWith("'") ? -1 : undefined)
  if (part[0] === '`') found.scripts.push(part.replace(/^`|`$/g, '').replace(/\\([\\`$])/g, '$1'))
  return part[0] === '`' ? '$()' : part
}

function newLevel(isQuoted: boolean): Level {
  return { words: [], word: null, isQuoted, isTarget: false }
}

function closeLevel(levels: Level[], found: FoundCommands): void {
  const level = levels.pop()
  const below = levels.at(-1)
  if (!level) return
  if (!level.isQuoted) endCommand(level, found)
  else if (below) below.word = (below.word ?? '') + (level.word ?? '')
}

function endWord(level: Level): void {
  if (level.word === null) return
  if (level.isTarget) level.isTarget = false
  else level.words.push(level.word)
  level.word = null
}

function endCommand(level: Level, found: FoundCommands): void {
  endWord(level)
  found.addCommand(level.words)
  level.words = []
  level.isTarget = false
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** Every here-document costs a search for its end. The bodies of further here-documents are searched like commands. */
const hereDocumentsMax = 50
const hereDocument = /<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|(\\?[\w.-]+))/g

/** Removes the bodies of here-documents from a text: most of them are the content of a file, not commands. */
function withoutHereDocuments(text: string, found: FoundCommands): string {
  if (!text.includes('<<')) return text
  const kept: string[] = []
  const lines = text.split('\n')
  const ends = lines.map(line => line.replace(/^\t+/, ''))
  let left = hereDocumentsMax
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string // `at` is below the length
    kept.push(line)
    for (const [, single, double, bare] of line.matchAll(hereDocument)) {
      if (--left < 0) break
      const delimiter = single ?? double ?? bare?.replace('\\', '')
      const end = delimiter === undefined ? -1 : ends.indexOf(delimiter, at + 1)
      if (end < 0) continue
      const body = lines.slice(at + 1, end).join('\n')
      found.inputs.push(body)
      // The shell expands the body unless the delimiter is quoted.
      if (bare && !bare.startsWith('\\')) kept.push(...substitutions(body))
      at = end
    }
  }
  return kept.join('\n')
}

function substitutions(body: string): readonly string[] {
  return /\$\(|`/.test(body) ? [`"${body.replaceAll('"', '\\"')}"`] : []
}
