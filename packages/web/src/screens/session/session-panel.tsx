/** The panel of the session screen, with tabs for the pending requests and the overview. */
import { type PointerEvent, type ReactNode, useRef } from 'react'
import { PendingCards } from './pending-cards.tsx'
import { sessionPanelTexts } from './texts.ts'
import type { Panel } from './use-panel.ts'
import type { PendingRequests } from './use-pending-requests.ts'
import './session-panel.css'

export interface SessionPanelProps {
  readonly panel: Panel
  readonly requests: PendingRequests
  readonly onSearch: () => void
  /** The overview of the session. */
  readonly children: ReactNode
}

export function SessionPanel({ panel, requests, onSearch, children }: SessionPanelProps): ReactNode {
  const { isSheet, tab } = panel
  if (tab === null && !isSheet) return null
  return (
    <aside
      className={`session-panel ${isSheet ? 'sheet' : 'column'} ${tab ?? 'lowered'}`}
      aria-label={sessionPanelTexts.label}
    >
      <PanelBar panel={panel} pending={requests.pending.length} onSearch={onSearch} />
      {requests.pending.length > 0 && <PendingCards requests={requests} panel={panel} />}
      {tab === 'overview' && children}
    </aside>
  )
}

interface PanelBarProps {
  readonly panel: Panel
  readonly pending: number
  readonly onSearch: () => void
}

function PanelBar({ panel, pending, onSearch }: PanelBarProps): ReactNode {
  const { isSheet, tab, show, close } = panel
  const drag = useLowerByDragging(close)
  return (
    <div className="panel-bar" {...(isSheet && tab !== null && drag)}>
      {isSheet && tab !== null && <span className="panel-grip" aria-hidden="true" />}
      {pending > 0 && (
        <button
          type="button"
          className="panel-tab waiting"
          aria-pressed={tab === 'requests'}
          onClick={() => show('requests')}
        >
          {sessionPanelTexts.requests} <span className="count">{pending}</span>
        </button>
      )}
      <button type="button" className="panel-tab" aria-pressed={tab === 'overview'} onClick={() => show('overview')}>
        {sessionPanelTexts.overview}
      </button>
      {isSheet && (
        <button type="button" className="panel-tab" onClick={onSearch}>
          {sessionPanelTexts.search}
        </button>
      )}
      {isSheet && tab !== null && (
        <button type="button" className="button plain small panel-lower" onClick={close}>
          {sessionPanelTexts.lower}
        </button>
      )}
    </div>
  )
}

/** The sheet is lowered if its bar is dragged down at least this far. */
const dragPx = 48
/** A shorter movement may belong to a tap on a tab. */
const tapPx = 6

/** Lowers the sheet when its bar is dragged down. Dragging never answers a request. */
function useLowerByDragging(onLower: () => void) {
  const start = useRef<number | null>(null)
  const end = () => {
    start.current = null
  }
  return {
    onPointerDown: (event: PointerEvent) => {
      start.current = event.clientY
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (start.current === null) return
      const distance = event.clientY - start.current
      // Follow the pointer after it leaves the bar.
      if (Math.abs(distance) > tapPx) event.currentTarget.setPointerCapture(event.pointerId)
      if (distance < dragPx) return
      end()
      onLower()
    },
    onPointerUp: end,
    onPointerCancel: end,
  }
}
