/** Renews the lease of a runner that lives but is too busy to: an agent that computes must not cost the other agents their sessions. Not for ever. */
import type { Call, Runner, RunnerId } from '@holdpoint/protocol'

/** A runner renews its lease of 15 s every 5 s: one that has not for so long is busy. */
const renewalLateMs = 6500
/** Looked at so often, a lease is renewed before it runs out. */
export const leaseCheckMs = 2000
/** Whoever is silent for longer hangs: its sessions go to the next. */
export const busyMaxMs = 60_000

export interface LeaseKeepaliveOptions {
  readonly call: Call
  readonly id: RunnerId
  readonly isProcessRunning: () => boolean
  readonly now: () => number
}

/** To be called every `lookAtLeaseMs`. */
export function keepLeaseAlive({ call, id, isProcessRunning, now }: LeaseKeepaliveOptions): () => Promise<void> {
  let seen: Runner | undefined
  let heardAt = now()
  return async () => {
    const runner = (await call('listRunners', {})).items.find(known => known.id === id)
    if (runner?.expiresAt !== seen?.expiresAt || runner?.incarnation !== seen?.incarnation) heardAt = now()
    seen = runner
    const silentMs = now() - heardAt
    if (!runner?.live || !isProcessRunning() || silentMs < renewalLateMs || silentMs > busyMaxMs) return
    seen = await call('renewRunner', { id, incarnation: runner.incarnation })
  }
}
