/** The `Clock` interface, so that tests can control time, and helpers that wait. */

export interface TimerOptions {
  /** Lets the process exit while the timer is pending. Use this for housekeeping that no caller awaits. */
  readonly background?: boolean
}

export interface Clock {
  /** Returns the current time in epoch milliseconds. */
  now(): number
  /** Returns milliseconds of a clock that nobody can set. Only differences between its values are meaningful. */
  monotonic(): number
  /** Calls `callback` once, at least `ms` milliseconds from now. Returns a function that cancels the timer. */
  after(ms: number, callback: () => void, options?: TimerOptions): () => void
}

/** The longest delay of `setTimeout`. Browsers and Node fire a timer with a longer delay at once, so `systemClock` splits the delay into several timers. */
const timerMaxMs = 2 ** 31 - 1

/**
 * The real time. By default a timer keeps the process alive, because an agent that only waits for its next retry must not exit.
 * The gateway's periodic sweep passes `background`, so that a program that embeds a gateway can exit without closing the gateway.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback, { background = false } = {}) {
    let timer: ReturnType<typeof setTimeout>
    const start = (remainingMs: number) => {
      const partMs = Math.min(remainingMs, timerMaxMs)
      timer = setTimeout(() => (remainingMs > partMs ? start(remainingMs - partMs) : callback()), partMs)
      if (background) (timer as unknown as { unref?: () => void }).unref?.() // a timer is an object with `unref` in Node and a number in browsers
    }
    start(Math.max(0, ms))
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms` milliseconds. Rejects with the signal's reason if the signal aborts first. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  let cancel = () => {}
  const elapsed = new Promise<void>(resolve => {
    cancel = clock.after(ms, resolve)
  })
  return orAborted(elapsed, signal).finally(() => cancel())
}

/** Settles like the promise, or rejects with the signal's reason if the signal aborts first. Removes its listener from the signal when the promise settles. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** Settles like the promise, or resolves to 'late' if the promise takes longer than `ms` milliseconds. Does not cancel the promise. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | 'late'> {
  let cancel = () => {}
  const late = new Promise<'late'>(resolve => {
    cancel = clock.after(ms, () => resolve('late'))
  })
  return Promise.race([promise, late]).finally(() => cancel())
}
