/** The text that a person is typing, with the position of the caret. */
import type { Key } from '../terminal/key-parser.ts'

export interface TextInput {
  readonly text: string
  /** The offset of the caret in UTF-16 code units, never inside a surrogate pair. */
  readonly caret: number
}
export const emptyTextInput: TextInput = { text: '', caret: 0 }
export function textInputWith(text: string): TextInput {
  return { text, caret: text.length }
}

/** Returns the text without line breaks at its end, because pasted text often ends with one. */
export function submittedText({ text }: TextInput): string {
  let end = text.length
  while (text[end - 1] === '\n') end--
  return text.slice(0, end)
}

/** Returns the changed input, or null if the key has no meaning in a text input. */
export function handleTextKey({ text, caret }: TextInput, key: Key): TextInput | null {
  const before = text.slice(0, caret)
  const after = text.slice(caret)
  const last = [...before].at(-1)?.length ?? 0
  const next = [...after][0]?.length ?? 0
  const inserted = (more: string): TextInput => ({ text: before + more + after, caret: caret + more.length })
  switch (key.name) {
    case 'text':
      return inserted(key.text)
    // An Enter that did not arrive alone is a line break of a text that was pasted into a terminal without bracketed paste. An Enter that arrived alone submits the text.
    case 'enter':
      return key.alone ? null : inserted('\n')
    case 'backspace':
      return { text: before.slice(0, caret - last) + after, caret: caret - last }
    case 'delete':
      return { text: before + after.slice(next), caret }
    case 'left':
      return { text, caret: caret - last }
    case 'right':
      return { text, caret: caret + next }
    case 'home':
      return { text, caret: 0 }
    case 'end':
      return { text, caret: text.length }
    case 'clear-line':
      return { text: after, caret: 0 }
    case 'clear-word': {
      const kept = wordStart(before)
      return { text: before.slice(0, kept) + after, caret: kept }
    }
    default:
      return null
  }
}

/** Returns the offset of the last word of a text. */
function wordStart(text: string): number {
  let start = text.trimEnd().length
  if (start === 0) return text.length
  while (start > 0 && /\S/.test(text[start - 1] ?? '')) start--
  return start
}
