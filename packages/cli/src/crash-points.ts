/** For crash tests: with HOLDPOINT_CRASH_AT=point[#n][,point[#n]…], the process passes these points in order (each of them n times) and kills itself with SIGKILL at the last point. */
import type { CrashPoint } from '@holdpoint/engine'

/** These variables are read when the program starts, because `isolateAgents` removes them. */
const { HOLDPOINT_CRASH_AT: ownPoints, HOLDPOINT_RUNNER_CRASH_AT: pointsOfRunner } = process.env

/** The crash points of the first runner that this gateway starts. */
export const runnerCrashPoints = pointsOfRunner

export function crashPointOfProcess(): CrashPoint | undefined {
  if (!ownPoints) return undefined
  const remaining = ownPoints.split(',').map(item => {
    const [point = '', nth = '1'] = item.split('#')
    return { point, left: Number(nth) }
  })
  return passed => {
    const next = remaining[0]
    if (next?.point !== passed || --next.left > 0) return
    remaining.shift()
    if (remaining.length === 0) process.kill(process.pid, 'SIGKILL')
  }
}
