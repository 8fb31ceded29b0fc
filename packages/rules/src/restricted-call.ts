/** A call as the rules that deny or ask see it: the commands, paths and hosts that it may use. */
import {
  type Action,
  type FieldText,
  hostOf,
  isPathField,
  type Json,
  type ToolCall,
  textsIn,
} from '@holdpoint/protocol'
import { type MentionedOptions, mentionedOptions } from './command-pattern.ts'
import { realPaths } from './files/check-path.ts'
import { lowerCaseTexts, normalHost, urlHosts } from './hosts.ts'
import { type NamedCommand, NamedCommands } from './named-commands.ts'
import { isPathPattern, PathPatterns } from './path-patterns.ts'
import { foldPath, joinPath, searchedMax, searchedPaths } from './paths.ts'
import type { RuleContext } from './rule-context.ts'
import type { Names, RuleNames } from './rule-names.ts'
import { quoteWord } from './shell/canonical-command.ts'
import { isDynamic, looseWords, withoutMessages } from './shell/dynamic-text.ts'
import { type LiteralCommands, literalCommands } from './shell/literal-commands.ts'
import { wordsIn } from './shell/mentioned-words.ts'
import { reachedFolders } from './shell/reached-folders.ts'
import { type StartedCommands, startedCommands } from './shell/started-commands.ts'
import {
  bracedWords,
  expansionPatterns,
  joinedWords,
  mentions,
  openPatterns,
  pathsAfterExpansions,
  plainText,
  WordPartBudget,
  wordsOf,
} from './shell-text.ts'

const wordsMax = 1000
/** The tools whose field `pattern` is a pattern of paths. */
const patternTools: ReadonlySet<string> = new Set(['Glob', 'glob'])
/** How much of the end of a very long text is also searched for the words of rules. */
const endMax = 16_384
/** In longer texts, only whole words are found. */
const looseMax = 32_768

/** The programs of which a call is taken to run commands: only those that are named where a command can be, or all that may run, also those in the arguments of unknown programs and those that a pattern may name. */
export type ConsideredPrograms = 'named' | 'possible'

/** A call, with facts about it that are computed only if a rule needs them. */
export class RestrictedCall {
  readonly call: ToolCall
  readonly action: Action
  readonly context: RuleContext
  #commands: LiteralCommands | undefined
  #started: StartedCommands | undefined
  #all: NamedCommands | undefined
  #mentionedOptions: MentionedOptions | undefined
  #plainText: string | undefined
  #lowerCase: readonly string[] | undefined
  #words: readonly string[] | undefined
  readonly #wordParts = new WordPartBudget()
  #hosts: ReadonlySet<string> | undefined
  #paths: ReadonlySet<string> | undefined
  readonly ruleNames: RuleNames
  readonly #programs: ConsideredPrograms
  #pathNames: Names | undefined
  #cwdNames: Names | undefined
  #patterns: PathPatterns | null | undefined
  #folders: ReadonlySet<string> | null | undefined
  #mentioned: ReadonlySet<string> | null | undefined
  #texts: readonly FieldText[] | null | undefined

  constructor(
    call: ToolCall,
    action: Action,
    context: RuleContext,
    ruleNames: RuleNames,
    programs: ConsideredPrograms = 'possible',
  ) {
    this.#programs = programs
    this.call = call
    this.action = action
    this.context = context
    this.ruleNames = ruleNames
  }

