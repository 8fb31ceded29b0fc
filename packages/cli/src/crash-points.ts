/** Fault points: with HOLDPOINT_CRASH_AT=point[#n][,point[#n]…] the process passes these one after another and ends itself by SIGKILL at the last. For crash tests. */
import type { CrashPoint } from '@holdpoint/engine'

export function crashPointFrom(env: NodeJS.ProcessEnv): CrashPoint | undefined {
  if (!env.HOLDPOINT_CRASH_AT) return undefined
  const ahead = env.HOLDPOINT_CRASH_AT.split(',').map(spelled => {
    const [point = '', nth = '1'] = spelled.split('#')
    return { point, left: Number(nth) }
  })
  return passed => {
    const next = ahead[0]
    if (next?.point !== passed || --next.left > 0) return
    ahead.shift()
    if (ahead.length === 0) process.kill(process.pid, 'SIGKILL')
  }
}
