/** Delays between the restarts of a process that keeps failing. They double up to half a minute, and start again after the process has run for a minute. */

const delayMaxMs = 30_000
const stableMs = 60_000

/** Returns the number of consecutive failures after a process has failed once more. */
export function countFailure(failures: number, uptimeMs: number): number {
  return uptimeMs >= stableMs ? 1 : failures + 1
}
export function restartDelayMs(failures: number, firstMs: number): number {
  return Math.min(delayMaxMs, firstMs * 2 ** Math.max(0, failures - 1))
}
