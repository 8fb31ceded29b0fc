/** Matches the rules that deny or ask. They match generously: a call that may do what a rule names is matched, because a missed match would let something run. */
import {
  type Action,
  actionKind,
  type FieldText,
  hostOf,
  isPathField,
  type Rule,
  type ToolCall,
  textsIn,
} from '@holdpoint/protocol'
import { realPaths } from './files/check-path.ts'
import { isSecretPath } from './files/path-names.ts'
import { lowerCaseTexts, normalHost, urlHosts } from './hosts.ts'
import { PathRules, type WithPath } from './path-rules.ts'
import { foldPath, joinPath, rulePath, searchedMax, searchedPaths } from './paths.ts'
import type { ReadFolder } from './read-folders.ts'
import { isForSession, isInForce, type RuleContext } from './rule-context.ts'
import type { Names, RuleNames } from './rule-names.ts'
import { isDynamic, looseWords, withoutMessages } from './shell/dynamic-text.ts'
import { type LiteralCommands, literalCommands } from './shell/literal-commands.ts'
import { includesWords, wordsIn } from './shell/mentioned-words.ts'
import { reachedFolders } from './shell/reached-folders.ts'
import { joinedWords, mentions, plainText, WordPartBudget, wordsOf } from './shell-text.ts'

const wordsMax = 1000
/** The tools whose field `pattern` is a pattern of paths. */
const patternTools: ReadonlySet<string> = new Set(['Glob', 'glob'])
/** How much of the end of a very long text is also searched for the words of rules. */
const endMax = 16_384
/** In longer texts, only whole words are found. */
const looseMax = 32_768

/** A call, with facts about it that are computed only if a rule needs them. */
export class RestrictedCall {
  readonly call: ToolCall
  readonly action: Action
  readonly context: RuleContext
  #commands: LiteralCommands | undefined
  #plainText: string | undefined
  #lowerCase: readonly string[] | undefined
  #words: readonly string[] | undefined
  readonly #wordParts = new WordPartBudget()
  #hosts: ReadonlySet<string> | undefined
  #paths: ReadonlySet<string> | undefined
  readonly ruleNames: RuleNames
  #pathNames: Names | undefined
  #cwdNames: Names | undefined
  #folders: ReadonlySet<string> | null | undefined
  #mentioned: ReadonlySet<string> | null | undefined
  #texts: readonly FieldText[] | null | undefined

  constructor(call: ToolCall, action: Action, context: RuleContext, ruleNames: RuleNames) {
    this.call = call
    this.action = action
    this.context = context
    this.ruleNames = ruleNames
  }

