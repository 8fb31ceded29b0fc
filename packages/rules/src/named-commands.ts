/** The commands of one call, arranged by the names of their programs. */
import { type GivenOptions, givenOptions } from './command-pattern.ts'
import { isPattern, matchesName } from './paths.ts'
import type { LiteralCommand } from './shell/literal-commands.ts'

/** A command, with its options read once for all rules. */
export class NamedCommand {
  readonly name: string
  readonly #args: readonly string[]
  #given: GivenOptions | undefined

  constructor({ name, argv }: LiteralCommand) {
    this.name = name
    this.#args = argv.slice(1)
  }

  get given(): GivenOptions {
    this.#given ??= givenOptions(this.name, this.#args)
    return this.#given
  }
}

/** How many names of programs are compared with patterns for one call. */
const comparisonsMax = 20_000
/** Longer patterns are taken to match every name. */
const patternMax = 64

export class NamedCommands {
  /** Whether all names that are patterns are compared. */
  readonly isComplete: boolean
  readonly #byName = new Map<string, NamedCommand[]>()
  /** The commands whose program is a pattern, such as `gi?`, which the shell replaces with the name of a file. */
  readonly #patterns: readonly NamedCommand[]

  /** `programCount` is the number of programs with which the names of commands are compared if they are patterns; with 0, they are not. */
  constructor(commands: readonly LiteralCommand[], programCount: number) {
    const patterns: NamedCommand[] = []
    for (const command of commands) {
      const named = new NamedCommand(command)
      const same = this.#byName.get(command.name)
      if (same) same.push(named)
      else this.#byName.set(command.name, [named])
      if (programCount > 0 && isProgramPattern(command)) patterns.push(named)
    }
    this.isComplete = patterns.length * programCount <= comparisonsMax
    this.#patterns = this.isComplete ? patterns : []
  }

  get names(): Iterable<string> {
    return this.#byName.keys()
  }
  get hasPatterns(): boolean {
    return this.#patterns.length > 0
  }
  mayStart(program: string): boolean {
    return this.#byName.has(program) || this.#patterns.some(command => matchesProgram(command, program))
  }
  /** Yields the commands that start the program, or may start it. */
  *named(program: string): Generator<NamedCommand> {
    yield* this.#byName.get(program) ?? []
    for (const command of this.#patterns)
      if (command.name !== program && matchesProgram(command, program)) yield command
  }
}

/** Returns whether the shell replaces the name of the program with the name of a file. A name such as `*` without a letter or a folder is more likely text, for example a list. */
function isProgramPattern({ name, argv: [written = ''] }: LiteralCommand): boolean {
  return isPattern(name) && (/\w/.test(name) || written.includes('/'))
}
function matchesProgram({ name }: NamedCommand, program: string): boolean {
  return name.length > patternMax || matchesName(name, program)
}
