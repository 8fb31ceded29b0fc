/** The inbox screen: all pending requests of all sessions, most urgent first, each with the controls to answer it. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useGateway, useInboxPart } from '../../gateway/gateway-context.ts'
import { ShortcutsDisabled } from '../../request/shortcut.tsx'
import { cardActionsOf } from '../../shortcuts/card-actions.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { isInView, requireInView } from '../../shortcuts/viewport.ts'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { NewItemsButton } from '../../ui/new-items-button.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { AskToNotify } from './ask-to-notify.tsx'
import { BatchBar } from './batch-bar.tsx'
import { InboxEmpty } from './inbox-empty.tsx'
import { InboxItem } from './inbox-item.tsx'
import { JustResolved } from './just-resolved.tsx'
import { nextPending } from './list-order.ts'
import { batchProblem } from './selection.ts'
import { inboxTitle, listTexts } from './texts.ts'
import { type Activate, useActive } from './use-active.ts'
import { type RequestList, useRequestList } from './use-request-list.ts'
import { type Selection, useSelection } from './use-selection.ts'
import { itemOf, useVisibility, type Visibility } from './use-visibility.ts'
import './inbox-screen.css'

/** Offers are rarely shown, so they are not part of the first screen. */
const HistoryOffers = lazyComponent(
  async () => (await import('./history-offer.tsx')).HistoryOffers,
  () => null,
)

/** This many cards at the start of the list are always rendered in full. The others follow when they become active or come near the screen. */
const renderedFirst = 4

export interface InboxScreenProps {
  /** The request that a notification linked to. */
  readonly linked: RequestId | null
}

export function InboxScreen({ linked }: InboxScreenProps): ReactNode {
  const visibility = useVisibility()
  const list = useRequestList(visibility.isOnScreen)
  const selection = useSelection(list.ids, list.requests, visibility.seen)
  const listRef = useRef<HTMLOListElement>(null)
  const [active, activate] = useActive(list, listRef, linked)
  const connecting = useInboxPart(snapshot => snapshot.status === 'connecting')
  const complete = useInboxPart(snapshot => snapshot.complete)
  const pendingCount = useInboxPart(snapshot => snapshot.pendingCount)
  const [endHovered, setEndHovered] = useState(false)
  const holdEnd = list.setEndHovered
  const onEndHover = useCallback(
    (hovered: boolean) => {
      setEndHovered(hovered)
      holdEnd(hovered)
    },
    [holdEnd],
  )
  const newBelow = useNewBelow(list, visibility.seen, complete && !connecting)
  const newCount = list.held.length + newBelow.length
  const showNew = useCallback(() => {
    list.showHeld()
    const next = list.held[0] ?? newBelow[0]
    if (next) requestAnimationFrame(() => activate(next, true))
  }, [list.showHeld, list.held, newBelow, activate])
  const selectedRequests = useMemo(
    () => [...selection.selected].flatMap(id => list.requests.get(id) ?? []),
    [selection.selected, list.requests],
  )
  useInboxShortcuts({ list, selection, active, activate, listRef, showNew: newCount > 0 ? showNew : undefined })
  if (connecting)
    return (
      <div className="page inbox">
        <Skeleton kind="card" />
      </div>
    )
  return (
    <div className="page inbox">
      {pendingCount > 0 || list.ids.length > 0 ? (
        <h1 className="inbox-title">{inboxTitle(pendingCount)}</h1>
      ) : (
        <InboxEmpty />
      )}
      <NewItemsButton count={newCount} onShow={showNew} />
      <AskToNotify />
      <RequestItems {...{ list, visibility, selection, active, activate, listRef }} />
      {!complete && (
        <p className="soft small" role="status">
          Loading more…
        </p>
      )}
      <HistoryOffers requests={list.requests} isBelowHovered={endHovered} />
      <JustResolved requests={list.requests} shown={list.ids} onHover={onEndHover} />
      <div className="inbox-footer">
        <BatchBar
          requests={selectedRequests}
          known={list.requests}
          active={active}
          isOnScreen={id => isInView(itemOf(listRef.current, id))}
          onClear={selection.clear}
        />
      </div>
    </div>
  )
}

interface ListProps {
  readonly list: RequestList
  readonly selection: Selection
  readonly active: RequestId | null
  readonly activate: Activate
  readonly listRef: RefObject<HTMLOListElement | null>
}

function RequestItems(props: ListProps & { readonly visibility: Visibility }): ReactNode {
  const { list, visibility, selection, active, activate, listRef } = props
  return (
    <>
      <h2 className="visually-hidden">{listTexts.heading}</h2>
      <ol
        ref={listRef}
        className="requests"
        aria-label={listTexts.label}
        onPointerMove={list.noteActivity}
        onKeyDown={list.noteActivity}
      >
        <ShortcutsDisabled value={selection.selected.size > 0}>
          {list.ids.map((id, index) => {
            const request = list.requests.get(id)
            if (!request) return null
            return (
              <InboxItem
                key={id}
                request={request}
                near={index < renderedFirst || visibility.near.has(id) || id === active}
                active={id === active}
                selected={selection.selected.has(id)}
                leaving={list.leaving.has(id)}
                onSelect={batchProblem(request) === null ? selection.select : undefined}
                onActivate={activate}
                watch={visibility.watch}
              />
            )
          })}
        </ShortcutsDisabled>
      </ol>
    </>
  )
}

function useInboxShortcuts(props: ListProps & { readonly showNew: (() => void) | undefined }): void {
  const { list, selection, active, activate, listRef, showNew } = props
  const isPending = (id: RequestId) => list.requests.get(id)?.status === 'pending'
  useShortcuts({
    next: () => activate(nextPending(list.ids, active, 1, isPending), true),
    previous: () => activate(nextPending(list.ids, active, -1, isPending), true),
    open: () => active && cardActionsOf(active)?.open?.(),
    select: () => active && selection.toggle(active),
    range: () => active && selection.extend(active),
    more: showNew,
    escape: selection.selected.size > 0 ? selection.clear : active ? () => activate(null, true) : undefined,
    active: () => {
      const request = active && list.requests.get(active)
      return request ? requireInView(request, itemOf(listRef.current, request.id)) : null
    },
  })
}

/** Returns the listed requests that arrived after the inbox was opened and have not been on screen yet. They are further down the list. */
function useNewBelow(
  { ids, requests }: { readonly ids: readonly RequestId[]; readonly requests: ReadonlyMap<RequestId, Request> },
  seen: ReadonlySet<RequestId>,
  complete: boolean,
): readonly RequestId[] {
  const { inbox } = useGateway()
  const known = useRef<ReadonlySet<RequestId> | null>(null)
  useEffect(() => {
    // Requests that the inbox is still loading do not count as new.
    if (!complete) known.current = null
    else known.current ??= new Set(inbox.getSnapshot().order)
  }, [inbox, complete])
  return useMemo(
    () =>
      known.current
        ? ids.filter(id => !known.current?.has(id) && !seen.has(id) && requests.get(id)?.status === 'pending')
        : [],
    [ids, requests, seen],
  )
}
