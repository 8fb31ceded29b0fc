/** Matches the rules that deny or ask. They match generously: a call that may do what a rule names is matched, because a missed match would let something run. */
import { type Action, actionKind, hostOf, type Rule, type ToolCall } from '@holdpoint/protocol'
import { realPaths } from './files/check-path.ts'
import { isSecretPath } from './files/path-names.ts'
import { foldPath, isInside, joinPath, rulePath, searchedMax, searchedPaths } from './paths.ts'
import type { ReadFolder } from './read-folders.ts'
import { isForSession, isInForce, type RuleContext } from './rule-context.ts'
import { isDynamic, looseWords, withoutMessages } from './shell/dynamic-text.ts'
import { type LiteralCommands, literalCommands } from './shell/literal-commands.ts'
import { includesWords, wordsIn } from './shell/mentioned-words.ts'
import { reachedFolders } from './shell/reached-folders.ts'
import { mentions, plainText, wordsOf } from './shell-text.ts'

const wordsMax = 1000
/** How much of the end of a very long text is also searched for the words of rules. */
const endMax = 16_384
/** In longer texts, only whole words are found. */
const looseMax = 32_768
/** How many paths and folders of rules are looked up for one call. One lookup takes about 10 µs. */
const rulePathsMax = 500

/** A call, with facts about it that are computed only if a rule needs them. */
export class RestrictedCall {
  readonly call: ToolCall
  readonly action: Action
  readonly context: RuleContext
  #commands: LiteralCommands | undefined
  #plainText: string | undefined
  #lowerCase: string | undefined
  #words: readonly string[] | undefined
  #hosts: ReadonlySet<string> | undefined
  #paths: ReadonlySet<string> | undefined
  #cwds: ReadonlySet<string> | undefined
  /** The forms of the paths and folders of rules that were looked up. */
  readonly #ruleForms = new Map<string, readonly string[]>()
  #hasTooManyRulePaths = false
  #folders: ReadonlySet<string> | null | undefined
  #mentioned: ReadonlySet<string> | null | undefined

  constructor(call: ToolCall, action: Action, context: RuleContext) {
    this.call = call
    this.action = action
    this.context = context
  }

