/** Finds the watchers whose matchers fit a moment. Matchers are those of the rules that deny or ask, so they match generously. */
import {
  actionKind,
  actionOf,
  canonicalJson,
  type Rule,
  RuleId,
  type ToolCall,
  type WatchMoment,
} from '@holdpoint/protocol'
import { pathsOf } from '../evaluate.ts'
import { withLimitedLookup } from '../files/limited-lookup.ts'
import { RuleLinks } from '../files/rule-links.ts'
import { isInside } from '../paths.ts'
import { type ConsideredPrograms, RestrictedCall } from '../restricted-call.ts'
import { RestrictingRules, restrictedWords } from '../restricting-rules.ts'
import { RuleNames } from '../rule-names.ts'
import type { FileWatcher, WatchFile, WatchPass } from './watch-pass.ts'

/** The matchers of watchers are compared as rules. The id is not used. */
const matcherId = RuleId.parse('rul_00000000000000000000')

export interface Matchable {
  readonly file: WatchFile
  readonly watcher: FileWatcher
}

/** The watchers of one moment, indexed so that a call is compared with few of them. */
export class WatchMatching<T extends Matchable> {
  readonly #items: readonly T[]
  readonly #programs: ConsideredPrograms
  /** The items by their matchers. Items with equal matchers have one rule, so that a call is compared with it once. */
  readonly #rules: ReadonlyMap<Rule, readonly T[]>
  readonly #restricting: RestrictingRules
  readonly #links: RuleLinks

  constructor(items: readonly T[], moment: WatchMoment) {
    this.#items = items
    // After a call, a watcher may note that something has been done, such as tests, so a command that may only be text does not count.
    this.#programs = moment === 'after' ? 'named' : 'possible'
    this.#rules = itemsByRule(items)
    const rules = [...this.#rules.keys()]
    this.#restricting = new RestrictingRules(
      rules.map(rule => ({ rule, words: rule.command === undefined ? null : restrictedWords(rule.command) })),
    )
    this.#links = new RuleLinks(rules.flatMap(pathsOf))
  }

  /** Returns the items that match, in their order. It is uncertain whether an item matches if the call is too long to search all of it. */
  find(pass: WatchPass): readonly { readonly item: T; readonly isCertain: boolean }[] {
    const { context } = pass
    const search = (files: WatchPass['context']['files']) => this.#search(pass, files)
    // If there are too many files to look up, paths are compared as they are written.
    const { found, isComplete } = withLimitedLookup(context.files, search, null) ?? {
      ...search(null),
      isComplete: false,
    }
    return this.#items.flatMap(item => {
      const { watcher } = item
      if (pass.isQuestion ? !fitsQuestion(watcher) : watcher.action === 'question') return []
      const isCertain = found.has(item)
      return isCertain || (!isComplete && mayFit(item, pass)) ? [{ item, isCertain }] : []
    })
  }

  #search(pass: WatchPass, files: WatchPass['context']['files']) {
    const names = new RuleNames(this.#links, files)
    const call = passCall(pass)
    const context = { ...pass.context, files, isUsedUp: () => false }
    const restricted = new RestrictedCall(call, actionOf(call), context, names, this.#programs)
    const found = new Set<T>()
    for (const rule of this.#restricting.findAll(restricted))
      for (const item of this.#rules.get(rule) ?? []) found.add(item)
    return { found, isComplete: !restricted.isTooLong && !names.hasTooMany }
  }
}

/** Returns the call of a pass. For a moment without a call, the result is a call without content, which only watchers without matchers match. */
function passCall({ call, session }: WatchPass): ToolCall {
  return call ?? { tool: '', input: {}, cwd: session.folder, action: { other: '' } }
}

function fitsQuestion({ tool, action, command, path, host, mcp }: FileWatcher): boolean {
  if (action !== undefined) return action === 'question'
  return [tool, command, path, host, mcp].every(matcher => matcher === undefined)
}

/** Returns whether a watcher that was not found could fit a call that was not searched to its end. */
function mayFit({ watcher }: Matchable, { session, context, call }: WatchPass): boolean {
  const { tool, action: kind, command, path, host, scope } = watcher
  if (call === null || (command === undefined && path === undefined && host === undefined)) return false
  const action = actionOf(call)
  const folders = [context.folder ?? session.folder, call.cwd, 'shell' in action ? action.cwd : call.cwd]
  const isIn = (cwd: string) => folders.some(folder => isInside(folder, cwd))
  if (scope?.cwd !== undefined && !isIn(scope.cwd)) return false
  if (scope?.driver !== undefined && scope.driver !== context.driver) return false
  if (kind !== undefined && kind !== actionKind(action)) return false
  return tool?.split('|').includes(call.tool) ?? true
}

function itemsByRule<T extends Matchable>(items: readonly T[]): ReadonlyMap<Rule, readonly T[]> {
  const byMatchers = new Map<string, { readonly rule: Rule; readonly items: T[] }>()
  for (const item of items)
    for (const rule of matcherRules(item)) {
      const matchers = canonicalJson(rule)
      const known = byMatchers.get(matchers)
      if (known) known.items.push(item)
      else byMatchers.set(matchers, { rule, items: [item] })
    }
  return new Map([...byMatchers.values()].map(({ rule, items: equal }) => [rule, equal]))
}

/** Returns the matchers of a watcher as rules, one for each tool that it names. */
function matcherRules({ file, watcher }: Matchable): readonly Rule[] {
  const { tool, action, command, path, host, mcp, scope } = watcher
  const { source, runner, version } = file
  return (tool?.split('|') ?? [undefined]).map(name => ({
    id: matcherId,
    effect: 'ask',
    ...(name === undefined ? {} : { tool: name }),
    ...(action === undefined || action === 'question' ? {} : { action }),
    ...(command === undefined ? {} : { command }),
    ...(path === undefined ? {} : { path }),
    ...(host === undefined ? {} : { host }),
    ...(mcp === undefined ? {} : { mcp }),
    ...(scope === undefined ? {} : { scope }),
    ...(runner === undefined ? {} : { source: { ...source, runner } }),
    madeBy: source.file,
    madeAt: 0,
    version,
  }))
}
