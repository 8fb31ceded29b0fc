/** Shows an attachment with its name: an image as a thumbnail, another file as an icon. */
import type { Attachment } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { formatSize } from '../../text/format-amounts.ts'
import { isDisplayableImage } from './attachment-rules.ts'
import './attachment-tile.css'

export interface AttachmentTileProps {
  readonly attachment: Attachment
  readonly onRemove?: () => void
}

export function AttachmentTile({ attachment, onRemove }: AttachmentTileProps): ReactNode {
  const { type, mediaType, data, name } = attachment
  const label = name ?? (type === 'image' ? 'Image' : 'File')
  const isImage = type === 'image' && isDisplayableImage(mediaType)
  return (
    <li className="attachment">
      {isImage ? (
        <img src={`data:${mediaType};base64,${data}`} alt="" width={72} height={72} decoding="async" />
      ) : (
        <span className="file-icon" aria-hidden="true" />
      )}
      <span className="attachment-name">
        <InlineAgentText text={label} />
        <span className="faint">{formatSize(Math.floor((data.length * 3) / 4))}</span>
      </span>
      {onRemove && (
        <button type="button" className="remove" onClick={onRemove}>
          Remove<span className="visually-hidden"> {label}</span>
        </button>
      )}
    </li>
  )
}
