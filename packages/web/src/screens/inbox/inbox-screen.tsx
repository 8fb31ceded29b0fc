/** The inbox screen: a dense list of all pending requests, most urgent first, beside the open request. On a narrow screen, the open request covers the list. */
import type { RequestId, SessionId } from '@holdpoint/protocol'
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { cardElementId } from '../../request/card-panel.tsx'
import { backToList, openFromList, replaceRoute } from '../../routes.ts'
import { cardActionsOf } from '../../shortcuts/card-actions.ts'
import { useScreenActions } from '../../shortcuts/screen-actions.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { requireInView } from '../../shortcuts/viewport.ts'
import { useAway } from '../../storage/last-visit.ts'
import { useWaitingCount } from '../../storage/muted-sessions.ts'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useMediaQuery } from '../../ui/use-media-query.ts'
import { AskToNotify } from './ask-to-notify.tsx'
import { BatchOutcomeView } from './batch-outcome.tsx'
import { InboxDetail } from './inbox-detail.tsx'
import { InboxEmpty } from './inbox-empty.tsx'
import { JustResolved } from './just-resolved.tsx'
import { ListHeader, type UnnoticedRequests } from './list-header.tsx'
import { nextPending } from './list-order.ts'
import { MutedItems, RequestItems } from './request-items.tsx'
import { batchProblem } from './selection.ts'
import { SelectionBar } from './selection-bar.tsx'
import { similarTo } from './similar-requests.ts'
import { listTexts } from './texts.ts'
import { useBatchSend } from './use-batch-send.ts'
import { type InboxView, useInboxView } from './use-inbox-view.ts'
import { type OpenRequest, useOpenRequest } from './use-open-request.ts'
import { type RequestList, useRequestList } from './use-request-list.ts'
import { type Selection, useSelection } from './use-selection.ts'
import { useUnnoticed } from './use-unnoticed.ts'
import { useVisibility } from './use-visibility.ts'
import './inbox-screen.css'

/** Offers are rarely shown, so they are not part of the first screen. */
const HistoryOffers = lazyComponent(
  async () => (await import('./history-offer.tsx')).HistoryOffers,
  () => null,
)

const AwayPanel = lazyComponent(
  async () => (await import('./away/away-panel.tsx')).AwayPanel,
  () => null,
)

/** Says what happened while the person was away, until they dismiss it. */
function AwayNote({ isRoomy }: { readonly isRoomy: boolean }): ReactNode {
  const [away, dismiss] = useAway()
  return away && <AwayPanel key={away.to} {...{ away, isRoomy }} onDismiss={dismiss} />
}

export interface InboxScreenProps {
  /** The request in the URL. */
  readonly linked: RequestId | null
  /** True if the URL asks for the review of the selected requests. */
  readonly review: boolean
}

const none: readonly RequestId[] = []
/** The list and the open request are side by side from this width. */
const wideQuery = '(min-width: 900px)'

