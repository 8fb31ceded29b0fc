/** Fault points: with HOLDPOINT_CRASH_AT=point[#n], the process ends itself by SIGKILL the n-th time it passes that point. For crash tests. */
import type { Probe } from '@holdpoint/engine'

export function probeFrom(env: NodeJS.ProcessEnv): Probe | undefined {
  const at = env.HOLDPOINT_CRASH_AT
  if (!at) return undefined
  const [point = '', nth = '1'] = at.split('#')
  let left = Number(nth)
  return passed => {
    if (passed === point && --left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
