/** The right side of the inbox: the open request, or the review of the selected requests. */
import ChevronLeftIcon from 'lucide-react/icons/chevron-left'
import type { ReactNode } from 'react'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { RequestDetail } from './request-detail.tsx'
import { detailTexts } from './texts.ts'
import type { BatchSend } from './use-batch-send.ts'
import type { OpenRequest } from './use-open-request.ts'
import type { RequestList } from './use-request-list.ts'
import type { Selection } from './use-selection.ts'

/** Few visits need a batch, so the review is not part of the first screen. */
const BatchReview = lazyComponent(async () => (await import('./batch-review.tsx')).BatchReview)

export interface InboxDetailProps {
  readonly list: RequestList
  readonly selection: Selection
  readonly opened: OpenRequest
  readonly batchSend: BatchSend
  readonly similarCount: number
  readonly onSimilar: () => void
  /** True if the selected requests are shown instead of a card. */
  readonly isReviewing: boolean
  readonly waiting: number
  /** Returns to the list. Undefined if the list is beside this. */
  readonly onBack: (() => void) | undefined
}

export function InboxDetail(props: InboxDetailProps): ReactNode {
  const { list, selection, opened, batchSend, similarCount, onSimilar, isReviewing, waiting, onBack } = props
  const { active, shown, activate } = opened
  const selected = [...selection.selected].flatMap(id => list.requests.get(id) ?? [])
  return (
    <section className="inbox-detail" aria-label={detailTexts.region}>
      {isReviewing && onBack && (
        <button type="button" className="button plain small detail-back" onClick={onBack}>
          <ChevronLeftIcon /> {detailTexts.back}
        </button>
      )}
      {isReviewing && selected.length > 0 && (
        <BatchReview
          requests={selected}
          leftOut={selection.leftOut}
          onRemove={id => selection.select(id, false)}
          onClear={selection.clear}
          {...{ active, batchSend }}
        />
      )}
      <RequestDetail
        requests={list.requests}
        shown={isReviewing ? null : shown}
        active={shown !== null && shown === active}
        onFocus={activate}
        {...{ similarCount, onSimilar, onBack, waiting }}
      />
    </section>
  )
}