export function InboxScreen({ linked, review }: InboxScreenProps): ReactNode {
  const isWide = useMediaQuery(wideQuery)
  const visibility = useVisibility()
  const view = useInboxView()
  const list = useRequestList(view, visibility.isOnScreen)
  const [mutedOpen, setMutedOpen] = useState(false)
  const mutedShown = mutedOpen ? view.muted : none
  const ids = useMemo(() => [...list.ids, ...mutedShown], [list.ids, mutedShown])
  const selection = useSelection(ids, list.requests, visibility.seen)
  const listRef = useRef<HTMLElement>(null)
  const opened = useOpenRequest({ list, ids, listRef, linked, isWide })
  const connecting = useInboxPart(snapshot => snapshot.status === 'connecting')
  const complete = useInboxPart(snapshot => snapshot.complete)
  const pendingCount = useInboxPart(snapshot => snapshot.pendingCount)
  const waiting = useWaitingCount()
  const [endHovered, onEndHover] = useEndHovered(list)
  const showNew = useNewRequests(list, view.pending, visibility.seen, opened, complete && !connecting)
  const isCovered = !isWide && (linked !== null || review)
  const onScroll = useKeptScroll(listRef, isCovered)
  const showReview = useReview(selection, review, isWide)
  const batchSend = useBatchSend()
  const similar = useSimilar(opened, ids, list)
  const selectSimilar = similar.length > 0 ? () => showReview(similar) : undefined
  useInboxShortcuts({ list, ids, selection, opened, isCovered, showNew, selectSimilar })
  const onReviewSession = reviewSession(ids, list, showReview)
  const open = opened.shown && list.requests.get(opened.shown)
  useScreenActions({ reviewSession: open ? () => onReviewSession(open.session) : undefined })
  if (connecting) return <LoadingInbox />
  const { outcome, closeOutcome } = batchSend
  const onFound = () =>
    opened.activate(
      nextPending(list.ids, null, 1, id => view.pending.includes(id)),
      true,
    )
  const isEmpty = pendingCount === 0 && list.ids.length === 0
  const rows = { view, list, selection, opened, visibility, onReviewSession }
  return (
    <div className={`inbox ${isEmpty ? 'page' : 'split'} ${isCovered ? 'covered' : ''}`}>
      <section ref={listRef} className="inbox-list" aria-label={listTexts.region} onScroll={onScroll}>
        <AwayNote isRoomy={isEmpty} />
        {isEmpty ? <InboxEmpty /> : <ListHeader {...{ view, waiting, showNew, onFound }} />}
        {outcome && <BatchOutcomeView outcome={outcome} known={list.requests} onClose={closeOutcome} />}
        <RequestItems {...rows} />
        <ListNotes view={view} complete={complete} isEmpty={isEmpty} />
        <MutedItems {...rows} isOpen={mutedOpen} onToggle={() => setMutedOpen(!mutedOpen)} />
        <AskToNotify />
        <HistoryOffers requests={list.requests} isBelowHovered={endHovered} />
        <JustResolved requests={list.requests} shown={list.ids} onHover={onEndHover} />
        {!isWide && <SelectionBar selection={selection} onReview={() => openFromList({ review: true })} />}
      </section>
      {!isEmpty && (isWide || isCovered) && (
        <InboxDetail
          {...{ list, selection, opened, batchSend }}
          similarCount={similar.length - 1}
          onSimilar={() => showReview(similar)}
          isReviewing={isWide ? selection.selected.size > 0 : review}
          waiting={waiting}
          onBack={isWide ? undefined : backToList}
        />
      )}
    </div>
  )
}

function LoadingInbox(): ReactNode {
  return (
    <div className="page inbox">
      <Skeleton kind="card" />
    </div>
  )
}

/** Says that requests are still loading, or that none matches the filter. */
function ListNotes(props: {
  readonly view: InboxView
  readonly complete: boolean
  readonly isEmpty: boolean
}): ReactNode {
  const { view, complete, isEmpty } = props
  const isFiltered = view.kind !== 'all' || view.search !== ''
  if (!complete)
    return (
      <p className="list-note soft small" role="status">
        {listTexts.loading}
      </p>
    )
  if (isEmpty || !isFiltered || view.pending.length > 0) return null
  const showAll = () => {
    view.setKind('all')
    view.setSearch('')
  }
  return (
    <p className="list-note soft small" role="status">
      {listTexts.noMatch}{' '}
      <button type="button" className="button plain small" onClick={showAll}>
        {listTexts.showAll}
      </button>
    </p>
  )
}

/** Tracks whether the pointer is over the section below the list. The list then adds no requests, which would move that section. */
function useEndHovered({ setEndHovered }: RequestList): readonly [boolean, (hovered: boolean) => void] {
  const [hovered, setHovered] = useState(false)
  const onHover = useCallback(
    (next: boolean) => {
      setHovered(next)
      setEndHovered(next)
    },
    [setEndHovered],
  )
  return [hovered, onHover]
}

