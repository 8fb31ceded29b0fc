/** The commands and words that the searches for deny rules collect from a text. Words are without quotes and backslashes; a part that is known only when the command runs, such as $HOME, stays as written. */
export class FoundCommands {
  readonly commands: (readonly string[])[] = []
  /** Texts that are given to a command as its input, for example by a here-document. */
  readonly inputs: string[] = []
  /** Texts that the shell also runs as commands, and that have not been searched yet. */
  readonly scripts: string[] = []
  readonly #values = new Map<string, Set<string>>()

  /** Adds a simple command. Leading assignments and reserved words do not count as its name. */
  addCommand(words: readonly string[]): void {
    if (words[0] === 'for' && words[2] === 'in')
      for (const value of words.slice(3)) this.addValue(words[1] ?? '', value)
    if (declares.has(words[0] ?? '')) for (const word of words.slice(1)) this.#addAssignment(word)
    let first = 0
    for (; first < words.length; first++) {
      const word = words[first] as string // `first` is below the length
      if (!this.#addAssignment(word) && !leadingWords.has(word)) break
    }
    if (first < words.length) this.commands.push(first === 0 ? words : words.slice(first))
  }

  addAll(other: FoundCommands): void {
    for (const words of other.commands) this.commands.push(words)
    this.inputs.push(...other.inputs)
    this.scripts.push(...other.scripts)
    for (const [name, values] of other.#values) for (const value of values) this.addValue(name, value)
  }

  /** Returns whether the word assigns a variable. */
  #addAssignment(word: string): boolean {
    const [, name, value] = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=(.*)$/s.exec(word) ?? []
    if (name === undefined || value === undefined) return false
    this.addValue(name, value)
    return true
  }

  /** Notes that a variable can have this value. */
  addValue(name: string, value: string): void {
    if (runValues.test(name)) this.scripts.push(value)
    this.#values.set(name, (this.#values.get(name) ?? new Set()).add(value))
  }
  /** The values of all variables. */
  *values(): Generator<string> {
    for (const values of this.#values.values()) yield* values
  }
  valuesOf(name: string): ReadonlySet<string> {
    return this.#values.get(name) ?? new Set()
  }
}

/** Variables such as PAGER, GIT_SSH_COMMAND and EDITOR, whose value programs run as a command. */
const runValues = /PAGER|EDITOR|VISUAL|BROWSER|COMMAND|ASKPASS|SHELL|LESSOPEN|^BASH_ENV$|^ENV$|^PS4$|GIT_EXTERNAL_DIFF/

/** Reserved words after which a command follows. */
const leadingWords: ReadonlySet<string> = new Set(
  'if then elif else while until do ! { } time coproc function'.split(' '),
)
/** Builtins whose arguments assign variables. */
const declares: ReadonlySet<string> = new Set(['export', 'declare', 'typeset', 'local', 'readonly'])
