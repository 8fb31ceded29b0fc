/** Reads the words of a text without looking at its structure, for deny rules and texts that cannot be searched completely. */
import { ansiDecoded } from './ansi-quotes.ts'
import { programName } from './wrapper-programs.ts'

/** For each ASCII character: whether it separates words, is removed from them, or belongs to them. */
const separates = 1
const quotes = 2
const characterKinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[\s;|&()<>`{},=$[\]!#]/.test(character) ? separates : /['"\\]/.test(character) ? quotes : 0
})

/** Adds each word of the text to `words` and returns them: in lower case, with quotes and backslashes removed. Also adds each word without its folder (`rm` for `/bin/rm`). */
export function wordsIn(text: string, words = new Set<string>()): ReadonlySet<string> {
  addWords(text, words)
  if (text.includes("$'")) addWords(ansiDecoded(text), words)
  return words
}

/** Reads character by character, because patterns are slow for a long text of quotes and brackets. */
function addWords(text: string, words: Set<string>): void {
  let word = ''
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const kind = at === text.length ? separates : characterKinds[text.charCodeAt(at)]
    if (!kind) continue
    if (at > start) word += text.slice(start, at)
    start = at + 1
    // A shell joins the lines around a backslash at the end of a line.
    if (kind === quotes && text.startsWith('\\\n', at)) start = ++at + 1
    if (kind === quotes || word === '') continue
    const folded = word.toLowerCase()
    words.add(folded)
    if (folded.includes('/')) words.add(programName(folded))
    word = ''
  }
}

/** Returns whether all wanted words are among the words of a text. */
export function includesWords(words: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return wanted.every(word => [...wordsIn(word)].every(part => words.has(part)))
}
