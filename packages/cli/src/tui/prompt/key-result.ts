/** The result of handling a key: the next state of a prompt and possibly an answer, an edit or a hint. */
import type { Answer, JsonObject, Risk } from '@holdpoint/protocol'
import type { RuleOffers } from '../../gateway-client/rule-offers.ts'
import type { Key } from '../terminal/key-parser.ts'
import { handleTextKey, type TextInput, textInputWith } from './text-input.ts'

/** A key, or the text that came back from the editor. */
export type PromptInput = Key | { readonly name: 'edited'; readonly text: string }
/** The inputs of an approval: keys, the rules that the gateway offers, and the risk of an edited input. */
export type ApprovalInput =
  | PromptInput
  | { readonly name: 'offers'; readonly offers: RuleOffers }
  | { readonly name: 'risk'; readonly input: JsonObject; readonly risk: Risk }

export interface KeyResult<State> {
  readonly state: State
  /** Tells the person why nothing happened, or what to do next. */
  readonly hint?: string
  readonly answer?: Answer
  /** The text to open in the person's editor. The edited text comes back as an `edited` input. */
  readonly edit?: string
  /** Set if the rules that the gateway offers are needed. They come back as an `offers` input. */
  readonly loadsOffers?: true
  /** An edited input whose risk is needed. It comes back as a `risk` input. */
  readonly checksInput?: JsonObject
  /** Set if the key has no meaning in this state, so that the key may scroll the request instead. */
  readonly ignored?: true
}

/** Returns the character if the input is text of exactly one character, otherwise null. */
export function typedLetter(input: PromptInput): string | null {
  return input.name === 'text' && [...input.text].length === 1 ? input.text : null
}
/** Returns the typed character if it arrived alone, otherwise null. Decisions use this function, so that type-ahead and pastes never answer a request. */
export function singleKeypress(input: PromptInput): string | null {
  return input.name === 'text' && input.alone ? typedLetter(input) : null
}

/** Returns whether a key can be part of a text that a person types. The arrow keys and Escape cannot. */
export function isTypingKey({ name }: Key): boolean {
  return typingKeys.has(name)
}
const typingKeys: ReadonlySet<string> = new Set(['text', 'enter', 'backspace', 'delete', 'clear-line', 'clear-word'])

/** Handles a key in a line of text: Enter submits the line, and Escape cancels. Returns null if the key has no meaning in a line. */
export function handleLineKey(
  line: TextInput,
  input: PromptInput,
): { readonly line: TextInput } | { readonly submitted: string } | { readonly cancelled: true } | null {
  // Most editors end a file with a line feed that nobody typed, so the last line feed is removed.
  if (input.name === 'edited') return { line: textInputWith(input.text.replace(/\n$/, '')) }
  if (input.name === 'enter' && input.alone) return { submitted: line.text.trim() }
  if (input.name === 'escape') return { cancelled: true }
  const next = handleTextKey(line, input)
  return next && { line: next }
}
