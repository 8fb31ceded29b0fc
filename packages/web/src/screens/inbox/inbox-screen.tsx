/** Everything that waits, of every session, oldest first; answered right here. */
import type { RequestId } from '@holdpoint/protocol'
import { type ReactNode, useCallback, useMemo, useRef } from 'react'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { ShortcutsDisabled } from '../../request/shortcut.tsx'
import { cardActionsOf } from '../../shortcuts/card-actions.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { isInView, requireInView } from '../../shortcuts/viewport.ts'
import { NewItemsButton } from '../../ui/new-items-button.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { AskToNotify } from './ask-to-notify.tsx'
import { BatchBar } from './batch-bar.tsx'
import { InboxEmpty } from './inbox-empty.tsx'
import { InboxItem } from './inbox-item.tsx'
import { JustResolved } from './just-resolved.tsx'
import { step } from './list-order.ts'
import { batchProblem } from './selection.ts'
import { useActive } from './use-active.ts'
import { useNewBelow } from './use-new-below.ts'
import { useRequestList } from './use-request-list.ts'
import { useSelection } from './use-selection.ts'
import { itemOf, useVisibility } from './use-visibility.ts'
import './inbox-screen.css'

/** What the first look falls on is drawn in full at once. */
const firstDrawn = 4

export interface InboxScreenProps {
  /** The request that a notification named. */
  readonly wanted: RequestId | null
}

export function InboxScreen({ wanted }: InboxScreenProps): ReactNode {
  const list = useRequestList()
  const sight = useVisibility()
  const selection = useSelection(list.ids, list.requests, sight.seen)
  const place = useRef<HTMLOListElement>(null)
  const [active, reach] = useActive(list, place, wanted)
  const connecting = useInboxPart(snapshot => snapshot.status === 'connecting')
  const complete = useInboxPart(snapshot => snapshot.complete)
  const waiting = useInboxPart(snapshot => snapshot.pendingCount)
  const below = useNewBelow(list.ids, list.requests, sight.seen, complete && !connecting)
  const more = useCallback(() => {
    list.takeHeld()
    const next = list.held[0] ?? below[0]
    if (next) requestAnimationFrame(() => reach(next, true))
  }, [list.takeHeld, list.held, below, reach])
  const chosen = useMemo(
    () => [...selection.chosen].flatMap(id => list.requests.get(id) ?? []),
    [selection.chosen, list.requests],
  )
  const waits = (id: RequestId) => list.requests.get(id)?.status === 'pending'
  useShortcuts({
    next: () => reach(step(list.ids, active, 1, waits), true),
    previous: () => reach(step(list.ids, active, -1, waits), true),
    open: () => active && cardActionsOf(active)?.open?.(),
    select: () => active && selection.toggle(active),
    range: () => active && selection.extend(active),
    more: list.held.length + below.length > 0 ? more : undefined,
    escape: chosen.length > 0 ? selection.clear : active ? () => reach(null, true) : undefined,
    active: () => {
      const request = active && list.requests.get(active)
      return request ? requireInView(request, itemOf(place.current, request.id)) : null
    },
  })
  if (connecting)
    return (
      <div className="page inbox">
        <Skeleton kind="card" />
      </div>
    )
  return (
    <div className="page inbox">
      {waiting > 0 || list.ids.length > 0 ? <h1 className="inbox-title">{waitingWords(waiting)}</h1> : <InboxEmpty />}
      <NewItemsButton count={list.held.length + below.length} onShow={more} />
      <AskToNotify />
      <h2 className="visually-hidden">Oldest first</h2>
      <ol
        ref={place}
        className="requests"
        aria-label="Requests that wait, oldest first"
        onPointerMove={list.stir}
        onKeyDown={list.stir}
      >
        <ShortcutsDisabled value={chosen.length > 0}>
          {list.ids.map((id, at) => {
            const request = list.requests.get(id)
            if (!request) return null
            return (
              <InboxItem
                key={id}
                request={request}
                near={at < firstDrawn || sight.near.has(id) || id === active}
                active={id === active}
                selected={selection.chosen.has(id)}
                leaving={list.leaving.has(id)}
                onSelect={batchProblem(request) === null ? selection.choose : undefined}
                onReach={reach}
                watch={sight.watch}
              />
            )
          })}
        </ShortcutsDisabled>
      </ol>
      {!complete && (
        <p className="soft small" role="status">
          Fetching the rest…
        </p>
      )}
      <JustResolved requests={list.requests} shown={list.ids} onHover={list.holdEnd} />
      <div className="inbox-footer">
        <BatchBar
          requests={chosen}
          known={list.requests}
          active={active}
          isSeen={id => isInView(itemOf(place.current, id))}
          onClear={selection.clear}
        />
      </div>
    </div>
  )
}

function waitingWords(count: number): string {
  if (count === 0) return 'Nothing waits for you'
  return count === 1 ? '1 request waits for you' : `${count} requests wait for you`
}
