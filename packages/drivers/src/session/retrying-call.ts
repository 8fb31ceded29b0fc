/** Which faults pass by themselves, and the call that waits them out: an agent notices nothing of a gateway's restart. */
import { type Call, Fault, type FaultCode } from '@holdpoint/protocol'
import { type Clock, orAborted, pause } from '../clock.ts'

const passing: ReadonlySet<FaultCode> = new Set([
  'draining',
  'store_unavailable',
  'store_locked',
  'store_read_only',
  'store_full',
  'store_newer',
  'store_older',
])
const firstPauseMs = 100
const pauseMaxMs = 5000

/** A transport that reaches nobody says `Unreachable`; that is no fault of the gateway's and passes like one. */
export function isTransient(error: unknown): boolean {
  if (error instanceof Fault) return passing.has(error.code)
  return error instanceof Error && error.name === 'Unreachable'
}

export interface RetryingCallOptions {
  readonly call: Call
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The gateway has answered. */
  readonly onHeard?: () => void
}

/** Tries again, ever more slowly up to a bound, for as long as the signal stands. Repeats carry the same idempotency key. */
export function retryingCall({ call, clock, signal, onHeard }: RetryingCallOptions): Call {
  return async (op, input, options) => {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
      signal.throwIfAborted()
      try {
        const output = await orAborted(call(op, input, { signal, ...options }), signal)
        onHeard?.()
        return output
      } catch (error) {
        if (!isTransient(error)) throw error
      }
      await pause(clock, pauseMs, signal)
    }
  }
}
