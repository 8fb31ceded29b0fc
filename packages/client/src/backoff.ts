/** How long to wait before trying again: doubling, capped, with jitter, and given up at once when the signal says so. */

export interface Pace {
  readonly firstMs: number
  readonly capMs: number
}

/** Full doubling up to the cap, then between half and the whole of it, so that many clients do not come back as one. */
export function backoffMs({ firstMs, capMs }: Pace, attempt: number): number {
  return Math.min(capMs, firstMs * 2 ** Math.min(attempt, 30)) * (0.5 + Math.random() / 2)
}

/** Resolves after so many ms; rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