/** Keeps the scroll position of the list while it is covered. A covered list is higher, so the browser would scroll back from its end. */
function useKeptScroll(listRef: RefObject<HTMLElement | null>, isCovered: boolean): () => void {
  const kept = useRef(0)
  useLayoutEffect(() => {
    if (listRef.current && !isCovered) listRef.current.scrollTop = kept.current
  }, [listRef, isCovered])
  return () => {
    if (!isCovered) kept.current = listRef.current?.scrollTop ?? 0
  }
}

/** Selects requests and shows what each of them will run. */
function useReview(selection: Selection, review: boolean, isWide: boolean): (ids: readonly RequestId[]) => void {
  const { replace } = selection
  const isNeedless = review && (isWide || selection.selected.size === 0)
  useEffect(() => {
    if (isNeedless) replaceRoute({ screen: 'inbox' })
  }, [isNeedless])
  return useCallback(
    (ids: readonly RequestId[]) => {
      replace(ids)
      if (!isWide) openFromList({ review: true })
    },
    [replace, isWide],
  )
}

function reviewSession(ids: readonly RequestId[], list: RequestList, showReview: (ids: readonly RequestId[]) => void) {
  return (session: SessionId) => showReview(ids.filter(id => list.requests.get(id)?.session === session))
}

/** Returns the shown request and the pending requests that are like it, if they can be answered together. */
function useSimilar(
  { shown }: OpenRequest,
  ids: readonly RequestId[],
  { requests }: RequestList,
): readonly RequestId[] {
  return useMemo(() => {
    const request = shown && requests.get(shown)
    if (!request || batchProblem(request) !== null) return none
    const others = similarTo(request, ids, requests).filter(other => batchProblem(other) === null)
    return others.length > 0 ? [request.id, ...others.map(({ id }) => id)] : none
  }, [shown, ids, requests])
}

/** Counts the requests that arrived after the inbox was opened and that the person has not seen yet, because the list holds them back, or because they are further down than they belong. */
function useNewRequests(
  list: RequestList,
  order: readonly RequestId[],
  seen: ReadonlySet<RequestId>,
  { activate }: OpenRequest,
  complete: boolean,
): UnnoticedRequests {
  const below = useUnnoticed(list, order, seen, complete)
  const { held, showHeld } = list
  const show = useCallback(() => {
    showHeld()
    const next = order.find(id => held.includes(id) || below.includes(id))
    if (next) requestAnimationFrame(() => activate(next, true))
  }, [showHeld, order, held, below, activate])
  return { count: held.length + below.length, show }
}

interface InboxShortcutsOptions {
  readonly list: RequestList
  readonly ids: readonly RequestId[]
  readonly selection: Selection
  readonly opened: OpenRequest
  /** True if the open card covers the list. */
  readonly isCovered: boolean
  readonly showNew: UnnoticedRequests
  readonly selectSimilar: (() => void) | undefined
}

function useInboxShortcuts(options: InboxShortcutsOptions): void {
  const { list, ids, selection, opened, isCovered, showNew, selectSimilar } = options
  const { active, shown, activate, open } = opened
  const isPending = (id: RequestId) => list.requests.get(id)?.status === 'pending'
  const leave = active ? () => activate(null, true) : undefined
  useShortcuts({
    next: () => activate(nextPending(ids, active, 1, isPending), true),
    previous: () => activate(nextPending(ids, active, -1, isPending), true),
    open: () => {
      if (active && active !== shown) open(active)
      else if (active) cardActionsOf(active)?.open?.()
    },
    select: () => active && selection.toggle(active),
    range: () => active && selection.extend(active),
    similar: active && active === shown ? selectSimilar : undefined,
    more: showNew.count > 0 ? showNew.show : undefined,
    escape: selection.selected.size > 0 ? selection.clear : isCovered ? backToList : leave,
    active: () => {
      const request = active && active === shown ? list.requests.get(active) : null
      return request ? requireInView(request, document.getElementById(cardElementId(request.id))) : null
    },
  })
}
