/** The line in which a person writes to a session: typed, edited, sent. What could not be sent comes back into it. */

import { messageOf } from '@holdpoint/protocol'
import { emptyTextInput, pressTextInput, type TextInput, textInputWith } from '../prompt/text-input.ts'
import type { Key } from '../terminal/key-parser.ts'

export interface ComposerOptions {
  readonly send: (text: string) => Promise<unknown>
  readonly edit: (text: string) => Promise<string | null>
  readonly changed: () => void
}

export class Composer {
  readonly #options: ComposerOptions
  #line: TextInput = emptyTextInput
  #hint: string | null = null
  #editing = false

  constructor(options: ComposerOptions) {
    this.#options = options
  }

  get line(): TextInput {
    return this.#line
  }
  get isEmpty(): boolean {
    return this.#line.text === ''
  }
  /** While the editor has the terminal, no key is ours. */
  get isEditing(): boolean {
    return this.#editing
  }
  /** Why nothing came of the last line. */
  get hint(): string | null {
    return this.#hint
  }
  clear(): void {
    this.#line = emptyTextInput
    this.#hint = null
  }

  press(key: Key): void {
    this.#hint = null
    if (key.name === 'enter') void this.#enter(this.#line.text.trim())
    else this.#line = pressTextInput(this.#line, key) ?? this.#line
    this.#options.changed()
  }

  async #enter(text: string): Promise<void> {
    if (text === '') return
    if (text === '/edit') return this.#edit()
    this.#line = emptyTextInput
    try {
      await this.#options.send(text)
    } catch (error) {
      this.#line = textInputWith(text)
      this.#hint = `It was not sent: ${messageOf(error)}`
    }
    this.#options.changed()
  }

  async #edit(): Promise<void> {
    this.#editing = true
    const text = await this.#options.edit('')
    this.#editing = false
    this.#line = textInputWith((text ?? '').trimEnd())
    this.#hint = text === null ? 'The editor failed; set EDITOR to one that works.' : null
    this.#options.changed()
  }
}
