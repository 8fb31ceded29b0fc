/** Evaluates rules for a tool call: first the built-in ones, then those of people. Deny beats ask, ask beats allow, and Holdpoint asks a person if no rule matches. */
import { actionOf, type Rule, type ToolCall, type Verdict } from '@holdpoint/protocol'
import { AllowingRules, siteOf } from './allowing-rules.ts'
import { evaluateBuiltInRules } from './built-in.ts'
import { withLimitedLookup } from './files/limited-lookup.ts'
import { RuleLinks } from './files/rule-links.ts'
import { joinPath, rulePath } from './paths.ts'
import { readFolders } from './read-folders.ts'
import { RestrictedCall } from './restricted-call.ts'
import { RestrictingRules, type RuleWithWords, restrictedWords } from './restricting-rules.ts'
import type { Decision, RuleContext } from './rule-context.ts'
import { RuleNames } from './rule-names.ts'
import { allowedWords, broadAllowProblem } from './rule-validation.ts'

/** A set of rules, which is indexed once and then evaluates many calls. */
export class RuleSet {
  readonly rules: readonly Rule[]
  /** The words of each rule's command, by id and version. A set that differs in few rules reuses the words of the previous set. */
  readonly #words = new Map<string, readonly string[] | null>()
  readonly #restricting: RestrictingRules
  readonly #allowing: AllowingRules
  readonly #links: RuleLinks

  constructor(rules: readonly Rule[], before?: RuleSet) {
    this.rules = rules
    const withWords = rules.map(rule => ({ rule, words: this.#wordsOf(rule, before) }))
    this.#restricting = new RestrictingRules(withWords.filter(({ rule }) => rule.effect !== 'allow'))
    // An allow rule that is too broad matches nothing, even if it is already stored.
    const isUsable = ({ rule, words }: RuleWithWords) =>
      rule.effect === 'allow' && (rule.command === undefined ? broadAllowProblem(rule) === null : words !== null)
    this.#allowing = new AllowingRules(withWords.filter(isUsable))
    this.#links = new RuleLinks(rules.flatMap(pathsOf))
  }

  #wordsOf(rule: Rule, before: RuleSet | undefined): readonly string[] | null {
    if (rule.command === undefined) return null
    const key = `${rule.id} ${rule.version}`
    const known = before ? before.#words.get(key) : undefined
    const words = known === undefined ? commandWords(rule, rule.command) : known
    this.#words.set(key, words)
    return words
  }

  evaluate(call: ToolCall, context: RuleContext): Decision {
    const builtIn = evaluateBuiltInRules(call, context.builtIn)
    if (builtIn?.verdict === 'deny') return { ...builtIn, rules: [] }
    // The links to the paths of rules have a limit of their own, because the call does not choose them.
    const names = new RuleNames(this.#links, context.files)
    let isCompared = false
    const evaluate = (files: RuleContext['files']) => {
      const limited = { ...context, files }
      const restricted = new RestrictedCall(call, actionOf(call), limited, names)
      const decided = this.#restrict(restricted, builtIn)
      isCompared = true
      return decided ?? this.#allow(restricted, limited, names)
    }
    const decided = withLimitedLookup<Decision | null>(context.files, evaluate, null)
    if (decided) return decided
    return isCompared ? tooManyFiles : this.#restrictAsWritten(call, context, builtIn)
  }

  /** Returns the verdict of the rules that deny or ask; null if none of them matches and the whole call was compared with them. */
  #restrict(restricted: RestrictedCall, builtIn: Verdict | null): Decision | null {
    const restricting = this.#restricting.find(restricted)
    if (restricting?.effect === 'deny') return decision(restricting)
    if (builtIn) return { ...builtIn, rules: [] }
    if (restricting) return decision(restricting)
    const { hasTooMany } = restricted.ruleNames
    if (restricted.isCutShort || hasTooMany)
      return this.#unsearched(restricted.isTooLong ? tooLong : tooManyRulePaths, restricted)
    return restricted.isTooLong ? tooLong : null
  }

  /** Compares the paths of the call as they are written, because there are too many files to look up. */
  #restrictAsWritten(call: ToolCall, context: RuleContext, builtIn: Verdict | null): Decision {
    const names = new RuleNames(this.#links, null)
    const restricted = new RestrictedCall(call, actionOf(call), { ...context, files: null }, names)
    const decided = this.#restrict(restricted, builtIn)
    return decided?.rule === undefined ? this.#unsearched(decided ?? tooManyFiles, restricted) : decided
  }

  /** Returns the decision, with a rule that may match the part of the call that was not searched, if there is one. Such a rule makes Holdpoint ask, because the call could otherwise run in a mode in which the agent itself does not ask. */
  #unsearched(undecided: Decision, restricted: RestrictedCall): Decision {
    const rule = this.#restricting.findUnsearched(restricted)
    return rule ? { ...undecided, rule: rule.id, ruleVersion: rule.version } : undecided
  }

  /** Returns the verdict for a call that no rule denies or asks about. */
  #allow(restricted: RestrictedCall, context: RuleContext, names: RuleNames): Decision {
    const { call, action } = restricted
    const known = context.isFolderClaimed ? { ...context, folder: null } : context
    const allowed = this.#allowing.find(call, action, known, names)
    if (!('rules' in allowed)) return { verdict: 'ask', reason: allowed.reason, rules: [] }
    const site = siteOf(call, action, known)
    const inside = this.#restricting.findInside(restricted, () => readFolders(action, site))
    if (inside) return readsInside(inside)
    if (names.hasTooMany) return tooManyRulePaths
    return { ...decision(allowed.rules[0]), ...allowed }
  }
}

