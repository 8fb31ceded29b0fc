/** Spreads long computations over several turns of the event loop, so that other clients are served between them. */
import type { Clock } from '@holdpoint/protocol'
import { nextTurn } from './paging.ts'

/** No computation starts in a turn in which earlier ones have taken longer than this. */
const turnMaxMs = 5

export class ComputingTurns {
  readonly #clock: Clock
  #usedMs = 0
  #isFree: Promise<void> | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async run<T>(compute: () => T): Promise<T> {
    while (this.#isFree && this.#usedMs > turnMaxMs) await this.#isFree
    const startedAt = this.#clock.monotonic()
    try {
      return compute()
    } finally {
      this.#usedMs += this.#clock.monotonic() - startedAt
      this.#isFree ??= this.#waitForTurn()
    }
  }

  /** Waits for two turns of the event loop: in the next one, the changes that need the results can run, and after that, computations may start again. */
  async #waitForTurn(): Promise<void> {
    await nextTurn()
    await nextTurn()
    this.#usedMs = 0
    this.#isFree = null
  }
}
