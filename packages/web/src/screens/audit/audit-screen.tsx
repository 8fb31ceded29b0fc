/** Every resolution: who or what answered, what, when, and whether it reached the agent. */
import { limits } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useRef } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useNow } from '../../gateway/gateway-context.ts'
import { Receipt } from '../../request/receipt/receipt.tsx'
import { SearchField } from '../../shortcuts/search-field.tsx'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { NewItemsButton } from '../../ui/new-items-button.tsx'
import { SegmentedFilter } from '../../ui/segmented-filter.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useDebounced } from '../../ui/use-debounced.ts'
import { useHistoryFilter } from '../../ui/use-history-filter.ts'
import { answerChoices, auditQuery, byChoices, byDay, everything } from './audit-filter.ts'
import { SessionSelect } from './session-select.tsx'
import { type AuditList, useAuditLog } from './use-audit-log.ts'
import './audit-screen.css'

export function AuditScreen(): ReactNode {
  const [filter, set] = useHistoryFilter(everything)
  const q = useDebounced(filter.q)
  const { by, answer, session } = filter
  const question = useMemo(() => auditQuery({ by, answer, session, q }), [by, answer, session, q])
  const record = useAuditLog(question)
  const place = useRef<HTMLDivElement>(null)
  const move = (by: 1 | -1) => {
    const lines = [...(place.current?.querySelectorAll('summary') ?? [])]
    const here = document.activeElement?.closest('details')
    const at = lines.findIndex(line => line.parentElement === here)
    lines[at < 0 ? 0 : Math.max(0, at + by)]?.focus()
  }
  useShortcuts({
    next: () => move(1),
    previous: () => move(-1),
    more: record.fresh.length > 0 ? record.takeFresh : undefined,
  })
  return (
    <div ref={place} className="page record">
      <div className="page-head">
        <h1>Record</h1>
      </div>
      <div className="page-filter">
        <div className="filter-row">
          <SearchField
            label="Search the record"
            value={filter.q}
            maxLength={limits.nameMax}
            onChange={text => set({ q: text })}
          />
          <SessionSelect value={session} onChange={chosen => set({ session: chosen })} />
        </div>
        <SegmentedFilter label="By whom" options={byChoices} value={by} onChange={chosen => set({ by: chosen })} />
        <SegmentedFilter
          label="What"
          options={answerChoices}
          value={answer}
          onChange={chosen => set({ answer: chosen })}
        />
      </div>
      <NewItemsButton count={record.fresh.length} label="new" onShow={record.takeFresh} />
      <Lines record={record} filtered={Object.keys(question).length > 0} />
    </div>
  )
}

function Lines({ record, filtered }: { readonly record: AuditList; readonly filtered: boolean }): ReactNode {
  const now = useNow(60_000)
  const { lines, loading, problem, before, reached, loadMore } = record
  const days = useMemo(() => byDay(lines, now), [lines, now])
  return (
    <>
      {days.map(day => (
        <section key={day.name} className="audit-day receipt-list" aria-label={day.name}>
          <h2 className="section-heading">{day.name}</h2>
          <ul>
            {day.lines.map(line => (
              <li key={line.cursor}>
                <Receipt request={line.value} showSession />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {loading && reached === null && <Skeleton kind="row" count={8} />}
      {loading && reached !== null && (
        <p className="soft small" role="status">
          Reading further back, from {new Date(reached).toLocaleDateString()}…
        </p>
      )}
      {problem !== null && (
        <div className="load-error" role="alert">
          <p className="problem">The record could not be read. {errorMessage(problem)}</p>
          <button type="button" className="button" onClick={loadMore}>
            Try again
          </button>
        </div>
      )}
      {!loading && problem === null && lines.length === 0 && (
        <div className="empty">
          <p className="soft">{filtered ? 'Nothing in the record fits this.' : 'Nothing has been resolved yet.'}</p>
        </div>
      )}
      {!loading && problem === null && before !== null && (
        <button type="button" className="button" onClick={loadMore}>
          Show earlier ones
        </button>
      )}
    </>
  )
}