const tooLong: Decision = {
  verdict: 'ask',
  reason: 'This call is too long to check, so a person has to decide.',
  rules: [],
}
/** One of the rules that could not be checked may deny the call, so nothing is allowed. */
const tooManyFiles: Decision = {
  verdict: 'ask',
  reason: 'This call names too many files to check, so a person has to decide.',
  rules: [],
}
const tooManyRulePaths: Decision = {
  verdict: 'ask',
  reason: 'There are too many rules with paths to check this call, so a person has to decide.',
  rules: [],
}

/** The call reads more than the rule names, so neither this rule nor an allow rule can decide alone: a person is asked. */
function readsInside(rule: Rule): Decision {
  const reason = `This reads a folder that contains ${rule.path}, for which there is the rule “${describeRule(rule)}”.`
  return { verdict: 'ask', reason, rules: [] }
}

/** Returns the paths of a rule that may lead through links. The path of a rule that allows must be the real one. */
export function pathsOf({ effect, path, scope }: Rule): readonly string[] {
  const folder = scope?.cwd === undefined ? [] : [joinPath('/', scope.cwd)]
  return path === undefined || effect === 'allow' ? folder : [...folder, rulePath(path, scope?.cwd ?? '/').path]
}

function commandWords(rule: Rule, command: string): readonly string[] | null {
  if (rule.effect !== 'allow') return restrictedWords(command)
  const words = allowedWords(rule, command)
  return typeof words === 'string' ? null : words
}

function decision(rule: Rule): Decision {
  // The reason reaches the agent, so a file that nobody has trusted must not choose its words.
  const isUntrusted = rule.source?.trusted === false
  const reason = (isUntrusted ? undefined : (rule.message ?? rule.note)) ?? describeRule(rule)
  return { verdict: rule.effect, rule: rule.id, ruleVersion: rule.version, reason, rules: [rule] }
}

/** Returns what a rule says in a few words, for example `deny git push`. */
export function describeRule({ effect, tool, action, command, args, group, path, host, mcp }: Rule): string {
  const target =
    command ??
    group ??
    path ??
    host ??
    (mcp && `${mcp.server} ${mcp.tool ?? ''}`.trim()) ??
    tool ??
    action ??
    'every call'
  return `${effect} ${target}${args === 'grammar' ? ' with harmless arguments' : ''}`
}
