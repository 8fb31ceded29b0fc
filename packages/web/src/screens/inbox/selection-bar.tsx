/** The bar below the list of a narrow screen while requests are selected. It opens the review of the selected requests. */
import type { ReactNode } from 'react'
import { batchTexts, reviewTexts } from './texts.ts'
import type { Selection } from './use-selection.ts'
import './selection-bar.css'

export interface SelectionBarProps {
  readonly selection: Pick<Selection, 'selected' | 'clear'>
  readonly onReview: () => void
}

export function SelectionBar({ selection: { selected, clear }, onReview }: SelectionBarProps): ReactNode {
  if (selected.size === 0) return null
  return (
    <div className="selection-bar" role="toolbar" aria-label={batchTexts.selection}>
      <span>{reviewTexts.selected(selected.size)}</span>
      <button type="button" className="button plain" onClick={clear}>
        {reviewTexts.clear}
      </button>
      <button type="button" className="button primary" onClick={onReview}>
        {reviewTexts.review(selected.size)}
      </button>
    </div>
  )
}
