/** Repeats a call that failed for a reason that passes, with growing pauses. */
import { type Clock, pause, systemClock } from './clock.ts'

export interface RetryPauses {
  readonly firstPauseMs: number
  readonly pauseMaxMs: number
}

export interface RetryOptions extends RetryPauses {
  /** Whether another attempt can succeed after this error. */
  readonly isRetryable: (error: unknown) => boolean
  /** Total number of attempts. Without a limit by default. */
  readonly attempts?: number
  /** Ends the retries: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

/** Resolves with the first success. Rejects with the last error when it is not retryable or the attempts are used up. */
export async function retry<T>(run: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { isRetryable, attempts = Number.POSITIVE_INFINITY, signal, clock = systemClock } = options
  for (let failures = 0; ; ) {
    signal?.throwIfAborted()
    try {
      return await run()
    } catch (error) {
      failures++
      if (failures >= attempts || !isRetryable(error)) throw error
    }
    await pause(clock, retryPauseMs(failures, options), signal)
  }
}

/** The pause before the next attempt. It doubles with every failure up to the maximum and is shortened by up to half at random, so that many clients do not return at the same moment. */
export function retryPauseMs(failures: number, { firstPauseMs, pauseMaxMs }: RetryPauses): number {
  const doubledMs = firstPauseMs * 2 ** Math.min(failures - 1, 30)
  return Math.min(pauseMaxMs, doubledMs) * (0.5 + Math.random() / 2)
}
