/** What this session waits for, over the composer: the one that has waited longest first, and keys go to the one that has the focus, else to the first. */
import type { Request, RequestId, SessionId } from '@holdpoint/protocol'
import { memo, type ReactNode, useLayoutEffect, useMemo, useState } from 'react'
import { useRequests } from '../../gateway/gateway-context.ts'
import { RequestCard } from '../../request/request-card.tsx'
import { cardActionsOf } from '../../shortcuts/card-actions.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { bringIntoView, requireInView } from '../../shortcuts/viewport.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'
import { cardAnchor } from './status-lines.tsx'
import './pending-cards.css'

/** More than these are answered in the inbox, where there is room. */
const cardsMax = 20

export const PendingCards = memo(function PendingCards({ session }: { readonly session: SessionId }): ReactNode {
  const requests = useRequests()
  const waiting = useMemo(() => waitingIn(requests.values(), session), [requests, session])
  const [chosen, setChosen] = useState<RequestId | null>(null)
  const shown = waiting.slice(0, cardsMax)
  const at = Math.max(
    0,
    shown.findIndex(({ id }) => id === chosen),
  )
  const active = shown[at] ?? null
  const move = (step: number) => {
    const next = shown[at + step] ?? active
    const place = next && placeOf(next)
    if (place) bringIntoView(place)
  }
  const standing = waiting.map(({ id }) => id).join()
  // Another card may stand now where the hand is: for a moment nothing is decided.
  // biome-ignore lint/correctness/useExhaustiveDependencies: noted whenever others stand there
  useLayoutEffect(startCooldown, [standing])
  useShortcuts({
    active: () => active && requireInView(active, placeOf(active)),
    open: active ? () => cardActionsOf(active.id)?.open?.() : undefined,
    next: active ? () => move(1) : undefined,
    previous: active ? () => move(-1) : undefined,
  })
  if (waiting.length === 0) return null
  return (
    <section className="pending-cards" aria-label="Waits for you">
      <h2 className="visually-hidden">Waits for you</h2>
      {shown.map(request => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the card inside is what is used; this only notes that it has the focus
        <div
          key={request.id}
          id={cardAnchor(request.id)}
          tabIndex={-1}
          className="pending-card"
          onFocus={() => setChosen(request.id)}
        >
          <RequestCard request={request} showSession={false} active={request.id === active?.id} />
        </div>
      ))}
      {waiting.length > cardsMax && <p className="small soft">{waiting.length - cardsMax} more wait in the inbox.</p>}
    </section>
  )
})

/** Whoever puts the focus there makes it the active one. */
function placeOf({ id }: Request): HTMLElement | null {
  return document.getElementById(cardAnchor(id))
}

function waitingIn(requests: Iterable<Request>, session: SessionId): readonly Request[] {
  const waiting = [...requests].filter(request => request.session === session && request.status === 'pending')
  return waiting.sort((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1))
}
