/** Finds characters that people mistake for others: letters of another alphabet inside a Latin word, characters that look like those of a shell, and accented letters that are stored as two characters. */
import { programNames } from './shell-tokens.ts'

/** The kind of a text. A command has the strictest checks, because a single character decides what a shell does. */
export type CodeKind = 'command' | 'code'

export interface LookAlike {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Letters that look like Latin letters. Other Greek letters are not listed, because μ, λ and Δ often appear next to Latin letters. */
const likeLatin =
  '\\p{Script=Cyrillic}\\p{Script=Armenian}\\p{Script=Cherokee}\\p{Script=Coptic}\\p{Script=Lisu}\\p{Script=Deseret}' +
  'αγηικνορτυχ\\u03f2ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ\\u0251\\u0261\\u0269\\u029f\\u2160-\\u217f\\u2102-\\u2134'
/** Latin letters in other shapes, such as the bold letters of mathematics. */
const restyledLetters = '\\u{1d400}-\\u{1d7ff}'
const fullWidth = '\\uff01-\\uff5e'
/** Characters that look like : ; / \ | ! . and * and are used for nothing else in code. */
const likeSigns =
  '\\u037e\\u0589\\u05c3\\u2044\\u2215\\u2216\\u29f5\\u29f8\\u2236\\ua789\\u01c0\\u01c3\\u2024\\u2217\\u2223\\ufe52-\\ufe6b'
/** Characters that look like quotes, dashes and the tilde. Sentences have them too, so they count only in commands. */
const likeSignsInCommands =
  '\\u02b9\\u02bc\\u02cb\\u02d7\\u2010-\\u2015\\u2018-\\u201e\\u2032\\u2035\\u2039\\u203a\\u2212\\u223c'

const word = /[\p{L}\p{M}\p{N}]+/gu
const asciiLetter = /[a-z]/i
const ascii = /^[\0-\x7f]*$/
const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const letterInWord = new RegExp(`[${likeLatin}]`, 'gu')
/** A letter and its marks. At most four marks, because `escapeInvisible` escapes any further ones. */
const withMarks = /\p{L}\p{M}{1,4}/gu

const signs = {
  command: new RegExp(`[${restyledLetters}${likeSigns}${fullWidth}${likeSignsInCommands}]`, 'gu'),
  code: new RegExp(`[${restyledLetters}${likeSigns}${fullWidth}]`, 'gu'),
  // Full-width characters are normal in East Asian texts.
  eastAsianCode: new RegExp(`[${restyledLetters}${likeSigns}]`, 'gu'),
}
function signsFor(kind: CodeKind, text: string): RegExp {
  return kind === 'code' && eastAsian.test(text) ? signs.eastAsianCode : signs[kind]
}

/** Returns the look-alikes of a text, in order. */
export function lookAlikes(text: string, kind: CodeKind): readonly LookAlike[] {
  if (ascii.test(text)) return []
  const found = new Map<number, LookAlike>()
  const add = (match: string, from: number) => found.set(from, { from, to: from + match.length, text: match })
  for (const { 0: match, index } of text.matchAll(signsFor(kind, text))) add(match, index)
  for (const { 0: match, index } of text.matchAll(withMarks)) if (match.normalize('NFC') !== match) add(match, index)
  for (const { 0: match, index } of text.matchAll(word)) {
    if (ascii.test(match) || !asciiLetter.test(match)) continue
    for (const letter of match.matchAll(letterInWord)) add(letter[0], index + letter.index)
  }
  return [...found.values()].sort((a, b) => a.from - b.from)
}

export interface UnusualHost {
  readonly host: string
  /** The ASCII form of the name, which DNS resolves. */
  readonly lookedUp: string
}

const hostAfter = /(?::\/\/|@)[^\s/?#'"`<>()\\:,;@]+/g
const bareHost = /\.(?:com|net|org|io|dev|app|ai|info|xyz|cloud|edu|gov)$/i

/** Returns the host names of a text that have letters outside ASCII. */
export function unusualHosts(text: string): readonly UnusualHost[] {
  if (ascii.test(text)) return []
  const named = Array.from(text.matchAll(hostAfter), ([match]) => match.replace(/^:?\/?\/?@?/, ''))
  const bare = text.split(/[\s/?#'"`<>()\\:,;@=]/).filter(part => bareHost.test(part))
  return [...new Set([...named, ...bare])].flatMap(host => {
    if (ascii.test(host) || !URL.canParse(`http://${host}`)) return []
    return [{ host, lookedUp: new URL(`http://${host}`).host }]
  })
}

/** Returns the names of programs in a command that have letters outside ASCII. */
export function unusualPrograms(command: string): readonly string[] {
  if (ascii.test(command)) return []
  return [...new Set(programNames(command).filter(name => !ascii.test(name)))]
}
