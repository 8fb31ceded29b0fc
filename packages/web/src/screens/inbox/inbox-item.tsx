/** An item of the inbox: a card while pending (a placeholder until it is near the screen), a receipt once resolved. */
import { actionLabel, summary } from '@holdpoint/client'
import type { Request, RequestId } from '@holdpoint/protocol'
import { memo, type ReactNode, type RefCallback, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { RequestCard } from '../../request/request-card.tsx'
import { RiskBadge } from '../../request/risk.tsx'
import { SummaryText } from '../../text/agent-text.tsx'
import { fadeMs } from './use-request-list.ts'
import './inbox-item.css'

export interface InboxItemProps {
  readonly request: Request
  readonly near: boolean
  readonly active: boolean
  readonly selected: boolean
  readonly leaving: boolean
  /** Undefined if the request can't be part of a batch. */
  readonly onSelect?: ((id: RequestId, selected: boolean) => void) | undefined
  readonly onActivate: (id: RequestId) => void
  readonly watch: RefCallback<HTMLElement>
}

export const InboxItem = memo(function InboxItem(props: InboxItemProps): ReactNode {
  const { request, near, active, selected, leaving, onSelect, onActivate, watch } = props
  const itemRef = useRef<HTMLLIElement>(null)
  const collapsed = request.status === 'resolved'
  useHeightAnimation(itemRef, collapsed, leaving)
  // The callback must be stable, because React would detach and attach the observers at every render if the callback changed.
  const attach = useCallback<RefCallback<HTMLLIElement>>(
    element => {
      itemRef.current = element
      return element ? watch(element) : undefined
    },
    [watch],
  )
  return (
    <li
      ref={attach}
      className={`inbox-item ${collapsed ? 'collapsed receipt-list' : request.ask.kind} ${active ? 'active' : ''}`}
      data-request={request.id}
      tabIndex={-1}
      aria-current={active || undefined}
      onFocus={() => onActivate(request.id)}
    >
      {collapsed ? (
        <Receipt request={request} showSession />
      ) : near ? (
        <RequestCard
          request={request}
          showSession
          active={active}
          selected={selected}
          {...(onSelect && { onSelect: chosen => onSelect(request.id, chosen) })}
        />
      ) : (
        <CardPlaceholder request={request} />
      )}
    </li>
  )
})

/** A placeholder for a card that is far off screen. Its text lets the browser's find-in-page find the request. */
function CardPlaceholder({ request: { ask, risk } }: { readonly request: Request }): ReactNode {
  return (
    <div className="card-placeholder">
      <p>
        {actionLabel(ask)} {risk && <RiskBadge level={risk.level} />}
      </p>
      <p className="mono soft agent-background card-placeholder-text">
        <SummaryText summary={summary(ask)} />
      </p>
    </div>
  )
}

/** The last measured height of each card. After a card has collapsed, its full height can no longer be measured. */
const heights = new WeakMap<Element, number>()
const heightObserver = new ResizeObserver(entries => {
  for (const { target, borderBoxSize } of entries) heights.set(target, borderBoxSize[0]?.blockSize ?? 0)
})

/** Animates the height of a card that collapses or leaves the list, so that the person can follow the change. */
function useHeightAnimation(
  itemRef: { readonly current: HTMLElement | null },
  collapsed: boolean,
  leaving: boolean,
): void {
  const wasCollapsed = useRef(collapsed)
  useEffect(() => {
    const item = itemRef.current
    if (!item || collapsed) return
    heightObserver.observe(item)
    return () => heightObserver.unobserve(item)
  }, [itemRef, collapsed])
  useLayoutEffect(() => {
    const item = itemRef.current
    const height = item && heights.get(item)
    if (collapsed && !wasCollapsed.current && item && height && !prefersReducedMotion())
      item.animate([{ height: `${height}px` }, { height: `${item.offsetHeight}px` }], motion)
    wasCollapsed.current = collapsed
  }, [itemRef, collapsed])
  useLayoutEffect(() => {
    const item = itemRef.current
    if (!leaving || !item || prefersReducedMotion()) return
    item.animate(
      [
        { height: `${item.offsetHeight}px`, opacity: 1 },
        { height: '0', opacity: 0 },
      ],
      motion,
    )
  }, [itemRef, leaving])
}

const motion: KeyframeAnimationOptions = { duration: fadeMs, easing: 'ease-out' }

function prefersReducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
