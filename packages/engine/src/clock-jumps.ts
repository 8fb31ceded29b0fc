/** Records in the log that the clock was set, once per jump even if several gateways on one store notice it. */
import type { Context } from './context.ts'
import type { ClockJump } from './store.ts'

/** The row under which the last recorded jump is kept. It expires like other idempotency keys. */
const rowId = 'clock.jumped'
/** Two gateways that notice the same jump record it within this time. */
const sameJumpMs = 60_000
/** The sizes of a jump that two gateways measure differ by less than this. */
const sizeToleranceMs = 5000

/** Jumps that could not be recorded yet because a commit failed. */
export class ClockJumps {
  #unrecorded: readonly ClockJump[] = []

  async record(ctx: Context): Promise<void> {
    this.#unrecorded = [...this.#unrecorded, ...ctx.store.takeClockJumps()]
    for (const jump of this.#unrecorded) {
      await recordJump(ctx, jump)
      this.#unrecorded = this.#unrecorded.filter(other => other !== jump)
    }
  }
}

function recordJump(ctx: Context, { ms, aheadMs, atStart }: ClockJump) {
  return ctx.commit({
    label: 'clockJump',
    reads: [{ table: 'idempotency', id: rowId }],
    decide: change => {
      const last = change.get('idempotency', rowId)
      const known = last ? (last.body as { ms: number; aheadMs: number }) : null // only this function writes this row
      const isRecorded = atStart
        ? aheadMs <= (known?.aheadMs ?? 0) + sizeToleranceMs
        : last !== undefined && change.now - last.at < sameJumpMs && Math.abs(ms - (known?.ms ?? 0)) < sizeToleranceMs
      if (isRecorded) return { status: 200, body: {} }
      change.put('idempotency', {
        id: rowId,
        ord: change.nextSeq,
        at: change.now,
        bodyHash: '',
        status: 200,
        body: { ms, aheadMs },
      })
      change.event(null, { type: 'clock.jumped', ms })
      return { status: 200, body: {} }
    },
  })
}
