/** Shows an attachment with its name: an image as a thumbnail, another file as an icon. */
import type { Attachment } from '@holdpoint/protocol'
import FileIcon from 'lucide-react/icons/file'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { formatSize } from '../../text/format-amounts.ts'
import { decodedSize, isDisplayableImage } from './attachment-rules.ts'
import { useAttachmentData } from './use-attachment-data.ts'
import './attachment-tile.css'

export interface AttachmentTileProps {
  readonly attachment: Pick<Attachment, 'type' | 'mediaType' | 'name'>
  /** The content in base64, or null if it is not loaded. */
  readonly data: string | null
  /** The size, if it is known without the content. */
  readonly bytes?: number | undefined
  readonly onRemove?: () => void
}

export function AttachmentTile({ attachment, data, bytes, onRemove }: AttachmentTileProps): ReactNode {
  const { type, mediaType, name } = attachment
  const label = name ?? (type === 'image' ? 'Image' : 'File')
  const size = bytes ?? (data === null ? null : decodedSize(data))
  return (
    <li className="attachment">
      {data !== null && isThumbnail(attachment) ? (
        <img src={`data:${mediaType};base64,${data}`} alt="" width={72} height={72} decoding="async" />
      ) : (
        <FileIcon className="file-icon" />
      )}
      <span className="attachment-name">
        <InlineAgentText text={label} />
        {size !== null && <span className="faint">{formatSize(size)}</span>}
      </span>
      {onRemove && (
        <button type="button" className="text-button remove" onClick={onRemove}>
          Remove<span className="visually-hidden"> {label}</span>
        </button>
      )}
    </li>
  )
}

/** An attachment of a message that was sent. The content of an image is read from the gateway. */
export function SentAttachmentTile({ attachment }: { readonly attachment: Attachment }): ReactNode {
  const data = useAttachmentData(attachment, isThumbnail(attachment))
  return <AttachmentTile attachment={attachment} data={data} bytes={attachment.bytes} />
}

function isThumbnail({ type, mediaType }: Pick<Attachment, 'type' | 'mediaType'>): boolean {
  return type === 'image' && isDisplayableImage(mediaType)
}
