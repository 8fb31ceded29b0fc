/** The pending requests of a session: a row for each if there are several, and the card of the shown one. Keyboard shortcuts act on this card. */
import { actionLabel, shownRisk } from '@holdpoint/client'
import type { Request, RequestId } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter does not know this export of React 19.2
import { Activity, memo, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { cardElementId } from '../../request/card-panel.tsx'
import { KindIcon } from '../../request/kind-icon.tsx'
import { RequestCard } from '../../request/request-card.tsx'
import { RiskIcon, RiskWords } from '../../request/risk.tsx'
import { cardActionsOf } from '../../shortcuts/card-actions.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { requireInView } from '../../shortcuts/viewport.ts'
import { startCooldown } from '../../ui/input-cooldown.ts'
import { RequestSummary } from './status-lines.tsx'
import { sessionPanelTexts, transcriptTexts } from './texts.ts'
import '../../request/fitted-card.css'
import './pending-cards.css'
import type { Panel } from './use-panel.ts'
import type { PendingRequests } from './use-pending-requests.ts'

/** The session screen lists at most this many requests. Further requests are only in the inbox. */
const rowsMax = 20
/** How many of the cards that the person opened last stay mounted, so that they keep what is not part of a draft: secrets, open panels and scroll positions. */
const keptMax = 12

export interface PendingCardsProps {
  readonly requests: PendingRequests
  readonly panel: Pick<Panel, 'isSheet' | 'tab' | 'show'>
}

export const PendingCards = memo(function PendingCards({ requests, panel }: PendingCardsProps): ReactNode {
  const { pending, shown, show } = requests
  /** True if the person moved to another request with a key, so that its card takes the focus. */
  const wantsFocus = useRef(false)
  const isOpen = panel.tab === 'requests'
  const openCards = useOpenCards(pending, shown)
  const shownId = shown?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: another card is now under the pointer, so every change starts the cooldown
  useLayoutEffect(startCooldown, [shownId, isOpen])
  const move = (by: number) => {
    panel.show('requests')
    const next = pending[pending.findIndex(({ id }) => id === shownId) + by]
    if (next) show(next.id)
    wantsFocus.current = next !== undefined
  }
  useLayoutEffect(() => {
    if (wantsFocus.current && shownId) cardElement(shownId)?.focus({ preventScroll: true })
    wantsFocus.current = false
  }, [shownId])
  useShortcuts({
    active: () => {
      if (!shown) return null
      panel.show('requests')
      return requireInView(shown, cardElement(shown.id))
    },
    open: shown && isOpen ? () => cardActionsOf(shown.id)?.open?.() : undefined,
    next: shown ? () => move(1) : undefined,
    previous: shown ? () => move(-1) : undefined,
  })
  return (
    <section className="pending-cards" aria-label={transcriptTexts.waitingForYou} hidden={!isOpen}>
      <h2 className="visually-hidden">{transcriptTexts.waitingForYou}</h2>
      {pending.length > 1 &&
        (panel.isSheet ? (
          <PendingSteps {...{ pending, shownId, show }} />
        ) : (
          <PendingRows {...{ pending, shownId, show }} />
        ))}
      <div className="pending-card fitted-card">
        {openCards.map(request => (
          <Activity key={request.id} mode={request.id === shownId ? 'visible' : 'hidden'}>
            <RequestCard request={request} showSession={false} active={request.id === shownId} />
          </Activity>
        ))}
      </div>
    </section>
  )
})

function cardElement(id: RequestId): HTMLElement | null {
  return document.getElementById(cardElementId(id))
}

/** Returns the requests whose cards stay mounted: the shown one, and those that were shown before. */
function useOpenCards(pending: readonly Request[], shown: Request | null): readonly Request[] {
  const [opened, setOpened] = useState<readonly RequestId[]>([])
  if (shown && !opened.includes(shown.id)) setOpened([...opened, shown.id].slice(-keptMax))
  return pending.filter(({ id }) => opened.includes(id) || id === shown?.id)
}

interface PendingRowsProps {
  readonly pending: readonly Request[]
  readonly shownId: RequestId | undefined
  readonly show: (id: RequestId) => void
}

/** Buttons for the request before and after the shown one. They take less space of a sheet than a row for each request. */
function PendingSteps({ pending, shownId, show }: PendingRowsProps): ReactNode {
  const index = pending.findIndex(({ id }) => id === shownId)
  const step = (by: 1 | -1, label: string) => {
    const target = pending[index + by]
    return (
      <button type="button" className="button small" disabled={!target} onClick={() => target && show(target.id)}>
        {label}
      </button>
    )
  }
  return (
    <div className="pending-steps">
      <span className="small soft">{sessionPanelTexts.position(index + 1, pending.length)}</span>
      {step(-1, sessionPanelTexts.previous)}
      {step(1, sessionPanelTexts.next)}
    </div>
  )
}

function PendingRows({ pending, shownId, show }: PendingRowsProps): ReactNode {
  return (
    <ul className="pending-rows" aria-label={sessionPanelTexts.pendingList}>
      {pending.slice(0, rowsMax).map(request => (
        <PendingRow key={request.id} request={request} isShown={request.id === shownId} show={show} />
      ))}
      {pending.length > rowsMax && (
        <li className="small soft">{sessionPanelTexts.moreInInbox(pending.length - rowsMax)}</li>
      )}
    </ul>
  )
}

interface PendingRowProps {
  readonly request: Request
  readonly isShown: boolean
  readonly show: (id: RequestId) => void
}

function PendingRow({ request, isShown, show }: PendingRowProps): ReactNode {
  const { id, ask } = request
  const risk = shownRisk(request)
  return (
    <li data-request={id}>
      <button type="button" className="pending-row" aria-current={isShown} onClick={() => show(id)}>
        {risk ? <RiskIcon level={risk.level} /> : <KindIcon kind={ask.kind} />}
        <RequestSummary ask={ask} className="pending-row-summary" />
        <span className={`pending-row-action ${risk?.level ?? ''}`}>
          {risk ? <RiskWords risk={risk} /> : actionLabel(ask)}
        </span>
      </button>
    </li>
  )
}
