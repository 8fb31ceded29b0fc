/** The scope and the duration that a person chooses for a rule. */
import type { RuleDraft, SessionId } from '@holdpoint/protocol'

export const durationChoices = [
  { value: 'turn', name: 'Until this turn ends' },
  { value: 'session', name: 'Until this session ends' },
  { value: 'hour', name: '1 hour' },
  { value: 'day', name: '1 day' },
  { value: 'month', name: '30 days' },
  { value: 'none', name: 'No end' },
] as const
export type Duration = (typeof durationChoices)[number]['value']

export type ScopeChoice = 'folder' | 'session' | 'everywhere'

const hourMs = 3600_000
const lengthsMs: Readonly<Partial<Record<Duration, number>>> = {
  hour: hourMs,
  day: 24 * hourMs,
  month: 30 * 24 * hourMs,
}

/** Returns the scopes that a person can choose for a proposed allow rule. A command or a group needs a folder, because it can mean something else in another one. */
export function scopeChoices({ command, group }: RuleDraft): readonly ScopeChoice[] {
  return command === undefined && group === undefined ? ['folder', 'session', 'everywhere'] : ['folder', 'session']
}

/** Returns the proposed rule with the chosen scope. */
export function withScope(rule: RuleDraft, choice: ScopeChoice, session: SessionId): RuleDraft {
  const { scope, ...rest } = rule
  if (choice === 'everywhere') return rest
  return { ...rest, scope: choice === 'session' ? { ...scope, session } : { ...scope } }
}

/** Returns when a rule with this duration expires; undefined if it does not expire by time. */
export function expiryOf(duration: Duration, now: number): number | undefined {
  const ms = lengthsMs[duration]
  return ms === undefined ? undefined : now + ms
}

/** Returns the limits of a rule. `expiresAt` comes from `expiryOf`, at the time of the choice. */
export function limitsOf(
  duration: Duration,
  expiresAt: number | undefined,
  uses: number | undefined,
): Pick<RuleDraft, 'until' | 'expiresAt' | 'usesLeft'> {
  return {
    ...(duration === 'turn' || duration === 'session' ? { until: duration } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(uses === undefined ? {} : { usesLeft: uses }),
  }
}

/** Returns whether a rule with this duration must be limited to one session. */
export function needsSession(duration: Duration): boolean {
  return duration === 'turn' || duration === 'session'
}

/** Parses a number of uses. Returns undefined for an empty text, which means no limit, and null for anything that is not a number above 0. */
export function parseUses(text: string): number | undefined | null {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^[1-9]\d{0,8}$/.test(trimmed) ? Number(trimmed) : null
}
