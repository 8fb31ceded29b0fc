/** A clock held by hand: time passes when a test says so, and everything due happens at its own moment. */
import type { Clock } from '@holdpoint/protocol'

export class ManualClock implements Clock {
  #now: number
  #timers: { readonly at: number; readonly wake: () => void }[] = []
  constructor(now = 1_800_000_000_000) {
    this.#now = now
  }
  now(): number {
    return this.#now
  }
  after(ms: number, wake: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), wake }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter(known => known !== timer)
    }
  }
  /** The wall clock is set, by hand or by the network; timers do not notice. */
  jump(ms: number): void {
    this.#now += ms
    this.#timers = this.#timers.map(timer => ({ ...timer, at: timer.at + ms }))
  }
  /** Lets time pass and everything due happen, each at its own moment. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms
    await settle()
    for (;;) {
      const next = this.#timers.filter(timer => timer.at <= until).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers = this.#timers.filter(known => known !== next)
      this.#now = Math.max(this.#now, next.at)
      next.wake()
      await settle()
    }
    this.#now = until
    await settle()
  }
}

/** Until everything that is under way in this process has come to rest: commits take one turn of the loop each. */
export async function settle(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise(resolve => setImmediate(resolve))
}
