/** Limits how much work each credential has in progress. Work occupies its slot until its reply is sent, so that a client that sends many calls and reads no replies cannot fill the memory. Further work waits for its turn. */
import { type OperationSlot, type QuotaCaller, QuotaUse } from '@holdpoint/engine'
import { Fault, quotas } from '@holdpoint/protocol'

interface Waiter {
  readonly caller: QuotaCaller
  readonly units: number
  readonly start: () => void
}

/** The slots of all credentials. */
export class Slots {
  readonly #use = new QuotaUse(quotas.slots)
  /** The waiting work of each credential, in the order of arrival. The credential that has waited longest since its last turn comes first. */
  readonly #waiting = new Map<string, Set<Waiter>>()
  #isGrantScheduled = false

  /** Returns a slot that is not acquired yet. `onCancel` registers a callback that is called if the work is canceled. */
  slotFor(caller: QuotaCaller, units: number, onCancel: (callback: () => void) => void): OperationSlot {
    let cancelled = false
    let state: 'waiting' | 'held' | null = null
    let stopWaiting = () => {}
    onCancel(() => {
      cancelled = true
      stopWaiting()
    })
    const release = () => {
      if (state === 'held') this.#release(caller, units)
      state = null
    }
    const acquire = async () => {
      if (cancelled) throw abandoned()
      if (!this.#waiting.has(caller.token) && this.#use.exceeded(caller, units) === null) {
        this.#use.add(caller, units)
        state = 'held'
        return
      }
      state = 'waiting'
      await new Promise<void>((resolve, reject) => {
        const start = () => {
          state = 'held'
          resolve()
        }
        const waiter: Waiter = { caller, units, start }
        stopWaiting = () => {
          if (state !== 'waiting') return
          state = null
          this.#removeWaiter(waiter)
          reject(abandoned())
        }
        this.#addWaiter(waiter)
      })
    }
    return { acquire, release }
  }

  #addWaiter(waiter: Waiter): void {
    const { token } = waiter.caller
    const waiters = this.#waiting.get(token)
    if (waiters) waiters.add(waiter)
    else this.#waiting.set(token, new Set([waiter]))
  }

  #removeWaiter(waiter: Waiter): void {
    const { token } = waiter.caller
    const waiters = this.#waiting.get(token) as Set<Waiter> // the caller has added the waiter
    waiters.delete(waiter)
    if (waiters.size === 0) this.#waiting.delete(token)
  }

  #release(caller: QuotaCaller, units: number): void {
    this.#use.add(caller, -units)
    if (this.#waiting.size === 0 || this.#isGrantScheduled) return
    this.#isGrantScheduled = true
    // Start waiting work in the next turn of the event loop, so that the work of one credential does not keep the event loop busy.
    setImmediate(() => {
      this.#isGrantScheduled = false
      this.#grant()
    })
  }

  /** Starts waiting work that fits, one at a time from each credential in turn. */
  #grant(): void {
    for (let granted = true; granted; ) {
      granted = false
      for (const [token, waiters] of [...this.#waiting]) {
        const [first] = waiters
        if (!first || this.#use.exceeded(first.caller, first.units) !== null) continue
        this.#removeWaiter(first)
        if (waiters.size > 0) {
          this.#waiting.delete(token)
          this.#waiting.set(token, waiters)
        }
        this.#use.add(first.caller, first.units)
        first.start()
        granted = true
      }
    }
  }
}

/** Returns the fault for work whose caller has disconnected. Nobody receives it. */
function abandoned(): Fault {
  return new Fault('draining', 'The caller disconnected before it was its turn.')
}
