/** A person's message as Claude Code takes it: text, images and documents as content blocks, under an id that a redelivery finds again. */
import { createHash } from 'node:crypto'
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { Attachment, CommandId } from '@holdpoint/protocol'

type Content = Exclude<SDKUserMessage['message']['content'], string>[number]
type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** The same command, the same message: the transcript shows whether the CLI had it. */
export function uuidOf(command: CommandId): NonNullable<SDKUserMessage['uuid']> {
  const hex = createHash('sha256').update(command).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function userMessage(
  uuid: NonNullable<SDKUserMessage['uuid']>,
  text: string,
  attachments: readonly Attachment[] = [],
): SDKUserMessage {
  const content: Content[] = [...attachments.map(contentOf), ...(text === '' ? [] : [{ type: 'text' as const, text }])]
  return { type: 'user', uuid, message: { role: 'user', content }, parent_tool_use_id: null }
}

function contentOf({ type, mediaType, data, name }: Attachment): Content {
  // The service refuses a type that it cannot read, and says so; the list is its own.
  if (type === 'image') return { type: 'image', source: { type: 'base64', media_type: mediaType as ImageType, data } }
  const title = name === undefined ? {} : { title: name }
  if (mediaType === 'application/pdf')
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data }, ...title }
  const text = Buffer.from(data, 'base64').toString('utf8')
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
}
