/** Everything that waits, of every session, oldest first; answered right here. */
import type { RequestId } from '@holdpoint/protocol'
import { type ReactNode, useCallback, useMemo, useRef } from 'react'
import { KeysElsewhere } from '../cards/key-hint.tsx'
import { More } from '../frame/more.tsx'
import { Skeleton } from '../frame/skeleton.tsx'
import { useInboxPart } from '../gateway-context.ts'
import { cardActionsOf } from '../habits/card-keys.ts'
import { isBeforeEyes, seenFirst } from '../habits/eyes.ts'
import { useKeys } from '../habits/use-keys.ts'
import { step } from './arrange.ts'
import { AskToNotify } from './ask-to-notify.tsx'
import { BatchBar } from './batch-bar.tsx'
import { Empty } from './empty.tsx'
import { InboxItem } from './inbox-item.tsx'
import { JustResolved } from './just-resolved.tsx'
import { whyAlone } from './selection.ts'
import { itemOf, useSight } from './sight.ts'
import { useActive } from './use-active.ts'
import { useBelow } from './use-below.ts'
import { useSelection } from './use-selection.ts'
import { useShown } from './use-shown.ts'

/** What the first look falls on is drawn in full at once. */
const firstDrawn = 4

export interface InboxScreenProps {
  /** The request that a notification named. */
  readonly wanted: RequestId | null
}

export function InboxScreen({ wanted }: InboxScreenProps): ReactNode {
  const list = useShown()
  const sight = useSight()
  const selection = useSelection(list.ids, list.requests, sight.seen)
  const place = useRef<HTMLOListElement>(null)
  const [active, reach] = useActive(list, place, wanted)
  const connecting = useInboxPart(snapshot => snapshot.status === 'connecting')
  const complete = useInboxPart(snapshot => snapshot.complete)
  const waiting = useInboxPart(snapshot => snapshot.pendingCount)
  const below = useBelow(list.ids, list.requests, sight.seen, complete && !connecting)
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
  useKeys({
    next: () => reach(step(list.ids, active, 1, waits), true),
    previous: () => reach(step(list.ids, active, -1, waits), true),
    open: () => active && cardActionsOf(active)?.open?.(),
    select: () => active && selection.toggle(active),
    range: () => active && selection.extend(active),
    more: list.held.length + below.length > 0 ? more : undefined,
    escape: chosen.length > 0 ? selection.clear : active ? () => reach(null, true) : undefined,
    active: () => {
      const request = active && list.requests.get(active)
      return request ? seenFirst(request, itemOf(place.current, request.id)) : null
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
      {waiting > 0 || list.ids.length > 0 ? <h1 className="inbox-title">{waitingWords(waiting)}</h1> : <Empty />}
      <More count={list.held.length + below.length} onShow={more} />
      <AskToNotify />
      <h2 className="offscreen">Oldest first</h2>
      <ol
        ref={place}
        className="requests"
        aria-label="Requests that wait, oldest first"
        onPointerMove={list.stir}
        onKeyDown={list.stir}
      >
        <KeysElsewhere value={chosen.length > 0}>
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
                onSelect={whyAlone(request) === null ? selection.choose : undefined}
                onReach={reach}
                watch={sight.watch}
              />
            )
          })}
        </KeysElsewhere>
      </ol>
      {!complete && (
        <p className="soft small" role="status">
          Fetching the rest…
        </p>
      )}
      <JustResolved requests={list.requests} shown={list.ids} onHover={list.holdEnd} />
      <div className="inbox-foot">
        <BatchBar
          requests={chosen}
          known={list.requests}
          active={active}
          isSeen={id => isBeforeEyes(itemOf(place.current, id))}
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
