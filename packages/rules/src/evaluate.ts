/** Judges an ask by the standing answers. So far a rule matches exactly or not at all; what it cannot prove it leaves to a person. */
import { type ApprovalAsk, Fault, type Rule, type RuleDraft, type SessionId, type Verdict } from '@holdpoint/protocol'

export interface RuleContext {
  readonly driver: string
  readonly session: SessionId | null
  readonly now: number
}
export type RuleSubject = Pick<ApprovalAsk, 'tool' | 'input' | 'cwd'>

const severity = { deny: 2, ask: 1, allow: 0 } as const

/** Deny beats ask, ask beats allow; no match is ask. */
export function evaluateRules(rules: readonly Rule[], ask: RuleSubject, situation: RuleContext): Verdict {
  let found: Rule | undefined
  for (const rule of rules)
    if (matches(rule, ask, situation) && (!found || severity[rule.effect] > severity[found.effect])) found = rule
  if (!found) return { verdict: 'ask', reason: 'no rule matches' }
  return { verdict: found.effect, rule: found.id, reason: found.note ?? `${found.effect} ${describe(found)}` }
}

/** What an allow is proven for: the member that the rule names, and members that change nothing about what is done. */
type Members = Readonly<Record<string, 'string' | 'number'>>
const commandMembers: Members = { command: 'string', description: 'string', timeout: 'number' }
const readingMembers: Readonly<Record<string, Members>> = {
  Read: { file_path: 'string', offset: 'number', limit: 'number' },
}

function matches(rule: Rule, ask: RuleSubject, situation: RuleContext): boolean {
  if (rule.tool !== ask.tool) return false
  if (rule.expiresAt !== undefined && situation.now >= rule.expiresAt) return false
  if (rule.scope?.driver !== undefined && rule.scope.driver !== situation.driver) return false
  if (rule.scope?.session !== undefined && rule.scope.session !== situation.session) return false
  if (rule.scope?.cwd !== undefined && rule.scope.cwd !== ask.cwd) return false
  if (rule.command !== undefined && rule.command !== ask.input.command) return false
  if (rule.path !== undefined && rule.path !== ask.input.file_path) return false
  return rule.effect !== 'allow' || (tooWide(rule) === null && holdsOnly(ask.input, membersOf(rule)))
}

function membersOf(rule: RuleDraft): Members | undefined {
  if (rule.command !== undefined) return commandMembers
  return Object.hasOwn(readingMembers, rule.tool) ? readingMembers[rule.tool] : undefined
}

function holdsOnly(input: RuleSubject['input'], members: Members | undefined): boolean {
  return (
    members !== undefined &&
    Object.entries(input).every(([name, value]) => Object.hasOwn(members, name) && typeof value === members[name])
  )
}

/** Why an allow would let through more than a person has seen; null where it would not. Denies and asks may be as wide as they like. */
function tooWide({ effect, tool, command, path, scope }: RuleDraft): string | null {
  if (effect !== 'allow') return null
  if (command === undefined && path === undefined)
    return `an allow rule for all of ${tool} is too wide; name the exact command or path`
  if (command !== undefined && path !== undefined) return 'an allow rule names a command or a path, not both'
  if (command === undefined && !Object.hasOwn(readingMembers, tool))
    return `an allow rule by path is for tools that only read (${Object.keys(readingMembers).join(', ')}); what ${tool} does there is a person's to see`
  const placed = scope?.cwd !== undefined || scope?.session !== undefined
  if (placed || path?.startsWith('/')) return null
  return 'the same words do something else in another folder; add scope.cwd (or scope.session) to the allow rule'
}

function describe(rule: RuleDraft): string {
  return [rule.tool, rule.command ?? rule.path].filter(part => part !== undefined).join(' ')
}

/** Refuses a rule that the matcher would not understand: kept but never matching, it would be a lie. */
export function validateRule(draft: RuleDraft): RuleDraft {
  for (const member of ['when', 'host', 'usesLeft'] as const)
    if (draft[member] !== undefined)
      throw new Fault('unsupported', `rules with "${member}" are not understood yet; leave it out`)
  if (draft.args === 'grammar')
    throw new Fault('unsupported', 'args "grammar" is not understood yet; "exact" admits that command and no other')
  const wide = tooWide(draft)
  if (wide) throw new Fault('unsupported', wide)
  return draft
}
