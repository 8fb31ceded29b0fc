/** What is done for good is done by a key that is pressed again, soon: later it is a first time. */

export const repeatWithinMs = 10_000

export class RepeatToConfirm {
  readonly #now: () => number
  #armed: { readonly deed: string; readonly at: number } | null = null

  constructor(now: () => number) {
    this.#now = now
  }

  arm(deed: string): void {
    this.#armed = { deed, at: this.#now() }
  }
  /** What the key before has armed; whatever this key is, it is so no longer. */
  take(): string | null {
    const armed = this.#armed
    this.#armed = null
    return armed && this.#now() - armed.at < repeatWithinMs ? armed.deed : null
  }
}
