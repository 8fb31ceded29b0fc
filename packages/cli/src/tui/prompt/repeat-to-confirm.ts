/** Requires a second press of the same key within ten seconds before an action such as ending a session. */

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
  /** Returns and disarms the action that the previous key armed, so that any other key cancels the action. Returns null if no action is armed or the time is over. */
  take(): string | null {
    const armed = this.#armed
    this.#armed = null
    return armed && this.#now() - armed.at < repeatWithinMs ? armed.action : null
  }
}
