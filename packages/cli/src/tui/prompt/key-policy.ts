/**
 * Decides whether a key may act on a prompt or was probably meant for something else (G12).
 * A key that answers a request must be pressed on its own, with a pause before it and after it, because a text that a person types may begin with any letter and usually ends with Enter.
 */
import { letterPauseMs, type TypingGuard } from '@holdpoint/client'
import type { Key } from '../terminal/key-parser.ts'
import { isTypingKey } from './key-result.ts'
import type { Prompt, PromptKeyResult, PromptState } from './prompt.ts'

/**
 * - `act`: the key is carried out at once.
 * - `hold`: the key is carried out unless another key follows.
 * - `again`: the key comes too soon after typing, so the person has to press it again.
 * - `text`: the key belongs to a text and is ignored.
 */
export type KeyPolicy = 'act' | 'hold' | 'again' | 'text'

/** Must be called before the key is noted in the guard. `result` is the effect that the key would have. */
export function keyPolicy(prompt: Prompt, key: Key, result: PromptKeyResult, guard: TypingGuard): KeyPolicy {
  if (!isTypingKey(key)) return 'act'
  const takesText = isTextField(prompt)
  if (!takesText && (!key.alone || result.ignored)) return 'text'
  if (key.name === 'enter' && result.answer) return isTooSoon(prompt, takesText, guard) ? 'again' : 'hold'
  if (key.name === 'enter') return 'act'
  if (takesText) return 'act'
  if (hasEffect(prompt.state, result)) return guard.acceptsLetter ? 'hold' : 'text'
  const moves = result.prompt.state !== prompt.state
  return guard.isTyping && !moves ? 'text' : 'act'
}

/** Returns whether an Enter that sends the answer may be the end of a text that was meant for something else. A field that the person has opened with a letter gets only text that is meant for it. */
function isTooSoon(prompt: Prompt, takesText: boolean, guard: TypingGuard): boolean {
  if (takesText && !opensByItself(prompt)) return false
  return guard.quietMs < letterPauseMs || (guard.isTyping && !takesText)
}

/** Returns whether the prompt takes letters as text. */
export function isTextField({ state }: Prompt): boolean {
  if (state.kind === 'approval') return ['note', 'reason', 'question', 'confirm'].includes(state.step)
  if (state.kind === 'questions') return ['other', 'reason', 'question'].includes(state.step)
  if (state.asksAboutLetter) return false
  return state.isDeclining || state.fields[state.index]?.choices === null
}

/** Returns whether the prompt shows a text field that no key has opened. Someone who does not look at the screen may type into it. */
function opensByItself({ state, request: { ask } }: Prompt): boolean {
  if (state.kind === 'approval') return false
  if (state.kind === 'form') return !state.isDeclining
  return state.step === 'other' && ask.kind === 'questions' && ask.questions[state.index]?.options.length === 0
}

/** Returns whether the key would do more than move the selection or scroll. */
function hasEffect(before: PromptState, { answer, edit, prompt: { state } }: PromptKeyResult): boolean {
  return answer !== undefined || edit !== undefined || stepOf(before) !== stepOf(state)
}
function stepOf(state: PromptState): string {
  if (state.kind === 'approval') return state.step
  if (state.kind === 'questions') return `${state.index} ${state.step}`
  return `${state.index} ${state.isDeclining} ${state.asksAboutLetter}`
}
