/** Matches the rules that deny or ask. They match generously: a call that may do what a rule names is matched, because a missed match would let something run. */
import { type Action, actionKind, type Rule } from '@holdpoint/protocol'
import { CommandPattern } from './command-pattern.ts'
import { isSecretPath } from './files/path-names.ts'
import { normalHost } from './hosts.ts'
import { addToTree, type PathNode } from './path-patterns.ts'
import { PathRules, type WithPath } from './path-rules.ts'
import { foldPath, joinPath, rulePath } from './paths.ts'
import type { ReadFolder } from './read-folders.ts'
import type { RestrictedCall } from './restricted-call.ts'
import { isForSession, isInForce } from './rule-context.ts'
import { literalCommands } from './shell/literal-commands.ts'

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

  /** Rules for which the texts of a call are searched. */
  readonly #searched: RestrictingRule[] = []

  constructor(rules: readonly RuleWithWords[]) {
    for (const [index, rule] of rules.entries()) {
      const restricting = toRestrictingRule(rule, index)
      const { words, path, folder } = restricting
      if (words !== null || path !== '' || rule.rule.host !== undefined) this.#searched.push(restricting)
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

  /** Returns a rule that may match a part of the call that was not searched, or null. */
  findUnsearched(call: RestrictedCall): Rule | null {
    const mayMatch = (each: RestrictingRule) => (each.words === null || call.mayRunMore) && appliesTo(each, call)
    return this.#searched.find(mayMatch)?.rule ?? null
  }

  *#forOthers(call: RestrictedCall): Generator<RestrictingRule> {
    yield* this.#byFolder.get(null) ?? []
    const hasFolders = this.#byFolder.size > (this.#byFolder.has(null) ? 1 : 0)
    if (hasFolders) for (const folder of call.cwdNames.folders) yield* this.#byFolder.get(folder) ?? []
    if (this.#byPath.size === 0) return
    const { paths, folders } = call.pathNames
    yield* this.#byPath.about(paths, folders)
    if (call.pathPatterns !== null) yield* this.#byPath.reachedBy(call.pathPatterns)
  }

  *#forCommands(call: RestrictedCall): Generator<RestrictingRule> {
    const commands = call.commandsOf(this.#byProgram)
    for (const program of commands.names) yield* this.#byProgram.get(program) ?? []
    const { mentioned } = call
    if (mentioned === null && !commands.hasPatterns) return
    const known = new Set(commands.names)
    for (const [program, rules] of this.#byProgram)
      if (!known.has(program) && (mentioned?.has(program) || commands.mayStart(program))) yield* rules
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
  if (words !== null && !namesCommand(patternOf(words), call)) return false
  if (restricting.path !== '' && !namesPath(restricting, call)) return false
  if (rule.host !== undefined && !namesHost(rule.host, call)) return false
  return rule.mcp === undefined || isMcpTool(rule.mcp, call.action)
}

/** The patterns of rules by their words, which the sets of rules share. */
const patterns = new WeakMap<readonly string[], CommandPattern>()
function patternOf(words: readonly string[]): CommandPattern {
  let pattern = patterns.get(words)
  if (!pattern) {
    pattern = new CommandPattern(words)
    patterns.set(words, pattern)
  }
  return pattern
}

/** Returns whether one of the commands is the one that the rule names: it starts with the program of the rule, has the other words of the rule in their order, with any words between them, and has the options of the rule anywhere. */
function namesCommand(pattern: CommandPattern, call: RestrictedCall): boolean {
  for (const command of call.commandsNamed(pattern.program)) if (pattern.matches(command.given)) return true
  return call.mentioned !== null && pattern.isMentioned(call.mentioned, () => call.mentionedOptions)
}

function namesPath({ path, isFolder }: WithPath, { pathNames, pathPatterns }: RestrictedCall): boolean {
  if (pathNames.paths.has(path) || (isFolder && pathNames.folders.has(path))) return true
  if (pathPatterns === null) return false
  const single: PathNode<WithPath> = { entries: new Map(), items: [] }
  addToTree(single, { path, isFolder })
  return pathPatterns.find(single).size > 0
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
