/** The scope, duration and number of uses that a person chooses for a proposed rule. */
import { needsSession, type RuleDuration } from '@holdpoint/client'
import type { RuleDraft, SessionId } from '@holdpoint/protocol'
import { limitsOf, parseUses, type ScopeChoice, scopeChoices, withScope } from '../rule/rule-limits.ts'

export interface ChosenLimits {
  readonly scope: ScopeChoice
  readonly duration: RuleDuration
  /** The time at which a rule with this duration expires. It is fixed when the person chooses, so that the answer does not change while they click. */
  readonly expiresAt: number | undefined
  readonly uses: string
}
export const defaultLimits: ChosenLimits = { scope: 'folder', duration: 'none', expiresAt: undefined, uses: '' }

/** Returns the scope that the rule gets. A rule that ends with a turn or a session is for that session only. */
export function effectiveScope(rule: RuleDraft, { scope, duration }: ChosenLimits): ScopeChoice {
  if (needsSession(duration)) return 'session'
  return scopeChoices(rule).includes(scope) ? scope : 'folder'
}

/** Returns the rule to add, or null if the number of uses is not valid. */
export function ruleToAdd(proposed: RuleDraft, limits: ChosenLimits, session: SessionId): RuleDraft | null {
  const uses = parseUses(limits.uses)
  if (uses === null) return null
  const scoped = withScope(proposed, effectiveScope(proposed, limits), session)
  return { ...scoped, ...limitsOf(limits.duration, limits.expiresAt, uses) }
}
