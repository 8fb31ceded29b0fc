/** Something sent along with a message: a picture as a small one of a fixed size, anything else by its name. */
import type { Attachment } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { formatSize } from '../../text/format-amounts.ts'
import { showable } from './attachment-rules.ts'
import './attachment-tile.css'

export interface AttachmentTileProps {
  readonly attachment: Attachment
  readonly onRemove?: () => void
}

export function AttachmentTile({ attachment, onRemove }: AttachmentTileProps): ReactNode {
  const { type, mediaType, data, name } = attachment
  const called = name ?? (type === 'image' ? 'Picture' : 'File')
  const picture = type === 'image' && showable(mediaType)
  return (
    <li className="attachment">
      {picture ? (
        <img src={`data:${mediaType};base64,${data}`} alt="" width={72} height={72} decoding="async" />
      ) : (
        <span className="file-icon" aria-hidden="true" />
      )}
      <span className="attachment-name">
        <InlineAgentText text={called} />
        <span className="faint">{formatSize(Math.floor((data.length * 3) / 4))}</span>
      </span>
      {onRemove && (
        <button type="button" className="remove" onClick={onRemove}>
          Remove<span className="visually-hidden"> {called}</span>
        </button>
      )}
    </li>
  )
}
