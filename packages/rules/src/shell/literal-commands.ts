/**
 * Finds every command that a text may run, as far as its words show, for deny rules. This is the opposite of `parseCommand`:
 * it may find too many commands, but it must not miss one that is written in the text.
 */
import { FoundCommands } from './found-commands.ts'
import { scanCommands } from './loose-scanner.ts'
import { includesWords, wordsIn } from './mentioned-words.ts'
import { findParsedCommands, parsingCost } from './syntax-commands.ts'
import { codeScripts, isInterpreter, programName, shellNames, wrappedCommands } from './wrapper-programs.ts'

export interface LiteralCommand {
  /** The base name of the program, in lower case. */
  readonly name: string
  /** The words without quotes. A part that is known only when the command runs, such as $HOME, stays as written. */
  readonly argv: readonly string[]
}
export interface LiteralCommands {
  readonly commands: readonly LiteralCommand[]
  /** The values that the text gives to variables. */
  readonly values: ReadonlySet<string>
  /** Whether the whole text was searched. If not, a deny rule must also match if `mentions` returns true for its words. */
  readonly isComplete: boolean
  /** Whether the search stopped early, because it would have taken too much work. */
  readonly isCutShort: boolean
  /** Returns whether all these words occur in the text, in any order and in any quotes. */
  readonly mentions: (words: readonly string[]) => boolean
}

export const searchLimits = {
  /** The length of all texts together, because a command can contain others as text. */
  characters: 32_768,
  commands: 1000,
  /** How many texts are searched: the whole one and those that it contains. */
  scripts: 500,
  /** The words of all commands together, because each wrapper repeats the words that follow it. */
  words: 2500,
  /** The parts of all texts together: words, blanks, quotes and separators. A dense text takes more work than its length says. */
  units: 5000,
  /** The cost of parsing, in which nested substitutions count many times. */
  parsing: 300_000,
  depth: 8,
  /** How many words after a wrapper are tried as the start of the command that it runs. */
  starts: 50,
  /** How many combinations of the values of variables and of lists in braces are tried for one command. */
  variants: 16,
} as const

/** Programs that pass their standard input on as commands. */
const readsCommands: ReadonlySet<string> = new Set([
  ...shellNames,
  'source',
  '.',
  'eval',
  'ssh',
  'xargs',
  'parallel',
  'at',
  'batch',
  'crontab',
])
const printsText: ReadonlySet<string> = new Set(['echo', 'printf', 'print', 'cat', 'tee'])

export function literalCommands(text: string): LiteralCommands {
  const search = new CommandSearch()
  search.addScript(text, 0)
  let words: ReadonlySet<string> | undefined
  return {
    commands: search.commands,
    values: search.values,
    isComplete: search.isComplete && !search.isCutShort,
    isCutShort: search.isCutShort,
    mentions: wanted => {
      words ??= wordsIn(text)
      return includesWords(words, wanted)
    },
  }
}

/** Returns whether all these words occur in the text, in any order and in any quotes. */
export function mentionsWords(text: string, words: readonly string[]): boolean {
  return includesWords(wordsIn(text), words)
}

class CommandSearch {
  readonly commands: LiteralCommand[] = []
  readonly values = new Set<string>()
  isComplete = true
  isCutShort = false
  readonly #known = new Set<string>()
  #charactersLeft: number = searchLimits.characters
  #scriptsLeft: number = searchLimits.scripts
  #wordsLeft: number = searchLimits.words
  #unitsLeft: number = searchLimits.units
  #parsingLeft: number = searchLimits.parsing
  #hasInterpreter = false
  #hasReader = false

