/** Actions that cannot be undone take a second press of their key within ten seconds. */

export const repeatWithinMs = 10_000

export class RepeatToConfirm {
  readonly #now: () => number
  #armed: { readonly action: string; readonly at: number } | null = null

  constructor(now: () => number) {
    this.#now = now
  }

  arm(action: string): void {
    this.#armed = { action, at: this.#now() }
  }
  /** The action that the previous key armed. Any key disarms it. */
  take(): string | null {
    const armed = this.#armed
    this.#armed = null
    return armed && this.#now() - armed.at < repeatWithinMs ? armed.action : null
  }
}
