/** The panel above the inbox that says what happened while the person was away. It appears only when the pointer is not over the list, because it moves the list down. */
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { useRequests } from '../../../gateway/gateway-context.ts'
import { href } from '../../../routes.ts'
import type { Away } from '../../../storage/last-visit.ts'
import { InlineAgentText, SummaryText } from '../../../text/agent-text.tsx'
import { clockTime } from '../../../text/format-time.ts'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
import type { AwayEntry, AwayGroup } from './away-summary.ts'
import { awayTexts } from './texts.ts'
import { type AwaySummary, useAwaySummary } from './use-away-summary.ts'
import './away-panel.css'

export interface AwayPanelProps {
  readonly away: Away
  /** Whether the panel opens by itself, because nothing else needs the space. */
  readonly isRoomy: boolean
  readonly onDismiss: () => void
}

export function AwayPanel({ away, isRoomy, onDismiss }: AwayPanelProps): ReactNode {
  const summary = useAwaySummary(away)
  const anchor = useRef<HTMLDivElement>(null)
  const isShown = useMayMoveList(summary !== null, anchor)
  if (!summary || !isShown) return <div ref={anchor} hidden />
  return summary.groups.length === 0 ? null : <Panel {...{ away, summary, isRoomy, onDismiss }} />
}

/** Returns true as soon as the panel may move the list, because nobody points at the list. If the panel is ready when the list is first drawn, it moves nothing. */
function useMayMoveList(isReady: boolean, anchor: RefObject<HTMLElement | null>): boolean {
  const [isCalm, setCalm] = useState(isReady)
  useEffect(() => {
    const list = anchor.current?.closest('.inbox-list')
    if (!isReady || isCalm || !list) return
    // A finger leaves no pointer over the list, but `:hover` stays after a tap.
    const isPointedAt = list.matches(matchMedia('(hover: hover)').matches ? ':hover' : ':active')
    const onLeave = () => setCalm(true)
    if (!isPointedAt) onLeave()
    list.addEventListener('pointerleave', onLeave)
    return () => list.removeEventListener('pointerleave', onLeave)
  }, [isReady, isCalm, anchor])
  return isCalm
}

interface PanelProps extends AwayPanelProps {
  readonly summary: AwaySummary
}

function Panel({ away, summary: { groups, isComplete }, isRoomy, onDismiss }: PanelProps): ReactNode {
  const [isOpen, setOpen] = useState(isRoomy)
  return (
    <section className="away" aria-label={awayTexts.title}>
      <div className="away-head">
        <h2>
          <button type="button" className="away-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <DisclosureIcon />
            {awayTexts.title}
            <span className="away-duration">{awayTexts.duration(away)}</span>
          </button>
        </h2>
        <button type="button" className="button plain small" onClick={onDismiss}>
          {awayTexts.dismiss}
        </button>
      </div>
      <p className="away-counts">
        {groups.map(({ name, count }) => (
          <span key={name} className={`away-count ${name}`}>
            {awayTexts.groups[name].count(isComplete || name !== 'answered' ? String(count) : `${count}+`)}
          </span>
        ))}
      </p>
      {isOpen && (
        <div className="away-groups">
          {groups.map(group => (
            <Group key={group.name} group={group} isComplete={isComplete} />
          ))}
        </div>
      )}
    </section>
  )
}

function Group({ group, isComplete }: { readonly group: AwayGroup; readonly isComplete: boolean }): ReactNode {
  const { name, count, entries } = group
  const isCut = name !== 'answered' ? count > entries.length : !isComplete || count > entries.length
  return (
    <section className={`away-group ${name}`}>
      <h3 className="section-heading">{awayTexts.groups[name].title}</h3>
      <ul>
        {entries.map(entry => (
          <li key={entry.key}>
            <Entry entry={entry} />
          </li>
        ))}
      </ul>
      {isCut && <More {...group} />}
    </section>
  )
}

function More({ name, count, entries }: AwayGroup): ReactNode {
  if (name === 'asked') return <p className="away-more">{awayTexts.moreBelow(count - entries.length)}</p>
  const isAboutSessions = name === 'failed' || name === 'finished'
  return (
    <a className="away-more" href={href({ screen: isAboutSessions ? 'sessions' : 'audit' })}>
      {isAboutSessions ? awayTexts.moreInSessions : awayTexts.moreInAudit}
    </a>
  )
}

/** A link to the request while it is pending, and otherwise to its session. */
function Entry({ entry }: { readonly entry: AwayEntry }): ReactNode {
  const { at, session, request, what, note, detail } = entry
  const requests = useRequests()
  const isPending = request !== null && requests.get(request)?.status === 'pending'
  return (
    <a
      className="away-entry"
      href={isPending ? href({ screen: 'inbox', request }) : href({ screen: 'session', id: session })}
    >
      {typeof what === 'string' ? (
        <InlineAgentText text={what} className="away-what" oneLine />
      ) : (
        <SummaryText summary={what} className={`away-what ${what.isCode ? 'mono' : ''}`} />
      )}
      <time className="away-time" dateTime={new Date(at).toISOString()}>
        {clockTime(at)}
      </time>
      <span className="away-note">
        <span className="away-outcome">{note}</span>
        {detail !== '' && <InlineAgentText text={detail} className="away-detail" oneLine />}
      </span>
    </a>
  )
}