  get shellText(): string | null {
    return shellTextOf(this.call, this.action)
  }
  /** Whether it is not certain that everything in the call was found. A rule may then miss something, so the call must not be allowed. */
  get isTooLong(): boolean {
    return this.isCutShort || (this.shellText !== null && !this.#hasAllCommands)
  }
  /** Whether a part of the call was not searched, because that would take too much work. */
  get isCutShort(): boolean {
    if ('write' in this.action || 'read' in this.action) return this.#namedPaths().length < this.#actionPaths.length
    if (this.#inputTexts === null || searchedPaths(this.#inputPaths).length < this.#inputPaths.length) return true
    if (this.shellText === null) return false
    if (this.shellText.length > searchedMax || this.#firstWords.length > wordsMax) return true
    if (this.#wordParts.isUsedUp || this.#patterns?.isComplete === false) return true
    // These are known only if a rule needed them.
    return this.#hasUnsearchedCommands || this.#folders === null
  }
  get #hasUnsearchedCommands(): boolean {
    return this.#commands?.isCutShort === true || this.#all?.isComplete === false
  }
  /** Whether a rule may have missed a command. If only the reading of the shell command is uncertain, a rule also matches if its words occur in any order. */
  get mayRunMore(): boolean {
    const { length } = this.shellText ?? ''
    if (length > searchedMax || this.#hasUnsearchedCommands) return true
    return length > looseMax && !this.#hasAllCommands
  }
  get #hasAllCommands(): boolean {
    return ![this.#commands, this.#started, this.#all].some(found => found?.isComplete === false)
  }
  /** The part of the shell command that is searched; empty if the call runs none. */
  get #searched(): string {
    return (this.shellText ?? '').slice(0, searchedMax)
  }
  get #variables() {
    return { HOME: this.context.home, PWD: this.call.cwd }
  }
  get #plain(): string {
    this.#plainText ??= plainText(this.#searched, this.#variables)
    return this.#plainText
  }
  get #literal(): LiteralCommands {
    this.#commands ??= literalCommands(this.#searched)
    return this.#commands
  }
  /** Returns the commands of the shell text, and those of the programs in their arguments. Later calls must ask for the same programs. */
  commandsOf(programs: ReadonlyMap<string, unknown>): NamedCommands {
    if (this.#all) return this.#all
    const { commands, values } = this.#literal
    if (this.#programs === 'named') this.#all = new NamedCommands(commands, 0)
    else {
      this.#started = startedCommands(commands, values, name => programs.has(name))
      this.#all = new NamedCommands([...commands, ...this.#started.commands], programs.size)
    }
    return this.#all
  }
  /** Returns the commands that may start a program, once `commandsOf` has found them. */
  commandsNamed(program: string): Iterable<NamedCommand> {
    return this.#all?.named(program) ?? []
  }
  /** The words of the call, if a command in it may not have been found; null if all commands were found. */
  get mentioned(): ReadonlySet<string> | null {
    if (this.#mentioned === undefined) this.#mentioned = this.#findMentioned()
    return this.#mentioned
  }
  /** The options among the mentioned words. */
  get mentionedOptions(): MentionedOptions {
    this.#mentionedOptions ??= mentionedOptions(this.mentioned ?? new Set())
    return this.#mentionedOptions
  }
  #findMentioned(): ReadonlySet<string> | null {
    const { commands, isComplete } = this.#literal
    const text = withoutMessages(this.#searched)
    if (isComplete && this.#hasAllCommands)
      return this.#started?.isDynamic || isDynamic(text, commands) ? looseWords(text) : null
    const end = this.shellText?.slice(searchedMax).slice(-endMax) ?? ''
    const words = new Set<string>()
    wordsIn(this.#searched, words)
    wordsIn(end, words)
    if (text.length <= looseMax) looseWords(text, words)
    return words
  }
  /** The words of the shell command that could be paths: at most one more than are searched. */
  get #firstWords(): readonly string[] {
    this.#words ??= firstOf(this.#allWords(), wordsMax + 1)
    return this.#words
  }
  *#allWords(): Generator<string> {
    const known = new Set<string>()
    const joined = joinedWords(this.#searched, this.#variables, this.#wordParts)
    for (const words of [wordsOf(this.#plain), joined, this.#bracedWords(), this.#expandedWords()])
      for (const word of words) {
        if (known.has(word)) continue
        known.add(word)
        yield word
        // The value of a short option may follow its letter without a space.
        if (/^-\w./.test(word)) yield word.slice(2)
      }
  }
  /** The words that the shell makes of lists in braces. */
  *#bracedWords(): Generator<string> {
    for (const word of bracedWords(this.#plain)) {
      // A word can be made many times, so each counts.
      if (!this.#wordParts.take()) return
      yield word
    }
  }
  /** The words that the shell makes of variables: with the values that the text gives them, or relative to the folders in which the command can run. */
  *#expandedWords(): Generator<string> {
    if (!/[$`]|~[+-]/.test(this.#plain)) return
    const { folder } = this.context
    for (const path of pathsAfterExpansions(this.#plain)) {
      yield `./${path}`
      if (folder !== null) yield joinPath(folder, path)
    }
    if (!/\$[\w{]/.test(this.#plain)) return
    for (const { argv } of this.#literal.commands)
      for (const word of argv) if (/^[\w./@+~][\w./@+~-]*$/.test(word)) yield word
  }
  /** The patterns of paths in the shell command; null if there are none. */
  get pathPatterns(): PathPatterns | null {
    if (this.#patterns === undefined) {
      const absolute = [...this.#absolutePatterns()]
      this.#patterns = absolute.length === 0 ? null : new PathPatterns(absolute, this.ruleNames.linked)
    }
    return this.#patterns
  }
  /** Patterns in quotes count too, because some programs and other shells expand them. */
  *#absolutePatterns(): Generator<string> {
    if ('write' in this.action || 'read' in this.action) return
    const unknown = this.#searched.includes('$') || this.#searched.includes('`') ? expansionPatterns(this.#plain) : []
    const named = [...this.#firstWords, ...unknown, ...this.#inputPatterns].filter(
      word => isPathPattern(word) && /\w/.test(word),
    )
    const open = /[*?]/.test(this.#searched) ? openPatterns(this.#searched, this.#wordParts) : []
    for (const pattern of new Set([...named, ...open]))
      for (const folder of isFromRoot(pattern) ? ['/'] : this.#allFolders)
        yield* this.#patternForms(joinPath(folder, this.#withHome(pattern)))
  }
  /** Returns a pattern with and without the symbolic links in the part before its first special character. */
  *#patternForms(absolute: string): Generator<string> {
    const end = absolute.lastIndexOf('/', absolute.search(/[*?[]/))
    const rest = absolute.slice(end)
    for (const folder of this.#formsOf(absolute.slice(0, end) || '/'))
      yield foldPath(folder === '/' ? rest : folder + rest)
  }
  /** Returns whether the shell command names a host. */
  namesHost(host: string): boolean {
    this.#lowerCase ??= lowerCaseTexts(this.#searched, this.#plain)
    this.#hosts ??= new Set([
      ...urlHosts(this.#plain),
      ...(this.#inputTexts ?? []).map(({ value }) => normalHost(hostOf(value))),
    ])
    return this.#hosts.has(host) || this.#lowerCase.some(text => mentions(text, host))
  }
  /** The paths that the call names, absolute, with and without symbolic links. */
  get paths(): ReadonlySet<string> {
    this.#paths ??= new Set(this.#namedPaths().flatMap(path => [...this.#forms(path)]))
    return this.#paths
  }
  /** The folders in which the call can run. */
  get #allFolders(): Iterable<string> {
    const { action, call } = this
    const starts = 'shell' in action ? [call.cwd, action.cwd] : [call.cwd]
    if (this.#folders === undefined)
      this.#folders = reachedFolders(this.#literal.commands, starts, this.context.home, this.context.folder)
    return this.#folders ?? starts
  }

  get #actionPaths(): readonly string[] {
    if ('write' in this.action) return this.action.write
    return 'read' in this.action ? this.action.read : []
  }
  #namedPaths(): readonly string[] {
    if ('write' in this.action || 'read' in this.action) return searchedPaths(this.#actionPaths)
    return [...searchedPaths(this.#inputPaths), ...this.#firstWords.slice(0, wordsMax)]
  }
  /** The texts of an input if the agent reports no action, or none that is known; null if there are too many. */
  get #inputTexts(): readonly FieldText[] | null {
    const isUnknown = 'other' in this.action || this.call.action === undefined
    if (this.#texts === undefined) this.#texts = isUnknown ? textsIn(this.call.input) : []
    return this.#texts
  }
  /** The patterns in an input whose action is not known. */
  get #inputPatterns(): readonly string[] {
    return this.#pathTexts.filter(isPathPattern)
  }
  /** The paths in an input whose action is not known: the values of fields that usually contain paths, and the folder of a pattern of files. */
  get #inputPaths(): readonly string[] {
    return this.#pathTexts.map(text => text.replace(/[*?[{].*$/s, '')).filter(path => path !== '')
  }
  get #pathTexts(): readonly string[] {
    const isPath = ({ field }: FieldText) =>
      isPathField(field) || (field === 'pattern' && patternTools.has(this.call.tool))
    return this.#inputTexts?.filter(isPath).map(({ value }) => value) ?? []
  }
  #withHome(path: string): string {
    return /^~(?=\/|$)/.test(path) ? `${this.context.home}${path.slice(1)}` : path
  }
  *#forms(path: string): Generator<string> {
    const { files } = this.context
    const expanded = this.#withHome(path)
    for (const folder of expanded.startsWith('/') ? ['/'] : this.#allFolders) {
      const absolute = joinPath(folder, expanded)
      yield* this.#formsOf(absolute)
      // A `..` after a link leads elsewhere than in the text.
      if (files && expanded.includes('..')) yield* foldedPaths(realPaths(expanded, folder, files))
    }
  }
  /** Returns an absolute path in the forms in which paths are compared: with and without symbolic links. */
  *#formsOf(absolute: string): Generator<string> {
    yield foldPath(absolute)
    const { files } = this.context
    if (files) yield* foldedPaths(realPaths(absolute, '/', files))
  }
  /** The names that rules may use for the paths of the call, and for the folders that contain them. */
  get pathNames(): Names {
    this.#pathNames ??= this.ruleNames.namesOf(this.paths)
    return this.#pathNames
  }
  /** The names that rules may use for the folders in which the session and the call run. */
  get cwdNames(): Names {
    this.#cwdNames ??= this.ruleNames.namesOf(this.#namedCwds().flatMap(cwd => [...this.#formsOf(joinPath('/', cwd))]))
    return this.#cwdNames
  }
  #namedCwds(): readonly string[] {
    const { action, call, context } = this
    return [context.folder ?? call.cwd, call.cwd, 'shell' in action ? action.cwd : call.cwd]
  }
}

/** The fields in which tools that Holdpoint does not know, and those of MCP servers, take a command. */
const commandFields = ['command', 'cmd', 'commands', 'script', 'shell', 'argv'] as const
const argumentFields = ['args', 'arguments'] as const

/** Returns the text of the shell command; null if the call runs none. A tool that Holdpoint does not know, or one of an MCP server, may run the texts of its fields for commands. */
export function shellTextOf({ input }: ToolCall, action: Action): string | null {
  const args = argumentFields.flatMap(field => wordsOfField(input[field]) ?? []).map(quoteWord)
  const withArguments = (text: string) => (args.length > 0 ? [text, [text, ...args].join(' ')] : [text])
  if ('shell' in action) return withArguments(action.shell).join('\n')
  if (!('other' in action || 'mcp' in action)) return null
  const texts = commandFields.flatMap(field => {
    const value = input[field]
    if (typeof value === 'string') return withArguments(value)
    const words = wordsOfField(value)
    // The list is either one command, word by word, or several commands.
    return words ? [[...words.map(quoteWord), ...args].join(' '), ...words.filter(word => word.includes(' '))] : []
  })
  return texts.length > 0 ? texts.join('\n') : null
}
function wordsOfField(value: Json | undefined): readonly string[] | null {
  const words = Array.isArray(value) ? value.filter(word => typeof word === 'string') : []
  return words.length > 0 ? words : null
}

function isFromRoot(path: string): boolean {
  return path.startsWith('/') || path.startsWith('~/')
}

function foldedPaths(paths: readonly (string | null)[]): readonly string[] {
  return paths.filter(path => path !== null).map(foldPath)
}

function firstOf<T>(items: Iterable<T>, count: number): readonly T[] {
  const first: T[] = []
  for (const item of items) if (first.push(item) === count) break
  return first
}
