/** Compares the command of a rule that denies or asks with the commands of a call. Options match in every spelling that is known: in any order, joined or apart, by their short and long names. */
import { isPattern, matchesName } from './paths.ts'
import { joinsLetters, optionsOf, type SameOption, sameWords, startsWithLetters } from './programs/option-names.ts'
import { includesWords } from './shell/mentioned-words.ts'

/** The options among the words of a command, each counted once. */
export interface GivenOptions {
  readonly words: readonly string[]
  readonly wordSet: ReadonlySet<string>
  /** The letters after one dash, and digits. */
  readonly letters: ReadonlySet<string>
  /** The names after two dashes. They can be abbreviations. */
  readonly names: ReadonlySet<string>
  /** The names after one dash, which some programs take as long options. */
  readonly dashNames: ReadonlySet<string>
  /** The words that a shell may replace with names of files. */
  readonly patterns: readonly string[]
}

export function givenOptions(program: string, words: readonly string[]): GivenOptions {
  const letters = new Set<string>()
  const names = new Set<string>()
  const dashNames = new Set<string>()
  const patterns: string[] = []
  for (const [index, word] of words.entries()) {
    if (word.startsWith('--')) names.add(nameIn(word, 2))
    else if (word.startsWith('-')) {
      addLetters(word, 1, letters)
      dashNames.add(nameIn(word, 1))
    } else if (index === 0 && startsWithLetters(program)) addLetters(word, 0, letters)
    if (isPattern(word) && /\w/.test(word)) patterns.push(word)
  }
  return { words, wordSet: new Set(words), letters, names, dashNames, patterns }
}
function nameIn(word: string, start: number): string {
  const end = word.indexOf('=')
  return word.slice(start, end < 0 ? undefined : end)
}
function addLetters(word: string, start: number, letters: Set<string>): void {
  for (let at = start; at < word.length && /[A-Za-z0-9]/.test(word[at] as string); at++) letters.add(word[at] as string)
}

const noOptions: GivenOptions = givenOptions('', [])

/** The options among words of which nobody knows to which command they belong. */
export interface MentionedOptions extends Omit<GivenOptions, 'letters'> {
  /** The letters after each dash, without those of long words. */
  readonly clusters: readonly string[]
}

/** Longer words after one dash are no short options. */
const clusterMax = 8
const clustersMax = 200

export function mentionedOptions(words: ReadonlySet<string>): MentionedOptions {
  const dashed: string[] = []
  const clusters = new Set<string>()
  for (const word of words) {
    if (/^[-+:]./.test(word)) dashed.push(word)
    const cluster = word.length <= clusterMax ? /^-([a-z0-9]+)/.exec(word)?.[1] : undefined
    if (cluster !== undefined) clusters.add(cluster)
  }
  // So many different ones could be any options.
  const few = clusters.size <= clustersMax ? clusters : new Set('abcdefghijklmnopqrstuvwxyz0123456789')
  const { letters: _letters, ...options } = givenOptions('', dashed.slice(0, dashedMax))
  return { ...options, wordSet: words, clusters: [...few] }
}
const dashedMax = 2000

type OptionTest = (given: GivenOptions) => boolean

/** Longer patterns are taken to match, because comparing them takes time. */
const patternMax = 256

export class CommandPattern {
  readonly program: string
  readonly #words: readonly string[]
  /** The words that are no options, in their order, each with the words that mean the same. */
  readonly #ordered: readonly (readonly string[])[]
  /** The words after an option. They may be its value, which can be anywhere, also joined with the option. */
  readonly #values: readonly string[]
  readonly #options: readonly OptionTest[]
  /** The same for words in lower case. */
  readonly #looseOptions: readonly OptionTest[]
  readonly #looseValues: readonly string[]
  /** The letters, in lower case, with which the options can be given. */
  readonly #letters: ReadonlySet<string>

