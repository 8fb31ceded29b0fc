/** Texts that several screens share. */

/** Says what is lost by stopping an agent: `stops` names what is stopped. */
export function stopWarning(stops: string, pending: number): string {
  if (pending === 0) return `${stops}.`
  return `${stops} and cancels ${pending} pending ${pending === 1 ? 'request' : 'requests'}.`
}
