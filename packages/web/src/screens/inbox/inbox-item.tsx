/** One place in the list: a card, before it is near the screen its outline, and once it is resolved its receipt. */
import { actionLabel, summary } from '@holdpoint/client'
import type { Request, RequestId } from '@holdpoint/protocol'
import { memo, type ReactNode, type RefCallback, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { RequestCard } from '../../request/request-card.tsx'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { fadeMs } from './use-request-list.ts'
import './inbox-item.css'

export interface InboxItemProps {
  readonly request: Request
  readonly near: boolean
  readonly active: boolean
  readonly selected: boolean
  readonly leaving: boolean
  /** Left out where it cannot be answered together with others. */
  readonly onSelect?: ((id: RequestId, selected: boolean) => void) | undefined
  readonly onReach: (id: RequestId) => void
  readonly watch: RefCallback<HTMLElement>
}

export const InboxItem = memo(function InboxItem(props: InboxItemProps): ReactNode {
  const { request, near, active, selected, leaving, onSelect, onReach, watch } = props
  const place = useRef<HTMLLIElement>(null)
  const folded = request.status === 'resolved'
  useFold(place, folded, leaving)
  // The same at every drawing, or it would be watched anew each time.
  const attach = useCallback<RefCallback<HTMLLIElement>>(
    element => {
      place.current = element
      return element ? watch(element) : undefined
    },
    [watch],
  )
  return (
    <li
      ref={attach}
      className={`inbox-item ${folded ? 'collapsed' : request.ask.kind} ${active ? 'active' : ''}`}
      data-request={request.id}
      tabIndex={-1}
      aria-current={active || undefined}
      onFocus={() => onReach(request.id)}
    >
      {folded ? (
        <Receipt request={request} named />
      ) : near ? (
        <RequestCard
          request={request}
          named
          active={active}
          selected={selected}
          {...(onSelect && { onSelect: chosen => onSelect(request.id, chosen) })}
        />
      ) : (
        <Outline request={request} />
      )}
    </li>
  )
})

/** Enough of it to be found by the browser's search. */
function Outline({ request: { ask } }: { readonly request: Request }): ReactNode {
  return (
    <div className="card-placeholder">
      <p>{actionLabel(ask)}</p>
      <p className="mono soft agent-background card-placeholder-text">
        <InlineAgentText text={summary(ask)} />
      </p>
    </div>
  )
}

/** How high each card was when it was last on the screen: once it has folded, nobody can ask it. */
const heights = new WeakMap<Element, number>()
const ruler = new ResizeObserver(entries => {
  for (const { target, borderBoxSize } of entries) heights.set(target, borderBoxSize[0]?.blockSize ?? 0)
})

/** Height changes with a short motion, so that the eye can follow what moves. */
function useFold(place: { readonly current: HTMLElement | null }, folded: boolean, leaving: boolean): void {
  const before = useRef(folded)
  useEffect(() => {
    const item = place.current
    if (!item || folded) return
    ruler.observe(item)
    return () => ruler.unobserve(item)
  }, [place, folded])
  useLayoutEffect(() => {
    const item = place.current
    const height = item && heights.get(item)
    if (folded && !before.current && item && height && !isStill())
      item.animate([{ height: `${height}px` }, { height: `${item.offsetHeight}px` }], motion)
    before.current = folded
  }, [place, folded])
  useLayoutEffect(() => {
    const item = place.current
    if (!leaving || !item || isStill()) return
    item.animate(
      [
        { height: `${item.offsetHeight}px`, opacity: 1 },
        { height: '0', opacity: 0 },
      ],
      motion,
    )
  }, [place, leaving])
}

const motion: KeyframeAnimationOptions = { duration: fadeMs, easing: 'ease-out' }

function isStill(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
