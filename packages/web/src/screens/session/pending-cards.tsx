/** The session's pending requests above the composer, in the order of the inbox. Keyboard shortcuts apply to the focused card, or to the first card if none is focused. */
import type { Request, RequestId, SessionId } from '@holdpoint/protocol'
import { memo, type ReactNode, useLayoutEffect, useMemo, useState } from 'react'
import { useGateway, useRequests } from '../../gateway/gateway-context.ts'
import { RequestCard } from '../../request/request-card.tsx'
import { cardActionsOf } from '../../shortcuts/card-actions.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { bringIntoView, isOnScreen, requireInView } from '../../shortcuts/viewport.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'
import { orderRequests } from '../inbox/list-order.ts'
import { cardAnchor } from './status-lines.tsx'
import { transcriptTexts } from './texts.ts'
import './pending-cards.css'

/** The session screen shows at most this many cards. Further requests are only in the inbox. */
const cardsMax = 20

export const PendingCards = memo(function PendingCards({ session }: { readonly session: SessionId }): ReactNode {
  const pending = usePendingIn(session)
  const [focused, setFocused] = useState<RequestId | null>(null)
  const shown = pending.slice(0, cardsMax)
  const index = Math.max(
    0,
    shown.findIndex(({ id }) => id === focused),
  )
  const active = shown[index] ?? null
  const move = (by: number) => {
    const next = shown[index + by] ?? active
    const card = next && cardElement(next)
    if (card) bringIntoView(card)
  }
  const pendingIds = pending.map(({ id }) => id).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another card may now be under the pointer, so every change starts the cooldown
  useLayoutEffect(startCooldown, [pendingIds])
  useShortcuts({
    active: () => active && requireInView(active, cardElement(active)),
    open: active ? () => cardActionsOf(active.id)?.open?.() : undefined,
    next: active ? () => move(1) : undefined,
    previous: active ? () => move(-1) : undefined,
  })
  if (pending.length === 0) return null
  return (
    <section className="pending-cards" aria-label={transcriptTexts.waitingForYou}>
      <h2 className="visually-hidden">{transcriptTexts.waitingForYou}</h2>
      {shown.map(request => (
        // biome-ignore lint/a11y/noStaticElementInteractions: this element only tracks whether the card inside has the focus
        <div
          key={request.id}
          id={cardAnchor(request.id)}
          tabIndex={-1}
          className="pending-card"
          onFocus={() => setFocused(request.id)}
        >
          <RequestCard request={request} showSession={false} active={request.id === active?.id} />
        </div>
      ))}
      {pending.length > cardsMax && <p className="small soft">{pending.length - cardsMax} more in the inbox.</p>}
    </section>
  )
})

/** Returns the element around a request card. Focusing this element makes the card active. */
function cardElement({ id }: Pick<Request, 'id'>): HTMLElement | null {
  return document.getElementById(cardAnchor(id))
}

/** Returns the pending requests of a session. As in the inbox, a new request never moves the cards on screen. */
function usePendingIn(session: SessionId): readonly Request[] {
  const { inbox } = useGateway()
  const requests = useRequests()
  const pending = useMemo(
    () => inbox.getSnapshot().order.filter(id => requests.get(id)?.session === session),
    [inbox, requests, session],
  )
  const [ids, setIds] = useState<readonly RequestId[]>(pending)
  useLayoutEffect(() => {
    const update = () =>
      setIds(shown => {
        const isVisible = document.visibilityState === 'visible' && inbox.getSnapshot().complete
        const expired = new Set(shown.filter(id => !pending.includes(id)))
        const isCardOnScreen = (id: RequestId) => isOnScreen(cardElement({ id }))
        return orderRequests(shown, pending, { isVisible, isEndHovered: false, expired, isOnScreen: isCardOnScreen })
      })
    update()
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [inbox, pending])
  return useMemo(() => ids.flatMap(id => requests.get(id) ?? []).filter(isPending), [ids, requests])
}

function isPending({ status }: Request): boolean {
  return status === 'pending'
}
