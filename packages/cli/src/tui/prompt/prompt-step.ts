/** What a key makes of a prompt: its next state, and what is to be done about it. */
import type { Answer } from '@holdpoint/protocol'
import type { Key } from '../terminal/key-parser.ts'
import { pressTextInput, type TextInput, textInputWith } from './text-input.ts'

/** A key, or what came back from the editor. */
export type PromptInput = Key | { readonly name: 'edited'; readonly text: string }

export interface PromptStep<Part> {
  readonly part: Part
  /** Why nothing came of it, or what to do next. */
  readonly hint?: string
  readonly answer?: Answer
  /** To be opened in the person's editor; what comes of it is pressed as `edited`. */
  readonly edit?: string
  /** The key means nothing here; paging may want it. */
  readonly unused?: true
}

/** A letter that was typed; a paste is none. */
export function letterOf(press: PromptInput): string | null {
  return press.name === 'text' && [...press.text].length === 1 ? press.text : null
}
/** A letter that means something to a request does so alone: nothing that was typed ahead, or pasted, may. */
export function decisionOf(press: PromptInput): string | null {
  return press.name === 'text' && press.alone ? letterOf(press) : null
}

/** A line with a name: a note, a reason. Enter hands it on, Escape leaves it. */
export function typing(
  line: TextInput,
  press: PromptInput,
): { readonly line: TextInput } | { readonly done: string } | { readonly left: true } | null {
  // Editors end a file with a line feed that nobody typed.
  if (press.name === 'edited') return { line: textInputWith(press.text.replace(/\n$/, '')) }
  if (press.name === 'enter') return { done: line.text.trim() }
  if (press.name === 'escape') return { left: true }
  const next = pressTextInput(line, press)
  return next && { line: next }
}
