/** Renews the lease of a runner that is running but too busy to renew it, so that one agent that blocks the process does not cost the other agents their sessions. */
import type { Call, Runner, RunnerId } from '@holdpoint/protocol'

/** Runners renew their 15 s lease every 5 s. A runner that has not renewed its lease for this long is busy. */
const renewalLateMs = 6500
/** The time between two checks, short enough to renew a late lease before it expires. */
export const leaseCheckMs = 2000
/** A runner that has not renewed its lease for this long counts as hanging. Its lease expires, and the next runner takes over its sessions. */
export const busyMaxMs = 60_000

export interface LeaseKeepaliveOptions {
  readonly call: Call
  readonly id: RunnerId
  readonly isProcessRunning: () => boolean
  readonly now: () => number
}

/** Returns a function that checks the lease and renews it if needed. Call it every `leaseCheckMs`. */
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