  addScript(text: string, depth: number): void {
    if (this.#known.has(text)) return
    this.#known.add(text)
    this.#charactersLeft -= text.length
    if (this.#charactersLeft < 0 || this.#scriptsLeft-- <= 0 || depth > searchLimits.depth) {
      this.isCutShort = true
      return
    }
    const found = this.#find(text)
    for (const value of found.values()) this.values.add(value)
    for (const script of found.scripts) this.addScript(script, depth + 1)
    const variants = found.commands.flatMap(argv => this.#variants(argv, found))
    for (const argv of variants) this.#add(argv, depth)
    if (this.#hasInterpreter)
      for (const input of found.inputs) for (const script of codeScripts(input)) this.addScript(script, depth + 1)
    // A shell may read the output of another command.
    if (!this.#hasReader) return
    for (const input of found.inputs) this.addScript(input, depth + 1)
    for (const [name = '', ...args] of variants) {
      if (!printsText.has(programName(name))) continue
      this.addScript(args.join(' '), depth + 1)
      // The first argument of `printf` is a format.
      this.addScript(args.slice(1).join(' '), depth + 1)
    }
  }

  /** The parser takes longer than the scanner, so a text that is too long for the scanner is not parsed. */
  #find(text: string): FoundCommands {
    const scanned = new FoundCommands()
    this.#unitsLeft = scanCommands(text, scanned, this.#unitsLeft)
    if (this.#unitsLeft < 0) {
      this.isCutShort = true
      return scanned
    }
    const found = new FoundCommands()
    this.#parsingLeft -= parsingCost(text)
    if (this.#parsingLeft < 0 || !findParsedCommands(text, found)) this.isComplete = false
    found.addAll(scanned)
    return found
  }

  #add(argv: readonly string[], depth: number): void {
    if (!this.#addCommand(argv)) return
    const { starts, scripts } = wrappedCommands(argv)
    if (starts.length > searchLimits.starts) this.isComplete = false
    for (const start of starts.slice(0, searchLimits.starts)) this.#addCommand(argv.slice(start))
    for (const script of scripts) this.addScript(script, depth + 1)
  }

  /** Adds a command that is new, unless there are too many. Returns whether it was added. */
  #addCommand(argv: readonly string[]): boolean {
    const key = argv.join('\0')
    if (this.#known.has(`\0${key}`)) return false
    this.#known.add(`\0${key}`)
    this.#wordsLeft -= argv.length
    if (this.#wordsLeft < 0 || this.commands.length >= searchLimits.commands) {
      this.isCutShort = true
      return false
    }
    const name = programName(argv[0] ?? '')
    this.#hasInterpreter ||= isInterpreter(name)
    this.#hasReader ||= readsCommands.has(name)
    this.commands.push({ name, argv })
    return true
  }

  /** Returns the command as it is written, and with the values that its variables and lists in braces can have. */
  #variants(argv: readonly string[], found: FoundCommands): readonly (readonly string[])[] {
    if (!argv.some(word => /[${]/.test(word))) return [argv]
    const variants: string[][] = [[]]
    for (const word of argv) {
      if (variants.length > 1 && variants.length * (variants[0]?.length ?? 0) > searchLimits.words) {
        this.isCutShort = true
        return [argv]
      }
      const others = alternatives(word, found)
      const count = variants.length
      for (const other of others) {
        const room = searchLimits.variants - variants.length
        if (room < count) this.isComplete = false
        for (const before of variants.slice(0, Math.min(count, room))) variants.push([...before, ...other])
      }
      for (const variant of variants.slice(0, count)) variant.push(word)
    }
    return variants.filter(({ length }) => length > 0)
  }
}

const braceList = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/

interface Variable {
  readonly name: string
  readonly from: number
  readonly to: number
}
/** Finds $name and ${name…} in a word, each up to the first closing brace. */
function variablesIn(word: string): readonly Variable[] {
  const found: Variable[] = []
  const lastBrace = word.lastIndexOf('}')
  for (const { 0: start, 1: name = '', index } of word.matchAll(/\$\{?(\w+)/g)) {
    const end = index + start.length
    const isInside = index < (found.at(-1)?.to ?? 0)
    if (isInside || (start[1] === '{' && end > lastBrace)) continue
    found.push({ name, from: index, to: start[1] === '{' ? word.indexOf('}', end) + 1 : end })
  }
  return found
}

/** Returns the other forms that a word can take, each as a list of words: at most one more than the number of variants that are tried. */
function alternatives(word: string, found: FoundCommands): readonly (readonly string[])[] {
  const list = braceList.exec(word)
  if (list?.[2]?.includes(',')) return [(list[2] ?? '').split(',').map(item => `${list[1]}${item}${list[3]}`)]
  if (!word.includes('$')) return []
  const variables = variablesIn(word)
  const results: (readonly string[])[] = []
  const addWith = (valueFor: (name: string) => string | undefined) => {
    const words = withValues(word, variables, valueFor).split(/\s+/)
    results.push(words.filter(part => part !== ''))
  }
  const names = new Set(variables.map(({ name }) => name))
  for (const name of names)
    for (const value of found.valuesOf(name)) {
      if (results.length > searchLimits.variants) return results
      addWith(each => (each === name ? value : undefined))
    }
  if (names.size > 1) addWith(name => [...found.valuesOf(name)].at(-1))
  return results
}

/** Replaces the variables that have a value. */
function withValues(
  word: string,
  variables: readonly Variable[],
  valueFor: (name: string) => string | undefined,
): string {
  let result = ''
  let at = 0
  for (const { name, from, to } of variables) {
    const value = valueFor(name)
    if (value === undefined) continue
    result += word.slice(at, from) + value
    at = to
  }
  return result + word.slice(at)
}
