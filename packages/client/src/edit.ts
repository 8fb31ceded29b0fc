/** Lets a person edit an approval's input before allowing it: chooses the text to edit, and builds the edited input from the text. */
import { type ApprovalAsk, hasInvisible, type JsonObject, messageOf, parseJsonStrict } from '@holdpoint/protocol'
import { viewOf } from './ask-view.ts'
import { type LineEndings, lineEndingsOf } from './line-diff.ts'

export interface Editable {
  /** The input property that the person edits; null if the text is the whole input as JSON. */
  readonly property: string | null
  readonly label: string
  /** The text to edit. If all lines end in CRLF, the text has LF instead, because text fields convert CRLF to LF. */
  readonly text: string
  /** The original line endings, which are restored in the edited input. */
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
    // If the new text has no line break, use the line endings of the old text.
    const [before = ''] = hasOneEdit ? view.edits.map(edit => edit.before) : []
    const lineEndings = lineEndingsOf(value.includes('\n') ? value : before)
    const text = lineEndings === 'crlf' ? value.replaceAll('\r\n', '\n') : value
    // A text field would hide invisible characters, so let the person edit the whole input as JSON, in which `editableJson` escapes them.
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
    return { input: parsed as JsonObject } // the parser returns only JSON, and the check above leaves only objects
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** Formats a value as JSON with invisible characters as \u escapes. */
export function editableJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(/\p{M}+|[^\x20-\x7e\n]/gu, char =>
    hasInvisible(char)
      ? Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
      : char,
  )
}
