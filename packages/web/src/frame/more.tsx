/** Says that more has come, instead of pushing: one press shows it. */
import type { ReactNode } from 'react'

export interface MoreProps {
  readonly count: number
  readonly what?: string
  readonly onShow: () => void
}

export function More({ count, what = 'more', onShow }: MoreProps): ReactNode {
  return (
    <div className="more-place" role="status">
      {count > 0 && (
        <button type="button" className="button more-button" onClick={onShow}>
          {count} {what} <kbd className="kbd">.</kbd>
        </button>
      )}
    </div>
  )
}
