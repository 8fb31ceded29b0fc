/** Editing an approval's input before it is allowed: the text that a person edits, and the input that results. */
import { type ApprovalAsk, hasInvisible, type JsonObject, messageOf, parseJsonStrict } from '@holdpoint/protocol'
import { viewOf } from './ask-view.ts'
import { type LineEndings, lineEndingsOf } from './line-diff.ts'

export interface Editable {
  /** The property of the input that is edited; null if the text is the whole input as JSON. */
  readonly property: string | null
  readonly label: string
  /** If all lines end in CRLF, they are shown with LF: text fields would change them anyway. */
  readonly text: string
  /** Restored when the edit is applied. */
  readonly lineEndings: LineEndings
}

export function editableOf(ask: ApprovalAsk): Editable {
  const view = viewOf(ask)
  const hasOneEdit = view.kind === 'change' && view.edits.length === 1
  const candidates: readonly (readonly [string, string])[] = [
    ...(view.kind === 'command' ? [['command', 'Command'] as const] : []),
    ...(view.kind === 'plan' ? [['plan', 'Plan'] as const] : []),
    ...(hasOneEdit ? [[view.isNew ? 'content' : 'new_string', 'New text'] as const] : []),
  ]
  for (const [property, label] of candidates) {
    const value = ask.input[property]
    if (typeof value !== 'string') continue
    // A single line takes the line endings of the text it replaces.
    const [before = ''] = hasOneEdit ? view.edits.map(edit => edit.before) : []
    const lineEndings = lineEndingsOf(value.includes('\n') ? value : before)
    const text = lineEndings === 'crlf' ? value.replaceAll('\r\n', '\n') : value
    // A text field would hide invisible characters; the JSON form escapes them.
    if (hasInvisible(text, { multiline: true })) continue
    return { property, label: lineEndings === 'crlf' ? `${label} with CRLF line endings` : label, text, lineEndings }
  }
  return { property: null, label: 'Input as JSON', text: editableJson(ask.input), lineEndings: 'lf' }
}

export function applyEdit(
  ask: ApprovalAsk,
  { property, lineEndings }: Editable,
  text: string,
): { readonly input: JsonObject } | { readonly problem: string } {
  if (property !== null)
    return { input: { ...ask.input, [property]: lineEndings === 'crlf' ? text.replace(/\r?\n/g, '\r\n') : text } }
  try {
    const parsed: unknown = parseJsonStrict(text)
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      return { problem: 'The input must be a JSON object: { … }' }
    return { input: parsed as JsonObject } // the parser returns JSON
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** JSON with invisible characters as \u escapes. */
export function editableJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(/\p{M}+|[^\x20-\x7e\n]/gu, char =>
    hasInvisible(char)
      ? Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
      : char,
  )
}
