/** Parses the durations that options take, such as 90s or 2d. */
const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns the milliseconds, or null if the text is not a duration. */
export function parseDuration(typed: string): number | null {
  const [, count, unit = ''] = /^(\d+)(s|m|h|d)$/.exec(typed) ?? []
  const ms = Number(count) * (unitMs[unit] ?? Number.NaN)
  return Number.isSafeInteger(ms) && ms > 0 ? ms : null
}
