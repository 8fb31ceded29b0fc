/** Measures the CPU time of a piece of work, which on a busy machine says more than the time on the clock. */

/** Returns the CPU time of one run in milliseconds. */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
/** Returns the least CPU time of three runs in milliseconds. The first run compiles the code, and garbage collection may disturb any of them. */
export function leastCpuMs(work: () => unknown): number {
  return Math.min(...[1, 2, 3].map(() => cpuMs(work)))
}
