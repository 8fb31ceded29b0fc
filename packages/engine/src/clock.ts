/** Real time. Node fires a timer longer than 2^31-1 ms at once, so long ones are slept in parts. */
import type { Clock } from './gateway.ts'

const timerMaxMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, wake) {
    let timer: NodeJS.Timeout
    const sleep = (left: number) => {
      const part = Math.min(left, timerMaxMs)
      timer = setTimeout(() => (left > part ? sleep(left - part) : wake()), part)
      timer.unref()
    }
    sleep(Math.max(0, ms))
    return () => clearTimeout(timer)
  },
}
