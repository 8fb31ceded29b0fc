/** What handling a key gives: the next state of a prompt, and an answer, an edit or a hint. */
import type { Answer } from '@holdpoint/protocol'
import type { Key } from '../terminal/key-parser.ts'
import { handleTextKey, type TextInput, textInputWith } from './text-input.ts'

/** A key, or the text that came back from the editor. */
export type PromptInput = Key | { readonly name: 'edited'; readonly text: string }

export interface KeyResult<State> {
  readonly state: State
  /** Why nothing happened, or what to do next. */
  readonly hint?: string
  readonly answer?: Answer
  /** A text to open in the person's editor. The result is handled as an `edited` input. */
  readonly edit?: string
  /** The key has no meaning here; it may scroll instead. */
  readonly ignored?: true
}

/** A single typed character; null for a paste and for other keys. */
export function typedLetter(input: PromptInput): string | null {
  return input.name === 'text' && [...input.text].length === 1 ? input.text : null
}
/** A single character that arrived alone. Only such a key may decide: type-ahead and pastes must not. */
export function singleKeypress(input: PromptInput): string | null {
  return input.name === 'text' && input.alone ? typedLetter(input) : null
}

/** Edits a line of text: Enter submits it, Escape cancels, null if the key has no meaning in a line. */
export function handleLineKey(
  line: TextInput,
  input: PromptInput,
): { readonly line: TextInput } | { readonly submitted: string } | { readonly cancelled: true } | null {
  // Most editors end a file with a line feed that nobody typed.
  if (input.name === 'edited') return { line: textInputWith(input.text.replace(/\n$/, '')) }
  if (input.name === 'enter') return { submitted: line.text.trim() }
  if (input.name === 'escape') return { cancelled: true }
  const next = handleTextKey(line, input)
  return next && { line: next }
}
