/**
 * Distinguishes keys that decide from a text that a person types for something else (G12).
 * Keys that follow each other quickly form a run. A letter decides only if it is a run of its own. Enter and Space decide if they
 * begin a run, or if the run began in a text field of this page, because only then does the person see where the keys go.
 */
import { TypingGuard } from '@holdpoint/client'

/** The part of an element that a run needs. */
export type RunField = Pick<Element, 'isConnected'>

export class KeyRuns {
  #pressedAt = Number.NEGATIVE_INFINITY
  readonly #guard = new TypingGuard(() => this.#pressedAt)
  #field: RunField | null = null
  #isFirst = true
  #isTyping = false

  /** Call for each key press, before the key acts. `field` is the text field that has the focus. */
  press(at: number, field: RunField | null): void {
    this.#pressedAt = at
    this.#isTyping = this.#guard.isTyping
    this.#isFirst = this.#guard.acceptsLetter
    if (this.#isFirst) this.#field = field
    // Until the key is known to be a command, it continues a text.
    if (this.#isTyping) this.#guard.noteText()
    else this.#guard.noteCommand()
  }
  /** Call if the last key was part of a text. */
  noteText(): void {
    this.#guard.noteText()
  }
  /** Call if the last key has ended a text, as Escape does in a field. */
  endText(): void {
    this.#guard.noteCommand()
  }

  /** The time at which the last key was pressed. */
  get pressedAt(): number {
    return this.#pressedAt
  }
  /** Whether the last key began a run. */
  get isFirst(): boolean {
    return this.#isFirst
  }
  /** Whether the person was typing a text when the last key was pressed. */
  get isTyping(): boolean {
    return this.#isTyping
  }
  /** Whether the run began in a text field of this page. */
  get beganInField(): boolean {
    return this.#field !== null
  }
  /** Whether the last key, an Enter or a Space, may send an answer. */
  get maySend(): boolean {
    return this.#isFirst || this.#field?.isConnected === true
  }
}

/** The runs of the keys that people press on this page. All components share them, because keys of one run can go to several components. */
export const keyRuns = new KeyRuns()