  /** The text of the shell command; null if the call runs none. A tool that Holdpoint does not know may run the text of its field `command`. */
  get shellText(): string | null {
    if ('shell' in this.action) return this.action.shell
    const { command } = this.call.input
    return 'other' in this.action && typeof command === 'string' ? command : null
  }
  /** Whether the call is too long to search all of it. A rule may then miss something, so the call must not be allowed. */
  get isTooLong(): boolean {
    if ('write' in this.action || 'read' in this.action) return this.#namedPaths().length < this.#actionPaths.length
    if (this.shellText === null) return false
    if (this.shellText.length > searchedMax || this.#firstWords.length > wordsMax) return true
    // These are known only if a rule needed them.
    return this.#commands?.isComplete === false || this.#folders === null
  }
  /** The part of the shell command that is searched; empty if the call runs none. */
  get #searched(): string {
    return (this.shellText ?? '').slice(0, searchedMax)
  }
  get #plain(): string {
    this.#plainText ??= plainText(this.#searched, { HOME: this.context.home, PWD: this.call.cwd })
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
    this.#words ??= firstOf(wordsOf(this.#plain), wordsMax + 1)
    return this.#words
  }
  /** Returns whether the shell command names a host. */
  namesHost(host: string): boolean {
    this.#lowerCase ??= this.#searched.toLowerCase()
    this.#hosts ??= new Set(urlHosts(this.#plain))
    return mentions(this.#lowerCase, host) || this.#hosts.has(host)
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
    return this.#firstWords.slice(0, wordsMax)
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
  /** Returns an absolute path or folder of a rule in the forms in which paths are compared. */
  ruleForms(absolute: string): readonly string[] {
    const known = this.#ruleForms.get(absolute)
    if (known) return known
    if (this.#ruleForms.size === rulePathsMax) {
      this.#hasTooManyRulePaths = true
      return [foldPath(absolute)]
    }
    const forms = [...this.#formsOf(absolute)]
    this.#ruleForms.set(absolute, forms)
    return forms
  }
  /** Whether rules were compared only as they are written, because there are too many to look up. One of them may match, so the call must not be allowed. */
  get hasTooManyRulePaths(): boolean {
    return this.#hasTooManyRulePaths
  }
  /** The folders in which the session and the call run, with and without symbolic links. */
  get cwds(): ReadonlySet<string> {
    this.#cwds ??= new Set(this.#namedCwds().flatMap(cwd => [...this.#formsOf(joinPath('/', cwd))]))
    return this.#cwds
  }
  #namedCwds(): readonly string[] {
    const { action, call, context } = this
    return [context.folder ?? call.cwd, call.cwd, 'shell' in action ? action.cwd : call.cwd]
  }
}

function foldedPaths(paths: readonly (string | null)[]): readonly string[] {
  return paths.filter(path => path !== null).map(foldPath)
}

function firstOf<T>(items: Iterable<T>, count: number): readonly T[] {
  const first: T[] = []
  for (const item of items) if (first.push(item) === count) break
  return first
}

/** Rules that deny or ask, arranged so that a call is compared with few of them. */
export class RestrictingRules {
  readonly #byProgram = new Map<string, RuleWithWords[]>()
  readonly #others: RuleWithWords[] = []

  constructor(rules: readonly RuleWithWords[]) {
    for (const restricting of rules) {
      const program = restricting.words?.[0]
      const list = program === undefined ? this.#others : this.#byProgram.get(program)
      if (list) list.push(restricting)
      else if (program !== undefined) this.#byProgram.set(program, [restricting])
    }
  }

  /** Returns the matching rule: one that denies, or else one that asks. */
  find(call: RestrictedCall): Rule | null {
    let asks: Rule | null = null
    for (const { rule, words } of this.#candidates(call)) {
      if (rule.effect === 'ask' && asks) continue
      if (!isMatch(rule, words, call)) continue
      if (rule.effect === 'deny') return rule
      asks = rule
    }
    return asks
  }

  /** Returns a rule for a path in one of these folders. A call that reads a whole folder reads that path too. */
  findInside(call: RestrictedCall, folders: () => readonly ReadFolder[]): Rule | null {
    const rules = this.#others.filter(({ rule }) => rule.path !== undefined && appliesTo(rule, call))
    if (rules.length === 0) return null
    const read = folders().map(folder => ({ ...folder, path: foldPath(folder.path) }))
    const isRead = ({ path = '', scope }: Rule) => {
      const { forms, isFolder } = restrictedPath(path, scope?.cwd, call)
      return forms.some(form => {
        const isSecretFile = !isFolder && isSecretPath(form)
        return read.some(folder => isInside(form, folder.path) && !(isSecretFile && folder.hasNoSecrets))
      })
    }
    return rules.find(({ rule }) => isRead(rule))?.rule ?? null
  }

  *#candidates(call: RestrictedCall): Generator<RuleWithWords> {
    // Rules with a command come first: they need no file lookups, of which there may be too many.
    if (this.#byProgram.size > 0 && call.shellText !== null) yield* this.#forCommands(call)
    yield* this.#others
  }

  *#forCommands(call: RestrictedCall): Generator<RuleWithWords> {
    const programs = new Set(call.commands.commands.map(({ name }) => name))
    for (const program of programs) yield* this.#byProgram.get(program) ?? []
    const { mentioned } = call
    if (mentioned === null) return
    for (const [program, rules] of this.#byProgram) if (mentioned.has(program) && !programs.has(program)) yield* rules
  }
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

/** Returns whether the rule is for this kind of call, session and folder, without looking at what the call names. */
function appliesTo(rule: Rule, call: RestrictedCall): boolean {
  const { action, context } = call
  if (rule.tool !== undefined && rule.tool !== call.call.tool) return false
  if (rule.action !== undefined && rule.action !== actionKind(action)) return false
  return isForSession(rule, context) && isInFolder(rule, call) && isInForce(rule, context)
}

function isMatch(rule: Rule, words: readonly string[] | null, call: RestrictedCall): boolean {
  if (!appliesTo(rule, call)) return false
  if (words !== null && !namesCommand(words, call)) return false
  if (rule.path !== undefined && !namesPath(rule.path, rule.scope?.cwd, call)) return false
  if (rule.host !== undefined && !namesHost(rule.host, call)) return false
  return rule.mcp === undefined || isMcpTool(rule.mcp, call.action)
}

/** Returns whether the session runs in the folder of the rule or below, or the agent says that the call does. */
function isInFolder({ scope }: Rule, call: RestrictedCall): boolean {
  if (scope?.cwd === undefined) return true
  const folders = call.ruleForms(joinPath('/', scope.cwd))
  return [...call.cwds].some(cwd => folders.some(folder => isInside(cwd, folder)))
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

function namesPath(path: string, folder: string | undefined, call: RestrictedCall): boolean {
  const { forms, isFolder } = restrictedPath(path, folder, call)
  return [...call.paths].some(named => forms.some(form => named === form || (isFolder && isInside(named, form))))
}

/** Like `rulePath`, with the forms in which paths are compared. */
function restrictedPath(path: string, folder = '/', call: RestrictedCall) {
  const { path: absolute, isFolder } = rulePath(path, folder)
  return { forms: call.ruleForms(absolute), isFolder }
}

function namesHost(host: string, call: RestrictedCall): boolean {
  const wanted = normalHost(host)
  if (wanted === '') return false
  if ('fetch' in call.action) return normalHost(call.action.fetch) === wanted
  return call.namesHost(wanted)
}

/** Returns the hosts of the URLs in a text, in the form in which names are compared. */
function* urlHosts(text: string): Generator<string> {
  let left = urlsMax
  for (let at = text.indexOf('://'); at >= 0 && left > 0; at = text.indexOf('://', at + 1)) {
    left--
    const [rest = ''] = text.slice(at + 3, at + 3 + urlMax).split(urlEnd, 1)
    yield normalHost(hostOf(`https://${rest}`))
  }
}
const urlEnd = /[\s;|&<>()`]/
const urlsMax = 500
const urlMax = 1000

/** Returns the name of a host in the form in which names are compared; an empty text if it is not the name of a host alone. */
export function normalHost(host: string): string {
  return /[@/?#\\\s]/.test(host) ? '' : hostOf(`https://${host}/`).replace(/\.$/, '')
}

function isMcpTool({ server, tool }: NonNullable<Rule['mcp']>, action: Action): boolean {
  return 'mcp' in action && action.mcp === server && (tool === undefined || action.tool === tool)
}
