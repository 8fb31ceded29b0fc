/** Reads the content of sent attachments from the gateway, each once, as long as the page is open. */
import { type Attachment, type AttachmentId, type Call, downloadAttachment } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'

/** The content of the last attachments that were shown, because scrolling removes and adds tiles all the time. */
const recent = new Map<AttachmentId, Promise<string>>()
const recentMax = 32

function read(call: Call, attachment: Attachment, id: AttachmentId): Promise<string> {
  const known = recent.get(id)
  recent.delete(id)
  const content = known ?? downloadAttachment(call, attachment)
  recent.set(id, content)
  for (const oldest of recent.keys()) {
    if (recent.size <= recentMax) break
    recent.delete(oldest)
  }
  content.catch(() => recent.delete(id))
  return content
}

/** Returns the content in base64, or null until it is read, if it cannot be read, or if it is not wanted. */
export function useAttachmentData(attachment: Attachment, wanted: boolean): string | null {
  const { call } = useGateway()
  const [data, setData] = useState<string | null>(attachment.data ?? null)
  const { id } = attachment
  // biome-ignore lint/correctness/useExhaustiveDependencies: an attachment with this id never changes
  useEffect(() => {
    if (!wanted || id === undefined) return
    let isShown = true
    read(call, attachment, id).then(
      content => isShown && setData(content),
      () => {},
    )
    return () => {
      isShown = false
    }
  }, [call, id, wanted])
  return data
}
