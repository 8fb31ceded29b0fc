/** Time as drivers see it: it comes in through here, so that a test can hold it. */

export interface Clock {
  now(): number
  /** Calls back once, not before so many ms have passed; returns what cancels it. */
  after(ms: number, wake: () => void): () => void
}

/** What a timer of the platform can hold; a longer wait is made of several. */
const timerMaxMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, wake) {
    let timer: NodeJS.Timeout
    const arm = (leftMs: number) => {
      const sliceMs = Math.min(leftMs, timerMaxMs)
      timer = setTimeout(() => (leftMs > sliceMs ? arm(leftMs - sliceMs) : wake()), sliceMs)
    }
    arm(ms)
    return () => clearTimeout(timer)
  },
}

/** Resolves after so long; rejects with the signal's reason when it aborts first. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  let cancel = () => {}
  const passed = new Promise<void>(resolve => {
    cancel = clock.after(ms, resolve)
  })
  return orAborted(passed, signal).finally(() => cancel())
}

/** The promise, unless the signal aborts first: then its reason. Leaves no listener behind on a signal that lives long. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** What it resolves to, or `late` where that takes longer; it goes on either way. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | 'late'> {
  let cancel = () => {}
  const late = new Promise<'late'>(resolve => {
    cancel = clock.after(ms, () => resolve('late'))
  })
  return Promise.race([promise, late]).finally(() => cancel())
}
