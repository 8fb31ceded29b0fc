/** Distinguishes commands from typed text by the time between key presses, so that text that was meant for something else never answers a request (G12). Page and terminal share this class. */

/** After a person has typed, commands are ignored for this long. Each further key starts the time again. */
export const typingPauseMs = 1000
/** A letter is a command only if no other key is pressed for this long before it and after it. People who type slowly take up to 600 ms for a key. */
export const letterPauseMs = 700

export class TypingGuard {
  readonly #now: () => number
  #lastKeyAt = Number.NEGATIVE_INFINITY
  #isText = false

  constructor(now: () => number) {
    this.#now = now
  }

  /** Call this for each key that belongs to a text: it was typed into a field, or it does nothing where it was pressed. */
  noteText(): void {
    this.#lastKeyAt = this.#now()
    this.#isText = true
  }
  /** Call this for each key that was a command. After a command, the person no longer counts as typing. */
  noteCommand(): void {
    this.#lastKeyAt = this.#now()
    this.#isText = false
  }

  /** Returns the time since the last noted key. */
  get quietMs(): number {
    return this.#now() - this.#lastKeyAt
  }
  /** Whether the person has typed text so recently that the next key may belong to the same text. */
  get isTyping(): boolean {
    return this.pauseLeftMs > 0
  }
  /** How long the person has to pause until they are no longer typing. */
  get pauseLeftMs(): number {
    return this.#isText ? Math.max(0, typingPauseMs - this.quietMs) : 0
  }
  /** Whether a letter that is pressed now may be a command. */
  get acceptsLetter(): boolean {
    return !this.isTyping && this.quietMs >= letterPauseMs
  }
}
