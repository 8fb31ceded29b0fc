/** Generates the random numbers of a simulated run (mulberry32). The seed determines the whole run. */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  below(count: number): number {
    return Math.floor(this.next() * count)
  }
  chance(probability: number): boolean {
    return this.next() < probability
  }
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)]
  }
  /** Returns one of the choices, with probabilities proportional to the weights. */
  pickWeighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let remaining = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, choice] of choices) {
      remaining -= weight
      if (remaining < 0) return choice
    }
    throw new Error('pickWeighted needs at least one choice')
  }
  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256))
  }
}
