/** A comment below its line: the text, or the field in which the person writes it. Its keys never send an answer. */
import { limits } from '@holdpoint/protocol'
import type { KeyboardEvent, ReactNode } from 'react'
import { Sentences } from '../../text/prose.tsx'
import { useAutoFocus } from '../card-panel.tsx'
import { commentTexts } from './texts.ts'

export interface CommentBoxProps {
  /** Says where the comment belongs. */
  readonly label: string
  readonly text: string
  readonly isEditing: boolean
  readonly readOnly: boolean
  readonly onOpen: () => void
  readonly onText: (text: string) => void
  /** Closes the field, and moves the focus back to the line. */
  readonly close: () => void
}

export function CommentBox(props: CommentBoxProps): ReactNode {
  const { text, isEditing, readOnly, onOpen, onText, close } = props
  const remove = () => {
    onText('')
    close()
  }
  return (
    <div className="comment-box">
      {isEditing ? <CommentField {...props} /> : <Sentences text={text} />}
      <div className="comment-actions">
        {isEditing ? (
          <button type="button" className="button small" onClick={close}>
            {commentTexts.done}
          </button>
        ) : (
          <button type="button" className="button plain small" disabled={readOnly} onClick={onOpen}>
            {commentTexts.edit}
          </button>
        )}
        {text !== '' && (
          <button type="button" className="button plain small" disabled={readOnly} onClick={remove}>
            {commentTexts.remove}
          </button>
        )}
      </div>
    </div>
  )
}

function CommentField({ label, text, readOnly, onText, close }: CommentBoxProps): ReactNode {
  const field = useAutoFocus<HTMLTextAreaElement>(true)
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, nativeEvent } = event
    if (nativeEvent.isComposing || (key !== 'Escape' && !(key === 'Enter' && (ctrlKey || metaKey)))) return
    event.preventDefault()
    close()
  }
  return (
    <textarea
      ref={field}
      className="input"
      dir="auto"
      rows={2}
      maxLength={limits.commentMax}
      aria-label={label}
      placeholder={commentTexts.placeholder}
      value={text}
      readOnly={readOnly}
      onChange={event => onText(event.target.value)}
      onKeyDown={onKeyDown}
    />
  )
}
