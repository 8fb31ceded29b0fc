/** The Audit log screen: every resolved request with its answer, who gave the answer and when, and whether the agent received it; and notices, such as changed rules and credentials. */
import { noticeLabel, ruleLabel } from '@holdpoint/client'
import type { Event } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useRef } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGatewayTime } from '../../gateway/gateway-context.ts'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { clockTime } from '../../text/format-time.ts'
import { NewItemsButton } from '../../ui/new-items-button.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useDebounced } from '../../ui/use-debounced.ts'
import { useHistoryFilter } from '../../ui/use-history-filter.ts'
import { commonTexts } from '../texts.ts'
import { AuditExport } from './audit-export.tsx'
import { auditQuery, byDay, noFilter } from './audit-filter.ts'
import { AuditFilters } from './audit-filters.tsx'
import { AuditRow } from './audit-row.tsx'
import { auditTexts, searchProgress } from './texts.ts'
import { type AuditLog, useAuditLog } from './use-audit-log.ts'
import { type NamedRule, useNamedRules } from './use-named-rules.ts'
import './audit-screen.css'

export function AuditScreen(): ReactNode {
  const [filter, setFilter] = useHistoryFilter(noFilter)
  const [q, folder] = [useDebounced(filter.q), useDebounced(filter.folder)]
  const { by, answer, session, person, from, to } = filter
  const query = useMemo(
    () => auditQuery({ by, answer, session, person, folder, from, to, q }),
    [by, answer, session, person, folder, from, to, q],
  )
  const isFiltered = Object.keys(query).length > Object.keys(auditQuery(noFilter)).length
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
      <NewItemsButton count={log.newEntries.length} label={commonTexts.newItems} onShow={log.showNew} />
      <div className="page-head">
        <h1>{auditTexts.title}</h1>
        <AuditExport query={query} />
      </div>
      <AuditFilters filter={filter} onChange={setFilter} entries={log.entries} />
      <Entries log={log} filtered={isFiltered} onClear={() => setFilter(noFilter)} />
    </div>
  )
}

interface EntriesProps {
  readonly log: AuditLog
  readonly filtered: boolean
  readonly onClear: () => void
}

function Entries({ log, filtered, onClear }: EntriesProps): ReactNode {
  const now = useGatewayTime(60_000)
  const { entries, loading, problem, before, reachedAt, loadMore } = log
  const rules = useNamedRules(entries)
  const days = useMemo(() => byDay(entries, now), [entries, now])
  // Even a gateway without any request has notices, such as one about the sign-in.
  const isUndecided = !loading && problem === null && before === null && entries.every(({ kind }) => kind === 'notice')
  return (
    <div className="audit-table">
      {isUndecided && !filtered && (
        <p className="audit-empty soft">
          {auditTexts.empty} {auditTexts.emptyHint}
        </p>
      )}
      {entries.length > 0 && (
        <div className="audit-head audit-columns" aria-hidden="true">
          {auditTexts.columns.map(column => (
            <span key={column}>{column}</span>
          ))}
        </div>
      )}
      {days.map(day => (
        <section key={day.name} className="audit-day" aria-label={day.name}>
          <h2 className="section-heading">{day.name}</h2>
          <ul>
            {day.entries.map(entry => (
              <li key={entry.cursor}>
                {entry.kind === 'decision' ? (
                  <AuditRow entry={entry} rule={ruleName(rules.get(entry.resolution.rule ?? ''))} />
                ) : (
                  <Notice at={entry.at} label={noticeText(entry.event, rules)} />
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
      {!loading && problem === null && filtered && entries.length === 0 && <NoResults onClear={onClear} />}
      {!loading && problem === null && before !== null && (
        <button type="button" className="button" onClick={loadMore}>
          {auditTexts.showEarlier}
        </button>
      )}
    </div>
  )
}

function ruleName(named: NamedRule | undefined): string | undefined {
  if (!named) return undefined
  const name = ruleLabel(named.rule)
  return named.isRemoved ? auditTexts.removedRule(name) : auditTexts.rule(name)
}

function noticeText(event: Event, rules: ReadonlyMap<string, NamedRule>): string {
  const removed = event.type === 'rule.removed' ? rules.get(event.rule)?.rule : undefined
  return noticeLabel(event, removed) ?? event.type
}

function NoResults({ onClear }: Pick<EntriesProps, 'onClear'>): ReactNode {
  return (
    <div className="empty">
      <p>{commonTexts.noResults}</p>
      <div className="empty-actions">
        <button type="button" className="button" onClick={onClear}>
          {auditTexts.clear}
        </button>
      </div>
    </div>
  )
}

/** One line about something that is not a decision, such as a changed clock. */
function Notice({ at, label }: { readonly at: number; readonly label: string }): ReactNode {
  return (
    <p className="audit-notice">
      <time className="audit-time">{clockTime(at, at)}</time>
      <span className="audit-notice-mark">{auditTexts.notice}</span>
      <span>{label}</span>
    </p>
  )
}
