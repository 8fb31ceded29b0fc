/** Sends and reads files in parts, so that no call and no reply is large. */
import type { Call } from './contract.ts'
import type { AttachmentId, SessionId } from './ids.ts'
import { limits } from './limits.ts'
import type { Attachment, AttachmentFile } from './session.ts'

const partChars = (limits.attachmentPartMaxBytes * 4) / 3

async function uploadAttachment(
  call: Call,
  session: SessionId,
  { data, ...file }: AttachmentFile,
): Promise<AttachmentId> {
  const { id } = await call('addAttachment', { id: session, ...file, data: data.slice(0, partChars) })
  for (let part = 1; part * partChars < data.length; part++)
    await call('appendAttachment', { id, part, data: data.slice(part * partChars, (part + 1) * partChars) })
  return id
}

/** Adds files one after another, in the order in which a message should name them. */
export async function uploadAttachments(
  call: Call,
  session: SessionId,
  files: readonly AttachmentFile[],
): Promise<AttachmentId[]> {
  const ids: AttachmentId[] = []
  for (const file of files) ids.push(await uploadAttachment(call, session, file))
  return ids
}

/** Reads the content of an attachment in base64. */
export async function downloadAttachment(call: Call, { id, data = '' }: Attachment): Promise<string> {
  if (id === undefined) return data
  const first = await call('getAttachmentPart', { id, part: 0 })
  const parts = [first.data]
  for (let part = 1; part < first.parts; part++) parts.push((await call('getAttachmentPart', { id, part })).data)
  return parts.join('')
}
