/** A text that is being typed, and the place where the next character goes. */
import type { Key } from '../terminal/key-parser.ts'

export interface TextInput {
  readonly text: string
  /** In code units, between two characters. */
  readonly at: number
}
export const emptyTextInput: TextInput = { text: '', at: 0 }
export function textInputWith(text: string): TextInput {
  return { text, at: text.length }
}

/** Null where the key means nothing to a line. */
export function pressTextInput({ text, at }: TextInput, key: Key): TextInput | null {
  const before = text.slice(0, at)
  const after = text.slice(at)
  const last = [...before].at(-1)?.length ?? 0
  const next = [...after][0]?.length ?? 0
  switch (key.name) {
    case 'text':
      return { text: before + key.text + after, at: at + key.text.length }
    case 'backspace':
      return { text: before.slice(0, at - last) + after, at: at - last }
    case 'delete':
      return { text: before + after.slice(next), at }
    case 'left':
      return { text, at: at - last }
    case 'right':
      return { text, at: at + next }
    case 'home':
      return { text, at: 0 }
    case 'end':
      return { text, at: text.length }
    case 'clear-line':
      return { text: after, at: 0 }
    case 'clear-word': {
      const kept = before.replace(/\S+\s*$/, '')
      return { text: kept + after, at: kept.length }
    }
    default:
      return null
  }
}
