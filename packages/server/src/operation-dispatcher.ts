/** Dispatches operations of all transports to the gateway, each when it is its caller's turn. A long poll ends when its caller disconnects or the server closes. */
import type { Caller, CrashPoint, Gateway, OperationResult, OperationSlot } from '@holdpoint/engine'
import { contract, Fault, type OperationName, slotUnits } from '@holdpoint/protocol'

export interface OperationCall {
  readonly op: OperationName
  readonly input: unknown
  readonly idempotencyKey: string | null
  /** The size of the request as it was received. */
  readonly bytes: number
  /** The turn of the operation. The caller of `dispatch` releases the slot when the reply is sent. */
  readonly slot: OperationSlot
  /** Calls `callback` when the caller no longer waits for the reply. */
  onDisconnect(callback: () => void): void
}
export interface OperationDispatcher {
  dispatch(caller: Caller | null, call: OperationCall): Promise<OperationResult<unknown>>
  /** Ends long polls and refuses new calls with `draining`. Other operations that have started can finish. */
  drain(): void
}

const draining = () =>
  new Fault('draining', 'This gateway is shutting down. Try again in a moment with the same idempotency key.')
const longPollOperations = new Set(
  Object.entries(contract).flatMap(([name, op]) => ('wait' in op.input.shape ? [name] : [])),
)
const pageOperations = new Set(
  Object.entries(contract).flatMap(([name, op]) => ('items' in op.output.shape ? [name] : [])),
)
export function isLongPoll(op: OperationName): boolean {
  return longPollOperations.has(op)
}
export function slotUnitsOf(op: OperationName): number {
  return pageOperations.has(op) ? slotUnits.page : slotUnits.operation
}

export function createOperationDispatcher(gateway: Gateway, crashPoint: CrashPoint = () => {}): OperationDispatcher {
  const longPolls = new Set<AbortController>()
  let closed = false

  async function runLongPoll(caller: Caller | null, call: OperationCall): Promise<OperationResult<unknown>> {
    const abort = new AbortController()
    longPolls.add(abort)
    call.onDisconnect(() => abort.abort())
    try {
      return await gateway.dispatchUnparsed(caller, call.op, call.input, { signal: abort.signal, slot: call.slot })
    } finally {
      longPolls.delete(abort)
    }
  }

  return {
    async dispatch(caller, call) {
      if (closed) throw draining()
      const { op, input, idempotencyKey, bytes } = call
      await call.slot.acquire()
      const reply = isLongPoll(op)
        ? await runLongPoll(caller, call)
        : await gateway.dispatchUnparsed(caller, op, input, {
            bytes,
            ...(idempotencyKey === null ? {} : { idempotencyKey }),
          })
      crashPoint(`replying:${op}`)
      return reply
    },
    drain() {
      closed = true
      for (const abort of longPolls) abort.abort()
    },
  }
}
