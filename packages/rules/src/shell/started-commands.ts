/**
 * Finds commands in the arguments of any other command, for rules that deny or ask: as words of their own, and in texts,
 * such as `git push` in `hyperfine 'git push'`. No list can name all programs that start others, so every program counts as
 * one, except those that are known to only print, search or store their arguments.
 */
import type { LiteralCommand } from './literal-commands.ts'
import { commandOptionName, programName } from './wrapper-programs.ts'

const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Programs whose arguments are only text, names and numbers, apart from the options that `commandOptionName` recognizes. */
const plainPrograms = names(
  `echo printf print cat tee ls head tail wc sort uniq cut tr paste diff cmp comm test [ [[ true false : cd pushd popd pwd mkdir
  rmdir touch cp mv ln rm chmod chown chgrp jq yq basename dirname realpath readlink stat file which type whereis whatis
  apropos hash date sleep seq grep egrep fgrep zgrep rg ag ack tree du df ps kill pkill killall pgrep export declare typeset local readonly
  unset return exit curl http xh ping dig host tldr notify-send say logger wall figlet cowsay vitest jest mocha ava pytest
  tsc eslint prettier biome oxlint ruff mypy black flake8 pylint`,
)
/** Programs whose words are names of subcommands, packages, pages or files, which can be named like another program: `docker rm` does not start `rm`. Only texts in their arguments count, but not messages and search words. */
const programsWithNames = names(
  `git hg svn jj gh glab npm pnpm yarn bun lerna docker podman nerdctl docker-compose kubectl oc helm terraform tofu aws gcloud az
  cargo pip pip3 pipx brew apt apt-get dnf yum apk pacman snap systemctl journalctl heroku vercel netlify fly wrangler supabase
  man info nvm asdf mise volta rustup pyenv rbenv gem composer scoop choco winget port tar gtar bsdtar zip unzip rsync scp sftp
  sed gsed awk gawk mawk`,
)
/** Options whose value is a message, a pattern to search for or a format, as a word of their own and joined with the value. */
const textOption =
  /^(?:-a?m|-[SGtbFq]|--(?:message|title|body|notes|note|subject|description|comment|grep|author|date|trailer|format|pretty|search|template|jq))$/
const joinedTextOption =
  /^(?:-a?m|-[SG]|--(?:message|title|body|notes|note|subject|description|comment|grep|author|date|trailer|format|pretty|search|template|jq)=)/

/** Words after one of these are a command in any case. */
const commandFollows = /^(?:--|-c|-x|-e|exec|run)$/

export const startedLimits = {
  /** How many commands are found, and how many words they have together. */
  commands: 50,
  words: 1000,
  /** The length of all texts together. */
  characters: 65_536,
} as const

export interface StartedCommands {
  readonly commands: readonly LiteralCommand[]
  /** Whether everything was searched. */
  readonly isComplete: boolean
  /** Whether a text with such a program also has parts that only the other program computes. */
  readonly isDynamic: boolean
}

/** Returns the commands of the programs for which `isProgram` returns true. `values` are the texts that variables get. */
export function startedCommands(
  commands: readonly LiteralCommand[],
  values: Iterable<string>,
  isProgram: (name: string) => boolean,
): StartedCommands {
  const search = new StartedSearch(isProgram)
  for (const value of values) search.addText(value, [])
  for (const command of commands) search.addArguments(command)
  return search
}

class StartedSearch implements StartedCommands {
  readonly commands: LiteralCommand[] = []
  isComplete = true
  isDynamic = false
  readonly #isProgram: (name: string) => boolean
  readonly #known = new Set<string>()
  #wordsLeft: number = startedLimits.words
  #charactersLeft: number = startedLimits.characters

  constructor(isProgram: (name: string) => boolean) {
    this.#isProgram = isProgram
  }

  addArguments({ name, argv }: LiteralCommand): void {
    const isPlain = plainPrograms.has(name)
    const takesNames = programsWithNames.has(name)
    const searches = takesNames && argv.includes('grep')
    let startsCommands = !isPlain && !takesNames
    for (let index = 1; index < argv.length; index++) {
      const word = argv[index] as string // `index` is below the length
      const before = argv[index - 1] as string
      if (takesNames && commandFollows.test(before)) startsCommands = true
      const isValue = commandOptionName.test(before)
      if (isPlain && !isValue) continue
      if (isSimple(word)) {
        if (startsCommands || isValue || /[=#]/.test(word)) this.#addWord(argv, index)
      } else if (!takesNames || !isOnlyText(word, before, searches)) this.addText(word, argv.slice(index + 1))
    }
  }

  #addWord(argv: readonly string[], index: number): void {
    const program = this.#programIn(argv[index] as string) // the caller has checked the index
    if (program !== null && this.#takes(argv.length - index)) this.#add(program, argv.slice(index + 1))
  }

  /** Adds the commands in a text. `rest` are the words after the text, which can be more arguments of the command at its end. */
  addText(text: string, rest: readonly string[]): void {
    if (this.#known.has(text)) return
    this.#known.add(text)
    this.#charactersLeft -= text.length
    if (this.#charactersLeft < 0) {
      this.isComplete = false
      return
    }
    this.#addSegments(text, rest)
    if (/['"\\]/.test(text)) this.#addSegments(text.replace(/['"\\]/g, ''), rest)
  }

  #addSegments(text: string, rest: readonly string[]): void {
    let hasProgram = false
    for (const segment of text.split(/[;|&\n()`]/)) {
      const words = segment.split(/[^\w./@:=+~%*?-]+/)
      for (const [index, word] of words.entries()) {
        const program = this.#programIn(word)
        if (program === null) continue
        hasProgram = true
        const count = words.length - index + rest.length
        if (this.#takes(count)) this.#add(program, [...words.slice(index + 1), ...rest])
      }
    }
    this.isDynamic ||= hasProgram && /[$`]/.test(text)
  }

  /** Returns the program that a word names: as the whole word, after the name of an option or a prefix, or directly after the letters of an option. */
  #programIn(word: string): string | null {
    const start = Math.max(word.lastIndexOf('='), word.lastIndexOf(':'), word.lastIndexOf('#')) + 1
    for (const text of start > 0 ? [word, word.slice(start)] : [word]) {
      const name = programName(text)
      if (name !== '' && this.#isProgram(name)) return name
    }
    if (!/^-[A-Za-z]/.test(word)) return null
    for (let at = 2; at <= optionLettersMax; at++) {
      const name = programName(word.slice(at))
      if (name !== '' && this.#isProgram(name)) return name
    }
    return null
  }

  /** Returns whether one more command with this number of words may be added. */
  #takes(count: number): boolean {
    this.#wordsLeft -= count
    this.isComplete &&= this.#wordsLeft >= 0 && this.commands.length < startedLimits.commands
    return this.isComplete
  }
  #add(name: string, args: readonly string[]): void {
    this.commands.push({ name, argv: [name, ...args] })
  }
}

/** How many letters of options can stand before a command that is joined with them. */
const optionLettersMax = 5

function isSimple(word: string): boolean {
  return !/[\s;|&()`"'[\]{}!,$]/.test(word)
}

function isOnlyText(word: string, before: string, searches: boolean): boolean {
  // `git grep` starts a program only with the option -O.
  if (searches && !/^(?:-O|--open)/.test(word)) return true
  return textOption.test(before) || joinedTextOption.test(word)
}
