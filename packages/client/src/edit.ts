/** Editing what is asked before it is allowed: one text that a person changes, and the input that comes of it. */
import { type ApprovalAsk, hasInvisible, type JsonObject, messageOf, parseJsonStrict } from '@holdpoint/protocol'
import { viewOf } from './ask-view.ts'
import { type LineEnds, lineEnds } from './line-diff.ts'

export interface Editable {
  /** The member of the input that the text is; null: the text is the whole input as JSON. */
  readonly member: string | null
  readonly label: string
  /** With line feeds only where all its lines end in CRLF: editors change those unasked. */
  readonly text: string
  /** As they are to be again. */
  readonly ends: LineEnds
}

export function editableOf(ask: ApprovalAsk): Editable {
  const picture = viewOf(ask)
  const single = picture.kind === 'change' && picture.parts.length === 1
  const named: readonly (readonly [string, string])[] = [
    ...(picture.kind === 'command' ? [['command', 'Command'] as const] : []),
    ...(picture.kind === 'plan' ? [['plan', 'Plan'] as const] : []),
    ...(single ? [[picture.isNew ? 'content' : 'new_string', 'New text'] as const] : []),
  ]
  for (const [member, label] of named) {
    const whole = ask.input[member]
    if (typeof whole !== 'string') continue
    // One line takes the line ends of what it replaces.
    const [before = ''] = single ? picture.parts.map(part => part.before) : []
    const ends = lineEnds(whole.includes('\n') ? whole : before)
    const text = ends === 'crlf' ? whole.replaceAll('\r\n', '\n') : whole
    // What cannot be seen cannot be edited with open eyes; as JSON it is spelt out.
    if (hasInvisible(text, { multiline: true })) continue
    return { member, label: ends === 'crlf' ? `${label} with CRLF line endings` : label, text, ends }
  }
  return { member: null, label: 'Input as JSON', text: editableJson(ask.input), ends: 'lf' }
}

export function applyEdit(
  ask: ApprovalAsk,
  { member, ends }: Editable,
  text: string,
): { readonly input: JsonObject } | { readonly problem: string } {
  if (member !== null)
    return { input: { ...ask.input, [member]: ends === 'crlf' ? text.replace(/\r?\n/g, '\r\n') : text } }
  try {
    const value: unknown = parseJsonStrict(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { problem: 'It must be a JSON object: { … }' }
    return { input: value as JsonObject } // what is read from JSON is JSON
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** JSON in which what cannot be seen is spelt out. */
export function editableJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(/\p{M}+|[^\x20-\x7e\n]/gu, char =>
    hasInvisible(char)
      ? Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
      : char,
  )
}
