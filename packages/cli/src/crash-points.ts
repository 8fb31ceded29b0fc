/** For crash tests: with HOLDPOINT_CRASH_AT=point[#n][,point[#n]…], the process passes these points in order (each of them n times) and kills itself with SIGKILL at the last point. */
import type { CrashPoint } from '@holdpoint/engine'

export function crashPointFrom(env: NodeJS.ProcessEnv): CrashPoint | undefined {
  if (!env.HOLDPOINT_CRASH_AT) return undefined
  const remaining = env.HOLDPOINT_CRASH_AT.split(',').map(item => {
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
