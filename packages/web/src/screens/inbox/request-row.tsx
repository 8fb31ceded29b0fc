/** A row of the inbox: one request in two short lines while it is pending, a receipt once it is resolved. */
import { actionLabel, sessionName, shownRisk, summary, timeSince } from '@holdpoint/client'
import type { Request, RequestId } from '@holdpoint/protocol'
import { type MouseEvent, memo, type ReactNode, type RefCallback, useCallback, useLayoutEffect, useRef } from 'react'
import { useGatewayTime, useInboxPart } from '../../gateway/gateway-context.ts'
import { deadlineLabel } from '../../request/deadline-labels.ts'
import { KindIcon } from '../../request/kind-icon.tsx'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { RiskIcon, RiskWords } from '../../request/risk.tsx'
import { cardTexts } from '../../request/texts.ts'
import { href } from '../../routes.ts'
import { InlineAgentText, SummaryText } from '../../text/agent-text.tsx'
import { dateTime } from '../../text/format-time.ts'
import { Path } from '../../text/path.tsx'
import type { Grouping } from './request-groups.ts'
import { fadeMs } from './use-request-list.ts'
import './request-row.css'

export interface RequestRowProps {
  readonly request: Request
  /** True once the row has come near the screen. Until then, only its text is rendered. */
  readonly near: boolean
  readonly active: boolean
  /** True if the card of this request is shown. */
  readonly shown: boolean
  /** True if the Tab key stops at this row. */
  readonly isTabStop: boolean
  readonly selected: boolean
  readonly leaving: boolean
  /** The head of the row's group says what the row then leaves out. */
  readonly grouping: Grouping
  /** Undefined if the request can't be part of a batch. */
  readonly onSelect?: ((id: RequestId, selected: boolean) => void) | undefined
  readonly onActivate: (id: RequestId) => void
  readonly onOpen: (id: RequestId) => void
  readonly watch: RefCallback<HTMLElement>
}

export const RequestRow = memo(function RequestRow(props: RequestRowProps): ReactNode {
  const { request, near, active, shown, selected, leaving, onActivate, watch } = props
  const itemRef = useRef<HTMLLIElement>(null)
  const isResolved = request.status === 'resolved'
  useLeavingAnimation(itemRef, leaving)
  // The callback must be stable, because React would detach and attach the observers at every render if the callback changed.
  const attach = useCallback<RefCallback<HTMLLIElement>>(
    element => {
      itemRef.current = element
      return element ? watch(element) : undefined
    },
    [watch],
  )
  const classes = [
    'request-row',
    active && 'active',
    shown && 'shown',
    selected && 'selected',
    isResolved && 'resolved',
  ]
  return (
    <li
      ref={attach}
      className={classes.filter(Boolean).join(' ')}
      data-request={request.id}
      tabIndex={-1}
      aria-current={active || undefined}
      onFocus={() => !isResolved && onActivate(request.id)}
    >
      {isResolved ? (
        <Receipt request={request} showSession />
      ) : near ? (
        <PendingRow {...props} />
      ) : (
        <FarRow {...props} />
      )}
    </li>
  )
})

/** The text of a row that is far off screen, so that the browser's find-in-page finds it. */
function FarRow({ request }: Pick<RequestRowProps, 'request'>): ReactNode {
  return <SummaryText summary={summary(request.ask)} className="row-what" />
}

function PendingRow({ request, isTabStop, selected, grouping, onSelect, onOpen }: RequestRowProps): ReactNode {
  const { id, ask } = request
  const risk = shownRisk(request)
  const tabIndex = isTabStop ? 0 : -1
  const short = summary(ask)
  const onClick = (event: MouseEvent) => {
    // The browser opens the link in another tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    onOpen(id)
  }
  return (
    <>
      {onSelect ? (
        <label className="row-select select">
          <input
            type="checkbox"
            checked={selected}
            tabIndex={tabIndex}
            onChange={event => onSelect(id, event.target.checked)}
          />
          <span className="visually-hidden">{cardTexts.select(actionLabel(ask))}</span>
        </label>
      ) : (
        <span className="row-select" />
      )}
      <a className="request-link" href={href({ screen: 'inbox', request: id })} tabIndex={tabIndex} onClick={onClick}>
        {risk ? <RiskIcon level={risk.level} /> : <KindIcon kind={ask.kind} />}
        <SummaryText summary={short} className={`row-what ${short.isCode ? 'mono' : ''}`} />
        <RowTimes request={request} />
        <span className="row-who">
          <span className={`row-label ${risk?.level ?? ''}`}>
            {risk ? <RiskWords risk={risk} /> : actionLabel(ask)}
          </span>
          {grouping !== 'session' && <RowSession request={request} />}
          {/* A command or a path says what it does. Any other text is the agent's own, so our label goes with it. */}
          {risk && (!short.isCode || grouping === 'session') && <RowAction label={actionLabel(ask)} />}
          {grouping === 'none' && <RowFolder request={request} />}
        </span>
      </a>
    </>
  )
}

function RowAction({ label }: { readonly label: string }): ReactNode {
  return (
    <span className="row-fact">
      <span>{label}</span>
    </span>
  )
}

function RowSession({ request: { session: id } }: Pick<RequestRowProps, 'request'>): ReactNode {
  const session = useInboxPart(({ sessions }) => sessions.get(id))
  return (
    session && (
      <span className="row-fact">
        <InlineAgentText text={sessionName(session)} className="row-session" oneLine />
      </span>
    )
  )
}

function RowFolder({ request: { session: id } }: Pick<RequestRowProps, 'request'>): ReactNode {
  const folder = useInboxPart(({ sessions }) => sessions.get(id)?.cwd)
  return (
    folder && (
      <span className="row-fact row-folder-fact">
        <Path path={folder} className="request-folder mono" />
      </span>
    )
  )
}

/** How long the agent has waited, and how long it will still wait. */
function RowTimes({ request }: Pick<RequestRowProps, 'request'>): ReactNode {
  const hasDeadline = request.deadlineAt !== null
  return (
    <>
      {hasDeadline && <RowDeadline request={request} />}
      <RowAge at={request.openedAt} isSecond={hasDeadline} />
    </>
  )
}

function RowDeadline({ request }: Pick<RequestRowProps, 'request'>): ReactNode {
  const now = useGatewayTime(1000)
  const label = deadlineLabel(request, now)
  return (
    label && (
      <span className={`row-deadline ${label.urgent ? 'urgent' : ''}`} title={label.afterwards}>
        {label.text}
      </span>
    )
  )
}

function RowAge({ at, isSecond }: { readonly at: number; readonly isSecond: boolean }): ReactNode {
  const now = useGatewayTime(10_000)
  return (
    <time
      className={`row-age ${isSecond ? 'second' : ''}`}
      dateTime={new Date(at).toISOString()}
      title={cardTexts.askedAt(dateTime(at))}
    >
      {timeSince(at, now)}
    </time>
  )
}

/** Animates the height of a receipt that leaves the list, so that the person can follow the change. */
function useLeavingAnimation(itemRef: { readonly current: HTMLElement | null }, leaving: boolean): void {
  useLayoutEffect(() => {
    const item = itemRef.current
    if (!leaving || !item || matchMedia('(prefers-reduced-motion: reduce)').matches) return
    item.animate(
      [
        { height: `${item.offsetHeight}px`, opacity: 1 },
        { height: '0', opacity: 0 },
      ],
      { duration: fadeMs, easing: 'ease-out' },
    )
  }, [itemRef, leaving])
}
