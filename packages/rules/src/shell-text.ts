/** Splits shell commands roughly, for deny rules: the result may contain too many words, but hardly ever too few. This is not a parser, and an allow rule must not rely on it. */
import { ansiDecoded } from './shell/ansi-quotes.ts'

/** In longer texts, the quotes $'…' are not decoded. No rule allows such a text. */
const decodedMax = 64 * 1024

/** Decodes the quotes $'…'. Each character is read once. */
function withoutAnsiQuotes(text: string): string {
  let result = ''
  let at = 0
  for (let start = text.indexOf("$'"); start >= 0; start = text.indexOf("$'", at)) {
    let end = start + 2
    while (end < text.length && text[end] !== "'") end += text[end] === '\\' ? 2 : 1
    result += text.slice(at, start) + ansiDecoded(text.slice(start + 2, end))
    at = end + 1
  }
  return result + text.slice(at)
}

/** Removes quotes and backslashes, decodes the quotes $'…', and replaces the variables whose value is known. */
export function plainText(text: string, variables: { readonly HOME: string; readonly PWD: string }): string {
  const decoded = text.length > decodedMax ? text : withoutAnsiQuotes(text)
  return withVariables(decoded.replace(/(?:\\\n|\$(?=['"])|['"\\])+/g, ''), variables)
}
function withVariables(text: string, variables: { readonly HOME: string; readonly PWD: string }): string {
  return text.replace(/\$(?:(HOME|PWD)(?!\w)|\{(HOME|PWD)\})/g, (_, name, braced) => {
    const known: keyof typeof variables = name ?? braced
    return variables[known]
  })
}

/** A word that leads to more words, has more braces or is longer is replaced by a pattern. */
const bracesMax = { words: 64, braces: 16, characters: 1000 } as const

/** Yields the words that the shell makes of each word with braces, such as `a{b,c}`: the words themselves, or one pattern that matches at least all of them. */
export function* bracedWords(text: string): Generator<string> {
  for (const [word] of text.matchAll(/[^\s;|&()<>`]+/g)) if (word.includes('{')) yield* expandBraces(word)
}
function expandBraces(word: string): readonly string[] {
  if (word.length > bracesMax.characters || word.split('{', bracesMax.braces + 2).length > bracesMax.braces + 1)
    return [patternOf(word)]
  let words: readonly string[] = [word]
  while (words.length <= bracesMax.words && words.some(each => innermostBraces.test(each)))
    words = words.flatMap(expandOnce)
  return words.length <= bracesMax.words ? words : [patternOf(word)]
}
const innermostBraces = /\{([^{}]*)\}/
function expandOnce(word: string): readonly string[] {
  const found = innermostBraces.exec(word)
  if (!found) return [word]
  const [{ length }, content = ''] = found
  const choices = content.includes('..') ? ['*'] : content.split(',')
  return choices.map(choice => word.slice(0, found.index) + choice + word.slice(found.index + length))
}
function patternOf(word: string): string {
  return `${word.slice(0, word.indexOf('{'))}*${word.slice(word.lastIndexOf('}') + 1)}`
}

/** Decodes percent-encoding such as %2e, for the URLs of files. */
export function percentDecoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, code => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
}

/** A path in a folder that only the shell knows, such as `$ROOT/a`, `$(pwd)/a` and `~+/a`. */
const afterExpansion = /(?:\$\w+|\$\{[^{}]*\}|[)`]|~[+-])\/([^\s;|&()<>`,=:@{}$]+)/g

/** Yields the part of each path after an expansion at its start: for `$ROOT/a/b`, it is `a/b`. */
export function* pathsAfterExpansions(text: string): Generator<string> {
  for (const [, path = ''] of text.matchAll(afterExpansion)) yield path
}

const wordWithExpansions = /(?:\$\w+|\$\{[^{}\s]*\}|\$\([^()]*\)|`[^`]*`|[^\s;|&()<>`,=:@{}$])+/g
const expansion = /\$\w+|\$\{[^{}\s]*\}|\$\([^()]*\)|`[^`]*`/g

/** Yields the paths with an expansion inside, as patterns: `config/*.yml` for `config/$NAME.yml`. A path that starts or ends with an expansion alone could be any path. */
export function* expansionPatterns(text: string): Generator<string> {
  for (const [word] of text.matchAll(wordWithExpansions)) {
    const pattern = word.replace(expansion, '*')
    if (pattern !== word && !pattern.startsWith('*') && !/\/\**$/.test(pattern)) yield pattern
  }
}

const word = /[^\s;|&()<>`,=:@{}]+/g

/** Yields everything in the text that could be a path, each once. Options and lists such as `--file=a,b` are split. A caller that needs only the first words does not read the rest. */
export function* wordsOf(text: string): Generator<string> {
  const known = new Set<string>()
  for (const [found] of text.matchAll(word)) {
    if (known.has(found)) continue
    known.add(found)
    yield found
  }
}

const separatesWords = /[\s;|&()<>`,=:@{}]/
/** The parts of a shell text that decide where a word ends. */
const wordParts =
  /\\[\s\S]|\$'(?:[^'\\]|\\[\s\S])*'?|'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|[\s;|&()<>`]+|[^\s;|&()<>`'"\\$]+|[\s\S]/g
/** How often quotes in quotes are read. */
const quotesDepthMax = 4
/** How many parts `joinedWords` reads of one text. Only a text that consists mostly of quotes has more parts and few words. */
const wordPartsMax = 8192

/** Counts the parts that `joinedWords` has read. If a text has too many parts, `isUsedUp` is true, and some words may be missing. */
export class WordPartBudget {
  #left = wordPartsMax
  get isUsedUp(): boolean {
    return this.#left < 0
  }
  /** Counts a part. Returns whether it may be read. */
  take(): boolean {
    return --this.#left >= 0
  }
}

/** Yields the words that contain a character at which `wordsOf` splits them, such as the space in 'my files/a' and the comma in a,b: the whole word without its quotes, and what follows the name of an option. Words in quoted commands count too. */
export function* joinedWords(
  text: string,
  variables: { readonly HOME: string; readonly PWD: string },
  budget: WordPartBudget,
  depth = 0,
): Generator<string> {
  for (const word of writtenWords(text, budget)) {
    if (!separatesWords.test(word)) continue
    yield withVariables(word, variables)
    const option = /^-[\w-]*=?/.exec(word)
    if (option) yield withVariables(word.slice(option[0].length), variables)
    if (/['"\\]/.test(word) && depth < quotesDepthMax) yield* joinedWords(word, variables, budget, depth + 1)
  }
}
/** Yields the words of a text as a shell separates them, without their quotes and backslashes. */
function* writtenWords(text: string, budget: WordPartBudget): Generator<string> {
  let word = ''
  for (const [part] of text.matchAll(wordParts)) {
    if (!budget.take()) return
    if (/^[\s;|&()<>`]/.test(part)) {
      if (word !== '') yield word
      word = ''
    } else word += unquoted(part)
  }
  if (word !== '') yield word
}
function unquoted(part: string): string {
  if (part.startsWith("$'")) return ansiDecoded(part.slice(2).replace(/'$/, ''))
  if (part.startsWith("'")) return part.replaceAll("'", '')
  if (part.startsWith('"')) return part.replace(/"$|^"|\\(?=["\\$`\n])/g, '')
  return part.startsWith('\\') ? part.slice(1).replace('\n', '') : part
}

/** An arithmetic expression, in which a star is a sign of multiplication. */
const arithmetic = /\(\([^()]{0,200}\)\)/g

/** Yields the patterns outside quotes that consist only of special characters, such as `*` and `../*`. In quotes, they are more likely a part of an expression to search for. */
export function* openPatterns(text: string, budget: WordPartBudget): Generator<string> {
  let word = ''
  for (const [part] of `${text.replace(arithmetic, ' ')} `.matchAll(wordParts)) {
    if (!budget.take()) return
    if (/^[\s;|&()<>`]/.test(part)) {
      const value = word.slice(word.lastIndexOf('=') + 1)
      // A branch of `case` ends with a bracket.
      if (/[*?]/.test(value) && !/\w/.test(value) && !(part.startsWith(')') && text.includes('case '))) yield value
      word = ''
    } else word += /^['"\\]|^\$'/.test(part) ? 'x' : part
  }
}

/** Returns the simple commands of the text, each as its words. */
export function* simpleCommands(text: string): Generator<readonly string[]> {
  for (const [command] of text.matchAll(/[^;|&\n()`]+/g)) yield command.split(/[\s<>]+/).filter(word => word !== '')
}

/** Returns whether `mention` occurs in the text as a path or name of its own, not as a part of a longer one. */
export function mentions(text: string, mention: string): boolean {
  for (let at = text.indexOf(mention); at >= 0; at = text.indexOf(mention, at + 1)) {
    const before = text[at - 1]
    const after = text[at + mention.length]
    const isStart = before === undefined || !(mention.startsWith('/') ? /[\w.\-/~})$]/ : /[\w.-]/).test(before)
    if (isStart && (after === undefined || !/[\w.-]/.test(after))) return true
  }
  return false
}