  constructor([program = '', ...words]: readonly string[]) {
    const ordered: (readonly string[])[] = []
    const values: string[] = []
    const options: string[] = []
    for (const [index, word] of words.entries()) {
      if (/^--?[A-Za-z0-9]/.test(word)) options.push(word)
      else if (/^--?[A-Za-z0-9]/.test(words[index - 1] ?? '') && !words[index - 1]?.includes('=')) values.push(word)
      else ordered.push(sameWords(program, word))
    }
    this.program = program
    this.#words = [program, ...words]
    this.#ordered = ordered
    this.#values = values
    const known = options.length === 0 ? [] : [program, ...words].flatMap(name => optionsOf(name, new Set(words)))
    const joins = [program, ...words].some(joinsLetters)
    this.#options = options.map(option => {
      const isGiven = optionTest(option, known, joins)
      return given => isGiven(given) || given.words.some(word => isWord(word, option))
    })
    const lower = known.map(inLowerCase)
    const looseOptions = options.map(option => nameWithDashes(option).toLowerCase())
    this.#looseOptions = looseOptions.map(option => optionTest(option, lower, joins))
    this.#looseValues = options
      .map(option => option.slice(nameWithDashes(option).length + 1))
      .filter(each => each !== '')
    this.#letters = new Set(looseOptions.flatMap(option => lettersFor(option, lower)))
  }

  /** Returns whether the words of a command, without its program, contain what the rule names. */
  matches(given: GivenOptions): boolean {
    return (
      this.#options.every(isGiven => isGiven(given)) &&
      this.#values.every(value => hasValue(value, given)) &&
      this.#isInOrder(given)
    )
  }

  /** Returns whether everything that the rule names is among words in lower case, in any order. `mentioned` are the options among the same words. */
  isMentioned(words: ReadonlySet<string>, mentioned: () => MentionedOptions): boolean {
    if (includesWords(words, this.#words)) return true
    if (!includesWords(words, [this.program, ...this.#values, ...this.#looseValues])) return false
    if (!this.#ordered.every(same => same.some(word => includesWords(words, [word])))) return false
    if (this.#looseOptions.length === 0) return true
    const { clusters, ...options } = mentioned()
    // The letters of other options, such as `-print`, are no sign of the options of the rule.
    const letters = clusters.flatMap(cluster => (this.#isRelevant(cluster) ? [...cluster] : []))
    return this.#areGiven({ ...options, letters: new Set(letters) })
  }
  #isRelevant(cluster: string): boolean {
    const letters = new Set(cluster)
    return [...letters].every(letter => this.#letters.has(letter)) || this.#areGiven({ ...noOptions, letters })
  }
  #areGiven(given: GivenOptions): boolean {
    return this.#looseOptions.every(isGiven => isGiven(given))
  }

  #isInOrder({ words, patterns }: GivenOptions): boolean {
    let at = 0
    /** Whether only options and their values came since the last word that was found. */
    let isNext = true
    for (const [index, word] of words.entries()) {
      const next = this.#ordered[at]
      if (next === undefined) return true
      const mayMatch = patterns.length > 0 && isNext ? mayBecome : isWord
      if (next.some(wanted => isWord(word, wanted) || mayMatch(word, wanted))) {
        at++
        isNext = true
      } else if (!word.startsWith('-') && !words[index - 1]?.startsWith('-')) isNext = false
    }
    return at === this.#ordered.length
  }
}

/** A word such as `alias.p=push` also counts as the word after its equals sign. */
function isWord(word: string, wanted: string): boolean {
  return word === wanted || word.endsWith(`=${wanted}`)
}
/** Returns whether a shell may replace the word with the wanted one. A pattern without any letter could become every word, so it does not count. */
function mayBecome(word: string, wanted: string): boolean {
  if (!isPattern(word) || !/\w/.test(word)) return false
  return word.length > patternMax || matchesName(word, wanted)
}
function hasValue(value: string, { words, patterns }: GivenOptions): boolean {
  const isJoined = (word: string) => word.startsWith('-') && word.length > value.length + 1 && word.endsWith(value)
  return (
    words.some(word => isWord(word, value) || isJoined(word)) || patterns.some(pattern => mayBecome(pattern, value))
  )
}

/** Returns an option without the value that follows its equals sign. */
function nameWithDashes(option: string): string {
  return nameIn(option, 0)
}
/** Returns the letters of an option and of its other names. */
function lettersFor(option: string, known: readonly SameOption[]): readonly string[] {
  const letters = option.startsWith('--') ? [] : [...option.slice(1)]
  const names = [option, ...letters.map(letter => `-${letter}`)]
  const same = known.filter(each => names.some(name => each.names.includes(name)))
  const others = same.flatMap(each => [...each.names, ...each.includedIn]).flatMap(name => name.split('&'))
  return [...letters, ...others.filter(name => /^-[a-z0-9]$/.test(name)).map(name => name.slice(1))]
}

function inLowerCase({ subcommand, names, includedIn }: SameOption): SameOption {
  const lower = (list: readonly string[]) => list.map(name => name.toLowerCase())
  return { subcommand, names: lower(names), includedIn: lower(includedIn) }
}

/** How many letters after one dash are short options of a program that is not known. More letters are a name, as in `-name`. */
const lettersMax = 3
/** A shorter rest of a word is not taken for the value of an option: `-rf` is not `-r` with the value `f`. */
const valueMin = 3

function optionTest(option: string, known: readonly SameOption[], joins: boolean): OptionTest {
  if (option.startsWith('--')) {
    const name = nameIn(option, 2)
    const isNamed = nameTest(`--${name}`, known)
    if (name.length + 2 === option.length) return isNamed
    const value = option.slice(name.length + 3)
    return given => isNamed(given) && hasValue(value, given)
  }
  const letters = /^-[A-Za-z0-9]+$/.test(option) ? [...option.slice(1)] : []
  const areJoined = letters.length > 0 && (joins || letters.length <= lettersMax)
  // A program that joins letters has no long option of the same letters.
  const whole: OptionTest = areJoined && joins ? ({ wordSet }) => wordSet.has(option) : nameTest(option, known)
  const tests = areJoined ? letters.map(letter => nameTest(`-${letter}`, known)) : []
  const first = nameTest(option.slice(0, 2), known)
  const value = option.slice(2).replace(/^=/, '')
  return given =>
    whole(given) ||
    (areJoined && tests.every(isGiven => isGiven(given))) ||
    (value.length >= valueMin && first(given) && hasValue(value, given))
}

/** Returns a test for one option, which also passes for the other names of the option. */
function nameTest(option: string, known: readonly SameOption[]): OptionTest {
  const same = known.filter(({ names }) => names.includes(option))
  const names = new Set([option, ...same.flatMap(each => [...each.names, ...each.includedIn])])
  const tests = [...names].map(name => spellingTest(name, known))
  return given => tests.some(isGiven => isGiven(given))
}

function spellingTest(name: string, known: readonly SameOption[]): OptionTest {
  if (name.includes('&')) {
    const both = name.split('&').map(each => {
      const same = known.filter(({ names }) => names.includes(each)).flatMap(({ names }) => names)
      return [each, ...same].filter(other => !other.includes('&')).map(other => spellingTest(other, known))
    })
    return given => both.every(tests => tests.some(isGiven => isGiven(given)))
  }
  if (name.endsWith('*')) {
    const start = name.slice(0, -1)
    return ({ words }) => words.some(word => word.length > start.length && word.startsWith(start))
  }
  if (/^--[A-Za-z0-9]/.test(name) && !name.includes('=')) return longTest(name.slice(2))
  if (/^-[A-Za-z0-9]$/.test(name)) return ({ letters }) => letters.has(name.slice(1))
  if (/^-[A-Za-z0-9]/.test(name)) {
    const long = name.slice(1)
    return ({ wordSet, dashNames, names }) => dashNames.has(long) || names.has(long) || wordSet.has(name)
  }
  return ({ wordSet }) => wordSet.has(name)
}

/** Programs of GNU, git and others accept the start of a name instead of all of it. */
function longTest(name: string): OptionTest {
  const starts = Array.from(name, (_, index) => name.slice(0, index + 1))
  return ({ names, dashNames }) => dashNames.has(name) || starts.some(start => names.has(start))
}
