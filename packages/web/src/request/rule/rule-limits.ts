/** The scope and the limits that a person chooses for a rule. */
import { needsSession, type RuleDuration } from '@holdpoint/client'
import type { RuleDraft, SessionId } from '@holdpoint/protocol'

export type ScopeChoice = 'folder' | 'session' | 'everywhere'

/** Returns the scopes that a person can choose for a proposed allow rule. A command or a group needs a folder, because it can mean something else in another folder. */
export function scopeChoices({ command, group }: RuleDraft): readonly ScopeChoice[] {
  return command === undefined && group === undefined ? ['folder', 'session', 'everywhere'] : ['folder', 'session']
}

/** Returns the proposed rule with the chosen scope. */
export function withScope(rule: RuleDraft, choice: ScopeChoice, session: SessionId): RuleDraft {
  const { scope, ...rest } = rule
  if (choice === 'everywhere') return rest
  return { ...rest, scope: choice === 'session' ? { ...scope, session } : { ...scope } }
}

/** Returns the limits of a rule. `expiresAt` comes from `ruleExpiry`, at the time of the choice. */
export function limitsOf(
  duration: RuleDuration,
  expiresAt: number | undefined,
  uses: number | undefined,
): Pick<RuleDraft, 'until' | 'expiresAt' | 'usesLeft'> {
  return {
    ...(needsSession(duration) ? { until: duration } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(uses === undefined ? {} : { usesLeft: uses }),
  }
}

/** Parses a number of uses. Returns undefined for an empty text, which means no limit, and null for anything that is not a number above 0. */
export function parseUses(text: string): number | undefined | null {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^[1-9]\d{0,8}$/.test(trimmed) ? Number(trimmed) : null
}
