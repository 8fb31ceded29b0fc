/** Converts a person's message with its attachments to the content of a prompt. */
import type { ContentBlock } from '@agentclientprotocol/sdk'
import type { AttachmentFile } from '@holdpoint/protocol'
import { acpLog } from './messages.ts'

export interface PromptContent {
  readonly content: ContentBlock[]
  /** The names of attachments that the agent cannot read. */
  readonly unreadable: readonly string[]
}

/** `readsImages` is what the agent has said about itself. An agent that cannot read images may fail the whole turn. */
export function contentOf(text: string, attachments: readonly AttachmentFile[], readsImages: boolean): PromptContent {
  const content: ContentBlock[] = []
  const unreadable: string[] = []
  for (const { type, mediaType, data, name = mediaType } of attachments) {
    if (type === 'image' && readsImages) content.push({ type: 'image', mimeType: mediaType, data })
    else if (mediaType.startsWith('text/') || mediaType === 'application/json')
      content.push({ type: 'text', text: acpLog.attachedFile(name, Buffer.from(data, 'base64').toString('utf8')) })
    else unreadable.push(name)
  }
  if (text !== '') content.push({ type: 'text', text })
  return { content, unreadable }
}
