/** How long a rule can apply, as people choose it on the page and in the terminal. */

const hourMs = 3600_000

/** The durations to choose from, the shortest first. A rule with `lengthMs` expires after that time. */
export const ruleDurations = [
  { name: 'turn', label: 'Until this turn ends' },
  { name: 'session', label: 'Until this session ends' },
  { name: 'hour', label: '1 hour', lengthMs: hourMs },
  { name: 'day', label: '1 day', lengthMs: 24 * hourMs },
  { name: 'month', label: '30 days', lengthMs: 30 * 24 * hourMs },
  { name: 'none', label: 'No end' },
] as const
export type RuleDuration = (typeof ruleDurations)[number]['name']

/** Returns when a rule with this duration expires; undefined if it does not expire by time. */
export function ruleExpiry(duration: RuleDuration, now: number): number | undefined {
  const found = ruleDurations.find(({ name }) => name === duration)
  return found && 'lengthMs' in found ? now + found.lengthMs : undefined
}

/** Returns whether a rule with this duration must be limited to one session. */
export function needsSession(duration: RuleDuration): duration is 'turn' | 'session' {
  return duration === 'turn' || duration === 'session'
}
