/** Says that more has come, instead of pushing: one press shows it. */
import type { ReactNode } from 'react'
import './new-items-button.css'

export interface NewItemsButtonProps {
  readonly count: number
  readonly what?: string
  readonly onShow: () => void
}

export function NewItemsButton({ count, what = 'more', onShow }: NewItemsButtonProps): ReactNode {
  return (
    <div className="new-items" role="status">
      {count > 0 && (
        <button type="button" className="button new-items-button" onClick={onShow}>
          {count} {what} <kbd className="kbd">.</kbd>
        </button>
      )}
    </div>
  )
}
