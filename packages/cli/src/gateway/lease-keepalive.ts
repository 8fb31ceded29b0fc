/** Renews the runner's lease while the runner is running but too busy to do it: one agent that blocks the process must not cost the others their sessions. */
import type { Call, Runner, RunnerId } from '@holdpoint/protocol'

/** A runner renews its 15 s lease every 5 s, so a renewal that is this late means the runner is busy. */
const renewalLateMs = 6500
/** Short enough to renew a late lease before it expires. */
export const leaseCheckMs = 2000
/** A runner that is silent for longer hangs: its lease expires and the next runner takes its sessions. */
export const busyMaxMs = 60_000

export interface LeaseKeepaliveOptions {
  readonly call: Call
  readonly id: RunnerId
  readonly isProcessRunning: () => boolean
  readonly now: () => number
}

/** Returns the check to run every `leaseCheckMs`. */
export function keepLeaseAlive({ call, id, isProcessRunning, now }: LeaseKeepaliveOptions): () => Promise<void> {
  let last: Runner | undefined
  let renewedAt = now()
  return async () => {
    const runner = (await call('listRunners', {})).items.find(known => known.id === id)
    if (runner?.expiresAt !== last?.expiresAt || runner?.incarnation !== last?.incarnation) renewedAt = now()
    last = runner
    const silentMs = now() - renewedAt
    if (!runner?.live || !isProcessRunning() || silentMs < renewalLateMs || silentMs > busyMaxMs) return
    last = await call('renewRunner', { id, incarnation: runner.incarnation })
  }
}
