/** Judges an ask by the standing answers. So far a rule matches exactly or not at all; what it cannot prove it leaves to a person. */
import { type ApprovalAsk, Fault, type Rule, type RuleDraft, type SessionId, type Verdict } from '@holdpoint/protocol'

export interface Situation {
  readonly driver: string
  readonly session: SessionId | null
  readonly now: number
}
export type Judged = Pick<ApprovalAsk, 'tool' | 'input' | 'cwd'>

const severity = { deny: 2, ask: 1, allow: 0 } as const

/** Deny beats ask, ask beats allow; no match is ask. */
export function judge(rules: readonly Rule[], ask: Judged, situation: Situation): Verdict {
  let found: Rule | undefined
  for (const rule of rules)
    if (matches(rule, ask, situation) && (!found || severity[rule.effect] > severity[found.effect])) found = rule
  if (!found) return { verdict: 'ask', reason: 'no rule matches' }
  return { verdict: found.effect, rule: found.id, reason: found.note ?? `${found.effect} ${describe(found)}` }
}

function matches(rule: Rule, ask: Judged, situation: Situation): boolean {
  if (rule.tool !== ask.tool) return false
  if (rule.expiresAt !== undefined && situation.now >= rule.expiresAt) return false
  if (rule.scope?.driver !== undefined && rule.scope.driver !== situation.driver) return false
  if (rule.scope?.session !== undefined && rule.scope.session !== situation.session) return false
  if (rule.scope?.cwd !== undefined && rule.scope.cwd !== ask.cwd) return false
  if (rule.command !== undefined && rule.command !== ask.input.command) return false
  if (rule.path !== undefined && rule.path !== ask.input.file_path) return false
  return true
}

function describe(rule: RuleDraft): string {
  return [rule.tool, rule.command ?? rule.path].filter(part => part !== undefined).join(' ')
}

/** Refuses a rule that the matcher would not understand: kept but never matching, it would be a lie. */
export function admit(draft: RuleDraft): RuleDraft {
  for (const member of ['when', 'host', 'usesLeft'] as const)
    if (draft[member] !== undefined)
      throw new Fault('unsupported', `rules with "${member}" are not understood yet; leave it out`)
  if (draft.args === 'grammar')
    throw new Fault('unsupported', 'args "grammar" is not understood yet; "exact" admits that command and no other')
  if (draft.effect === 'allow' && draft.command === undefined && draft.path === undefined)
    throw new Fault('unsupported', `an allow rule for all of ${draft.tool} is too wide; name the exact command or path`)
  return draft
}
