/** Retries a failed call with growing pauses. */
import { type Clock, pause, systemClock } from './clock.ts'

export interface RetryPauses {
  readonly firstPauseMs: number
  readonly pauseMaxMs: number
}

export interface RetryOptions extends RetryPauses {
  /** Returns whether another attempt may succeed after this error. */
  readonly isRetryable: (error: unknown) => boolean
  /** The total number of attempts. By default there is no limit. */
  readonly attempts?: number
  /** Aborting this signal ends the retries, and `retry` rejects with the signal's reason. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

/** Resolves with the first successful result. Rejects with the last error if that error is not retryable or no attempts are left. */
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

/** Returns the pause before the next attempt. The pause doubles with every failure up to a maximum and is randomly shortened by up to half, so that many clients do not retry at the same moment. */
export function retryPauseMs(failures: number, { firstPauseMs, pauseMaxMs }: RetryPauses): number {
  const doubledMs = firstPauseMs * 2 ** Math.min(failures - 1, 30)
  return Math.min(pauseMaxMs, doubledMs) * (0.5 + Math.random() / 2)
}
