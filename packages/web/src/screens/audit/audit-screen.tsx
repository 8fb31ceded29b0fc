/** The Audit log screen: every resolved request with its answer, who gave the answer and when, and whether the agent received it; and notices, such as changed rules and credentials. */
import { cutMiddle, labelText, noticeLabel, omissionMarker, sessionName } from '@holdpoint/client'
import { limits, type Session, type SessionId } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useRef } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGatewayTime, useSessions } from '../../gateway/gateway-context.ts'
import { newestFirst } from '../../gateway/session-groups.ts'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { SearchField } from '../../shortcuts/search-field.tsx'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { clockTime } from '../../text/format-time.ts'
import { NewItemsButton } from '../../ui/new-items-button.tsx'
import { SegmentedFilter } from '../../ui/segmented-filter.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useDebounced } from '../../ui/use-debounced.ts'
import { useHistoryFilter } from '../../ui/use-history-filter.ts'
import { commonTexts } from '../texts.ts'
import { auditQuery, byDay, noFilter } from './audit-filter.ts'
import { answerChoices, auditTexts, byChoices, searchProgress } from './texts.ts'
import { type AuditLog, useAuditLog } from './use-audit-log.ts'
import './audit-screen.css'

export function AuditScreen(): ReactNode {
  const [filter, setFilter] = useHistoryFilter(noFilter)
  const q = useDebounced(filter.q)
  const { by, answer, session } = filter
  const query = useMemo(() => auditQuery({ by, answer, session, q }), [by, answer, session, q])
  const log = useAuditLog(query)
  const listRef = useRef<HTMLDivElement>(null)
  const move = (by: 1 | -1) => {
    const rows = [...(listRef.current?.querySelectorAll('summary') ?? [])]
    const current = document.activeElement?.closest('details')
    const index = rows.findIndex(row => row.parentElement === current)
    rows[index < 0 ? 0 : Math.max(0, index + by)]?.focus()
  }
  useShortcuts({
    next: () => move(1),
    previous: () => move(-1),
    more: log.newEntries.length > 0 ? log.showNew : undefined,
  })
  return (
    <div ref={listRef} className="page audit">
      <div className="page-head">
        <h1>{auditTexts.title}</h1>
      </div>
      <div className="page-filter">
        <div className="filter-row">
          <SearchField
            label={auditTexts.search}
            value={filter.q}
            maxLength={limits.nameMax}
            onChange={text => setFilter({ q: text })}
          />
          <SessionSelect value={session} onChange={chosen => setFilter({ session: chosen })} />
        </div>
        <SegmentedFilter
          label={auditTexts.answeredBy}
          options={byChoices}
          value={by}
          onChange={chosen => setFilter({ by: chosen })}
        />
        <SegmentedFilter
          label={auditTexts.answer}
          options={answerChoices}
          value={answer}
          onChange={chosen => setFilter({ answer: chosen })}
        />
      </div>
      <NewItemsButton count={log.newEntries.length} label={commonTexts.newItems} onShow={log.showNew} />
      <Entries log={log} filtered={by !== 'all' || answer !== 'all' || session !== null || q.trim() !== ''} />
    </div>
  )
}

function Entries({ log, filtered }: { readonly log: AuditLog; readonly filtered: boolean }): ReactNode {
  const now = useGatewayTime(60_000)
  const { entries, loading, problem, before, reachedAt, loadMore } = log
  const days = useMemo(() => byDay(entries, now), [entries, now])
  return (
    <>
      {days.map(day => (
        <section key={day.name} className="audit-day receipt-list" aria-label={day.name}>
          <h2 className="section-heading">{day.name}</h2>
          <ul>
            {day.entries.map(entry => (
              <li key={entry.cursor}>
                {entry.kind === 'decision' ? (
                  <Receipt request={entry.value} showSession />
                ) : (
                  <Notice at={entry.at} label={noticeLabel(entry.event) ?? entry.event.type} />
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
      {loading && reachedAt === null && <Skeleton kind="row" count={8} />}
      {loading && reachedAt !== null && (
        <p className="soft small" role="status">
          {searchProgress(reachedAt)}
        </p>
      )}
      {problem !== null && (
        <div className="load-error" role="alert">
          <p className="problem">
            {auditTexts.loadFailed} {errorMessage(problem)}
          </p>
          <button type="button" className="button" onClick={loadMore}>
            {commonTexts.tryAgain}
          </button>
        </div>
      )}
      {!loading && problem === null && entries.length === 0 && (
        <div className="empty">
          <p className="soft">{filtered ? commonTexts.noResults : auditTexts.empty}</p>
        </div>
      )}
      {!loading && problem === null && before !== null && (
        <button type="button" className="button" onClick={loadMore}>
          {auditTexts.showEarlier}
        </button>
      )}
    </>
  )
}

/** One line about something that is not a decision, such as a changed clock. */
function Notice({ at, label }: { readonly at: number; readonly label: string }): ReactNode {
  return (
    <p className="audit-notice">
      <span className="receipt-icon" aria-hidden="true">
        ·
      </span>
      <time>{clockTime(at)}</time>
      <span>{label}</span>
    </p>
  )
}

const optionsMax = 200
const titleMax = 60

function optionText(session: Session): string {
  const { head, omitted, tail } = cutMiddle(sessionName(session), titleMax)
  return `${labelText(head)}${omissionMarker(omitted)}${labelText(tail)}`
}

interface SessionSelectProps {
  readonly value: SessionId | null
  readonly onChange: (session: SessionId | null) => void
}

function SessionSelect({ value, onChange }: SessionSelectProps): ReactNode {
  const sessions = useSessions()
  const sorted = useMemo(() => [...sessions.values()].sort(newestFirst).slice(0, optionsMax), [sessions])
  return (
    <select
      className="input session-select"
      aria-label={auditTexts.session}
      value={value ?? ''}
      onChange={event => onChange(sorted.find(session => session.id === event.target.value)?.id ?? null)}
    >
      <option value="">{auditTexts.allSessions}</option>
      {sorted.map(session => (
        <option key={session.id} value={session.id}>
          {optionText(session)}
        </option>
      ))}
    </select>
  )
}
