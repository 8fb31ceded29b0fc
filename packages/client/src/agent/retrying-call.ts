/** A `Call` that waits until the gateway is reachable again, so that an agent does not notice when the gateway restarts. */
import { type Call, type Clock, isTransient, orAborted, retry } from '@holdpoint/protocol'

/** Pauses between attempts. There is no limit on attempts: a call is retried until its signal aborts. */
const retryPauses = { firstPauseMs: 100, pauseMaxMs: 5000 }

export interface RetryingCallOptions {
  readonly call: Call
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called after every successful reply from the gateway. */
  readonly onReply?: () => void
}

/** Repeats a call after a transient fault until the signal aborts. Every attempt has the same idempotency key. */
export function retryingCall({ call, clock, signal, onReply }: RetryingCallOptions): Call {
  return (op, input, options) =>
    retry(
      async () => {
        const output = await orAborted(call(op, input, { signal, ...options }), signal)
        onReply?.()
        return output
      },
      { ...retryPauses, isRetryable: isTransient, signal, clock },
    )
}
