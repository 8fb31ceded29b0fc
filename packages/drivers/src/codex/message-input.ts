/** Turns a person's message into the input of Codex: text, pictures, and the text of attached files. */
import type { AttachmentFile } from '@holdpoint/protocol'
import type { AgentMessage } from '../session/agent-connection.ts'
import { codexAttachments } from './messages.ts'

type InputPart =
  | { readonly type: 'text'; readonly text: string; readonly text_elements: readonly never[] }
  | { readonly type: 'image'; readonly url: string }

/** Throws an error for people if Codex cannot read an attachment. */
export function inputOfMessage({ text, attachments }: AgentMessage): readonly InputPart[] {
  return [textPart(text), ...attachments.map(partOf)]
}

export function textPart(text: string): InputPart {
  return { type: 'text', text, text_elements: [] }
}

const textTypes = /^(?:text\/|application\/(?:json|xml|yaml|toml|javascript|x-sh)\b)/

function partOf({ type, mediaType, name, data }: AttachmentFile): InputPart {
  if (type === 'image') return { type: 'image', url: `data:${mediaType};base64,${data}` }
  const file = name ?? mediaType
  if (!textTypes.test(mediaType)) throw new Error(codexAttachments.unreadable(file))
  return textPart(codexAttachments.file(file, Buffer.from(data, 'base64').toString('utf8')))
}
