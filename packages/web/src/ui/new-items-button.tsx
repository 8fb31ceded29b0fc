/** A button that shows the number of new items. The items appear only when a person presses the button, so that the list does not jump. */
import type { ReactNode } from 'react'
import './new-items-button.css'

export interface NewItemsButtonProps {
  readonly count: number
  readonly label?: string
  readonly onShow: () => void
}

export function NewItemsButton({ count, label = 'more', onShow }: NewItemsButtonProps): ReactNode {
  return (
    <div className="new-items" role="status">
      {count > 0 && (
        <button type="button" className="button new-items-button" onClick={onShow}>
          {count} {label} <kbd className="kbd letter-key">.</kbd>
        </button>
      )}
    </div>
  )
}
