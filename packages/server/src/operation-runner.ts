/** Operations under way through one door, whatever brought them: long polls end when their caller leaves, or when the door closes. */
import type { Caller, CrashPoint, Gateway, OperationResult } from '@holdpoint/engine'
import { contract, Fault, type OperationName } from '@holdpoint/protocol'

export interface OperationCall {
  readonly op: OperationName
  readonly input: unknown
  readonly idempotencyKey: string | null
  /** Calls back when nobody waits for the reply any more. */
  onGone(callback: () => void): void
}
export interface OperationRunner {
  run(caller: Caller | null, errand: OperationCall): Promise<OperationResult<unknown>>
  /** Long polls end with `draining`, and so does whatever comes now; what changes something is let finish. */
  drain(): void
}

const draining = () => new Fault('draining', 'This gateway is closing; ask again in a moment, with the same key.')
const waits = new Set(Object.entries(contract).flatMap(([name, op]) => ('wait' in op.input.shape ? [name] : [])))

export function createOperationRunner(gateway: Gateway, crashPoint: CrashPoint = () => {}): OperationRunner {
  const polls = new Set<AbortController>()
  let closed = false

  async function poll(caller: Caller | null, errand: OperationCall): Promise<OperationResult<unknown>> {
    const abort = new AbortController()
    polls.add(abort)
    errand.onGone(() => abort.abort())
    try {
      return await gateway.dispatchUnknown(caller, errand.op, errand.input, { signal: abort.signal })
    } finally {
      polls.delete(abort)
    }
  }

  return {
    async run(caller, errand) {
      if (closed) throw draining()
      const { op, input, idempotencyKey } = errand
      const reply = waits.has(op)
        ? await poll(caller, errand)
        : await gateway.dispatchUnknown(caller, op, input, idempotencyKey === null ? undefined : { idempotencyKey })
      crashPoint(`replying:${op}`)
      return reply
    },
    drain() {
      closed = true
      for (const abort of polls) abort.abort()
    },
  }
}
