/** Converts a person's message to an SDK message with text, images and documents as content blocks. A redelivered message gets the same id. */
import { createHash } from 'node:crypto'
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { AttachmentFile } from '@holdpoint/protocol'

type Content = Exclude<SDKUserMessage['message']['content'], string>[number]
type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** Derives the message's uuid from the id of its command, so that the transcript shows whether the CLI has already received the message. */
export function messageUuid(command: string): NonNullable<SDKUserMessage['uuid']> {
  const hex = createHash('sha256').update(command).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function userMessage(
  uuid: NonNullable<SDKUserMessage['uuid']>,
  text: string,
  attachments: readonly AttachmentFile[] = [],
): SDKUserMessage {
  const content: Content[] = [
    ...attachments.map(contentBlock),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ]
  return { type: 'user', uuid, message: { role: 'user', content }, parent_tool_use_id: null }
}

function contentBlock({ type, mediaType, data, name }: AttachmentFile): Content {
  // Do not check the image type here: the model's API returns an error for types that it does not support.
  if (type === 'image') return { type: 'image', source: { type: 'base64', media_type: mediaType as ImageType, data } }
  const title = name === undefined ? {} : { title: name }
  if (mediaType === 'application/pdf')
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data }, ...title }
  const text = Buffer.from(data, 'base64').toString('utf8')
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
}
