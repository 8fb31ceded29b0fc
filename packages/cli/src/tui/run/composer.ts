/** The line in which a person types, edits and sends a message to a session. If sending fails, the text returns to the line. */
import { messageOf } from '@holdpoint/protocol'
import { indented, type Row, row, type Span, untrusted } from '../../output/span.ts'
import { emptyTextInput, handleTextKey, type TextInput, textInputWith } from '../prompt/text-input.ts'
import type { Editor } from '../terminal/editor.ts'
import type { Key } from '../terminal/key-parser.ts'
import { runTexts as texts } from './texts.ts'

export interface ComposerOptions {
  readonly send: (text: string) => Promise<unknown>
  readonly edit: Editor
  readonly changed: () => void
}

export class MessageComposer {
  readonly #options: ComposerOptions
  #line: TextInput = emptyTextInput
  #hint: string | null = null
  #isInEditor = false

  constructor(options: ComposerOptions) {
    this.#options = options
  }

  get line(): TextInput {
    return this.#line
  }
  get isEmpty(): boolean {
    return this.#line.text === ''
  }
  /** Whether the editor is open and receives the keys. */
  get isEditing(): boolean {
    return this.#isInEditor
  }
  /** The reason why the last message was not sent or edited. */
  get hint(): string | null {
    return this.#hint
  }
  clear(): void {
    this.#line = emptyTextInput
    this.#hint = null
  }

  handleKey(key: Key): void {
    this.#hint = key.name === 'enter' && !key.alone ? texts.lineBreak : null
    if (key.name === 'enter' && key.alone) void this.#submit(this.#line.text.trim())
    else this.#line = handleTextKey(this.#line, key) ?? this.#line
    this.#options.changed()
  }

  async #submit(text: string): Promise<void> {
    if (text === '') return
    if (text === '/edit') return this.#edit()
    this.#line = emptyTextInput
    try {
      await this.#options.send(text)
    } catch (error) {
      this.#line = textInputWith(text)
      this.#hint = texts.notSent(messageOf(error))
    }
    this.#options.changed()
  }

  async #edit(): Promise<void> {
    this.#isInEditor = true
    const text = await this.#options.edit('', '.md')
    this.#isInEditor = false
    this.#line = textInputWith((text ?? '').trimEnd())
    this.#hint = text === null ? texts.editorFailed : null
    this.#options.changed()
  }
}

/** Returns rows with a message that was typed and not sent, so that the text is not lost. */
export function unsentRows(text: string, ...title: readonly Span[]): readonly Row[] {
  return text === '' ? [] : [row(...title), ...text.split('\n').map(line => indented(untrusted(line)))]
}