  get shellText(): string | null {
    return shellTextOf(this.call, this.action)
  }
  /** Whether the call is too long to search all of it. A rule may then miss something, so the call must not be allowed. */
  get isTooLong(): boolean {
    if ('write' in this.action || 'read' in this.action) return this.#namedPaths().length < this.#actionPaths.length
    if (this.#inputTexts === null || searchedPaths(this.#inputPaths).length < this.#inputPaths.length) return true
    if (this.shellText === null) return false
    if (this.shellText.length > searchedMax || this.#firstWords.length > wordsMax) return true
    if (this.#wordParts.isUsedUp) return true
    // These are known only if a rule needed them.
    return this.#commands?.isComplete === false || this.#folders === null
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
  get commands(): LiteralCommands {
    this.#commands ??= literalCommands(this.#searched)
    return this.#commands
  }
  /** Words that may belong to a command although none was found that contains them; null if all commands were found. */
  get mentioned(): ReadonlySet<string> | null {
    if (this.#mentioned === undefined) this.#mentioned = this.#findMentioned()
    return this.#mentioned
  }
  #findMentioned(): ReadonlySet<string> | null {
    const { commands, isComplete } = this.commands
    const text = withoutMessages(this.#searched)
    if (isComplete) return isDynamic(text, commands) ? looseWords(text) : null
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
    for (const words of [wordsOf(this.#plain), joinedWords(this.#searched, this.#variables, this.#wordParts)])
      for (const word of words) {
        if (known.has(word)) continue
        known.add(word)
        yield word
        // The value of a short option may follow its letter without a space.
        if (/^-\w./.test(word)) yield word.slice(2)
      }
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
    if (this.#folders === undefined) this.#folders = reachedFolders(this.commands.commands, starts, this.context.home)
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
  /** The paths in an input whose action is not known: the values of fields that usually contain paths, and the folder of a pattern of files. */
  get #inputPaths(): readonly string[] {
    const isPath = ({ field }: FieldText) =>
      isPathField(field) || (field === 'pattern' && patternTools.has(this.call.tool))
    const texts = this.#inputTexts?.filter(isPath) ?? []
    return texts.map(({ value }) => value.replace(/[*?[{].*$/s, '')).filter(path => path !== '')
  }
  *#forms(path: string): Generator<string> {
    const { home, files } = this.context
    const expanded = /^~(?=\/|$)/.test(path) ? `${home}${path.slice(1)}` : path
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

/** Returns the text of the shell command; null if the call runs none. A tool that Holdpoint does not know, or one of an MCP server, may run the text of its field `command`. */
export function shellTextOf({ input: { command } }: ToolCall, action: Action): string | null {
  if ('shell' in action) return action.shell
  const mayRunText = 'other' in action || 'mcp' in action
  return mayRunText && typeof command === 'string' ? command : null
}

function foldedPaths(paths: readonly (string | null)[]): readonly string[] {
  return paths.filter(path => path !== null).map(foldPath)
}

function firstOf<T>(items: Iterable<T>, count: number): readonly T[] {
  const first: T[] = []
  for (const item of items) if (first.push(item) === count) break
  return first
}

/** A rule that denies or asks, with its folder and path in the form in which paths are compared. */
interface RestrictingRule extends RuleWithWords, WithPath {
  readonly index: number
  /** Null if the rule applies everywhere. */
  readonly folder: string | null
  /** Empty if the rule names no path. */
  readonly path: string
}

function toRestrictingRule({ rule, words }: RuleWithWords, index: number): RestrictingRule {
  const cwd = rule.scope?.cwd
  const folder = cwd === undefined ? null : foldPath(joinPath('/', cwd))
  if (rule.path === undefined) return { rule, words, index, folder, path: '', isFolder: false }
  const { path, isFolder } = rulePath(rule.path, cwd ?? '/')
  return { rule, words, index, folder, path: foldPath(path), isFolder }
}

/** Rules that deny or ask, arranged so that a call is compared with few of them. */
export class RestrictingRules {
  readonly #byProgram = new Map<string, RestrictingRule[]>()
  readonly #byPath = new PathRules<RestrictingRule>()
  /** Rules without a command and a path, by their folder. */
  readonly #byFolder = new Map<string | null, RestrictingRule[]>()

  constructor(rules: readonly RuleWithWords[]) {
    for (const [index, rule] of rules.entries()) {
      const restricting = toRestrictingRule(rule, index)
      const { words, path, folder } = restricting
      if (words !== null) addTo(this.#byProgram, words[0] ?? '', restricting)
      else if (path !== '') this.#byPath.add(restricting)
      else addTo(this.#byFolder, folder, restricting)
    }
  }

  /** Returns the matching rule: one that denies, or else one that asks. */
  find(call: RestrictedCall): Rule | null {
    // Rules with a command come first: they need no lookups of the call's paths, of which there may be too many.
    const byCommand = this.#byProgram.size > 0 && call.shellText !== null ? best(this.#forCommands(call), call) : null
    if (byCommand?.effect === 'deny') return byCommand
    const other = best(this.#forOthers(call), call)
    return other?.effect === 'deny' ? other : (byCommand ?? other)
  }

  /** Returns all matching rules. */
  findAll(call: RestrictedCall): ReadonlySet<Rule> {
    const found = new Set<Rule>()
    if (this.#byProgram.size > 0 && call.shellText !== null) addMatches(this.#forCommands(call), call, found)
    addMatches(this.#forOthers(call), call, found)
    return found
  }

  /** Returns a rule for a path in one of these folders. A call that reads a whole folder reads that path too. */
  findInside(call: RestrictedCall, folders: () => readonly ReadFolder[]): Rule | null {
    if (this.#byPath.size === 0) return null
    for (const { path: folder, hasNoSecrets } of folders())
      for (const { item, path } of this.#byPath.inside(foldPath(folder), call.ruleNames.linked)) {
        const isSecretFile = !item.isFolder && isSecretPath(path)
        if (!(isSecretFile && hasNoSecrets) && appliesTo(item, call)) return item.rule
      }
    return null
  }

  *#forOthers(call: RestrictedCall): Generator<RestrictingRule> {
    yield* this.#byFolder.get(null) ?? []
    const hasFolders = this.#byFolder.size > (this.#byFolder.has(null) ? 1 : 0)
    if (hasFolders) for (const folder of call.cwdNames.folders) yield* this.#byFolder.get(folder) ?? []
    if (this.#byPath.size === 0) return
    const { paths, folders } = call.pathNames
    yield* this.#byPath.about(paths, folders)
  }

  *#forCommands(call: RestrictedCall): Generator<RestrictingRule> {
    const programs = new Set(call.commands.commands.map(({ name }) => name))
    for (const program of programs) yield* this.#byProgram.get(program) ?? []
    const { mentioned } = call
    if (mentioned === null) return
    for (const [program, rules] of this.#byProgram) if (mentioned.has(program) && !programs.has(program)) yield* rules
  }
}

function addMatches(rules: Iterable<RestrictingRule>, call: RestrictedCall, found: Set<Rule>): void {
  for (const each of rules) if (!found.has(each.rule) && isMatch(each, call)) found.add(each.rule)
}

/** Returns the first of the rules that match and deny, or else the first that asks. */
function best(rules: Iterable<RestrictingRule>, call: RestrictedCall): Rule | null {
  let found: RestrictingRule | null = null
  for (const each of rules) {
    const isBetter = found === null || rank(each) < rank(found)
    if (isBetter && isMatch(each, call)) found = each
  }
  return found?.rule ?? null
}
function rank({ rule, index }: RestrictingRule): number {
  return rule.effect === 'deny' ? index - Number.MAX_SAFE_INTEGER : index
}

export function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

export interface RuleWithWords {
  readonly rule: Rule
  /** The words of the rule's command; null if it names none. */
  readonly words: readonly string[] | null
}

/** Returns the words of a rule's command: the program first, which is empty if the command names none. A rule may name something that is not a complete command, such as `rm -rf`. */
export function restrictedWords(command: string): readonly string[] {
  const [{ name, argv } = { name: '', argv: [] }] = literalCommands(command).commands
  return [name, ...argv.slice(1)]
}

/** Returns whether the rule is for this kind of call, session and folder, without looking at what the call names. The session or the call must run in the folder of the rule or below. */
function appliesTo({ rule, folder }: RestrictingRule, call: RestrictedCall): boolean {
  const { action, context } = call
  if (rule.tool !== undefined && rule.tool !== call.call.tool) return false
  if (rule.action !== undefined && rule.action !== actionKind(action)) return false
  if (folder !== null && !call.cwdNames.folders.has(folder)) return false
  return isForSession(rule, context) && isInForce(rule, context)
}

function isMatch(restricting: RestrictingRule, call: RestrictedCall): boolean {
  const { rule, words } = restricting
  if (!appliesTo(restricting, call)) return false
  if (words !== null && !namesCommand(words, call)) return false
  if (restricting.path !== '' && !namesPath(restricting, call)) return false
  if (rule.host !== undefined && !namesHost(rule.host, call)) return false
  return rule.mcp === undefined || isMcpTool(rule.mcp, call.action)
}

/** Returns whether the words of the rule occur in one of the commands: the program first, then the other words in this order, with anything in between. */
function namesCommand([program = '', ...rest]: readonly string[], call: RestrictedCall): boolean {
  const { commands } = call.commands
  if (commands.some(({ name, argv }) => name === program && hasWords(rest, argv.slice(1)))) return true
  return call.mentioned !== null && includesWords(call.mentioned, [program, ...rest])
}

/** A few short options, which can be joined and given in any order: `rm -rf` is `rm -f -r`. */
const shortOptions = /^-[A-Za-z]{1,3}$/

function hasWords(wanted: readonly string[], words: readonly string[]): boolean {
  const letters = new Set(words.flatMap(word => (/^-[A-Za-z]+$/.test(word) ? [...word.slice(1)] : [])))
  const isGiven = (option: string) => shortOptions.test(option) && [...option.slice(1)].every(each => letters.has(each))
  return isSubsequence(
    wanted.filter(word => !isGiven(word)),
    words,
  )
}

/** A word such as `alias.p=push` also counts as the word after its equals sign. */
function isSubsequence(wanted: readonly string[], words: readonly string[]): boolean {
  let at = 0
  for (const word of words) {
    const next = wanted[at]
    if (next !== undefined && (word === next || word.endsWith(`=${next}`))) at++
  }
  return at === wanted.length
}

function namesPath({ path, isFolder }: WithPath, { pathNames }: RestrictedCall): boolean {
  return pathNames.paths.has(path) || (isFolder && pathNames.folders.has(path))
}

function namesHost(host: string, call: RestrictedCall): boolean {
  const wanted = normalHost(host)
  if (wanted === '') return false
  if ('fetch' in call.action) return normalHost(call.action.fetch) === wanted
  return call.namesHost(wanted)
}

function isMcpTool({ server, tool }: NonNullable<Rule['mcp']>, action: Action): boolean {
  return 'mcp' in action && action.mcp === server && (tool === undefined || action.tool === tool)
}
