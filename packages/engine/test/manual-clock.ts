/** A wall clock, a monotonic clock and timers that only advance when a test says so. */
import type { Clock } from '@holdpoint/protocol'

export class ManualClock implements Clock {
  #now: number
  #elapsed = 0
  #timers: { readonly at: number; readonly wake: () => void }[] = []
  constructor(now = 1_800_000_000_000) {
    this.#now = now
  }
  now(): number {
    return this.#now
  }
  monotonic(): number {
    return this.#elapsed
  }
  after(ms: number, wake: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), wake }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter(known => known !== timer)
    }
  }
  /** Sets the wall clock forwards or backwards, as a person or NTP does; timers are not affected. */
  jump(ms: number): void {
    this.#now += ms
    this.#timers = this.#timers.map(timer => ({ ...timer, at: timer.at + ms }))
  }
  /** Advances the time and fires every timer when it is due. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    await runPendingWork()
    for (;;) {
      const next = this.#timers.filter(timer => timer.at <= until).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers = this.#timers.filter(known => known !== next)
      this.#pass(Math.max(this.#now, next.at))
      next.wake()
      await runPendingWork()
    }
    this.#pass(until)
    await runPendingWork()
  }
  #pass(until: number): void {
    this.#elapsed += until - this.#now
    this.#now = until
  }
}

/** Lets pending promises and commits of this process finish; a commit takes one turn of the event loop. */
export async function runPendingWork(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise(resolve => setImmediate(resolve))
}
