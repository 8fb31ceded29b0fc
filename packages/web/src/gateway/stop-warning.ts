/** What is lost where something is stopped while it waits for an answer: said before it is. */
export function stopWarning(what: string, pending: number): string {
  if (pending === 0) return `${what}.`
  return pending === 1
    ? `${what}; the request that waits is dropped.`
    : `${what}; the ${pending} requests that wait are dropped.`
}
