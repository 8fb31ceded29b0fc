/** What the searches for deny rules collect from a text. Words are without quotes and backslashes; what is only known when the command runs, such as $HOME, stays as it was written. */
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
    let first = 0
    for (; first < words.length; first++) {
      const word = words[first] as string // `first` is below the length
      const assignment = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=(.*)$/s.exec(word)
      if (assignment)
        this.addValue(assignment[1] as string, assignment[2] as string) // both groups always match
      else if (!leadingWords.has(word)) break
    }
    if (first < words.length) this.commands.push(first === 0 ? words : words.slice(first))
  }

  /** Notes that a variable can have this value. */
  addValue(name: string, value: string): void {
    this.#values.set(name, (this.#values.get(name) ?? new Set()).add(value))
  }
  valuesOf(name: string): readonly string[] {
    return [...(this.#values.get(name) ?? [])]
  }
}

/** Reserved words after which a command follows. */
const leadingWords: ReadonlySet<string> = new Set(
  'if then elif else while until do ! { } time coproc function'.split(' '),
)
