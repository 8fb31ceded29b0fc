/** Every session: how it stands, what it said last, what it cost. */
import { limits, type Session, type SessionId } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useNow } from '../../gateway/gateway-context.ts'
import { go } from '../../routes.ts'
import { SearchField } from '../../shortcuts/search-field.tsx'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { NewItemsButton } from '../../ui/new-items-button.tsx'
import { SegmentedFilter } from '../../ui/segmented-filter.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useDebounced } from '../../ui/use-debounced.ts'
import { useHistoryFilter } from '../../ui/use-history-filter.ts'
import { type StateChoice, stateChoices, waitingFirst } from './session-filter.ts'
import { SessionRow } from './session-row.tsx'
import { type SessionList, useSessionList } from './use-session-list.ts'
import './sessions-screen.css'

const everything: { readonly state: StateChoice; readonly typed: string } = { state: 'all', typed: '' }

export function SessionsScreen(): ReactNode {
  const [{ state, typed }, set] = useHistoryFilter(everything)
  const q = useDebounced(typed)
  const list = useSessionList({ state, q })
  return (
    <div className="page sessions">
      <div className="page-head">
        <h1>Sessions</h1>
      </div>
      <div className="page-filter">
        <SearchField
          label="Search sessions"
          value={typed}
          maxLength={limits.nameMax}
          onChange={text => set({ typed: text })}
        />
        <SegmentedFilter
          label="State"
          options={stateChoices}
          value={state}
          onChange={chosen => set({ state: chosen })}
        />
      </div>
      <NewItemsButton count={list.fresh.length} label="new" onShow={list.reload} />
      <Rows list={list} filtered={state !== 'all' || q !== ''} />
    </div>
  )
}

function Rows({ list, filtered }: { readonly list: SessionList; readonly filtered: boolean }): ReactNode {
  const now = useNow(30_000)
  const place = useRef<HTMLUListElement>(null)
  const [active, setActive] = useState<SessionId | null>(null)
  const { loading, problem, more, loadMore, reload, fresh, removeRow } = list
  const [items, hold] = useSteady(list.items)
  const move = (by: 1 | -1) => {
    const at = items.findIndex(session => session.id === active)
    const next = items[Math.max(0, Math.min(items.length - 1, at < 0 ? 0 : at + by))]
    if (!next) return
    setActive(next.id)
    place.current?.querySelector<HTMLElement>(`[data-session="${next.id}"] a`)?.focus()
  }
  useShortcuts({
    next: () => move(1),
    previous: () => move(-1),
    open: active ? () => go({ screen: 'session', id: active }) : undefined,
    more: fresh.length > 0 ? reload : undefined,
  })
  return (
    <>
      <ul ref={place} className="session-list" aria-busy={loading} {...hold}>
        {items.map(session => (
          <SessionRow
            key={session.id}
            session={session}
            now={now}
            active={session.id === active}
            onRemoved={removeRow}
          />
        ))}
      </ul>
      {loading && <Skeleton kind="row" count={items.length > 0 ? 1 : 6} />}
      {problem !== null && (
        <div className="load-error" role="alert">
          <p className="problem">The list could not be read. {errorMessage(problem)}</p>
          <button type="button" className="button" onClick={items.length > 0 ? loadMore : reload}>
            Try again
          </button>
        </div>
      )}
      {!loading && problem === null && items.length === 0 && (
        <div className="empty">
          <p className="soft">{filtered ? 'No session fits this.' : 'There is no session yet.'}</p>
        </div>
      )}
      {more && !loading && problem === null && (
        <button type="button" className="button" onClick={loadMore}>
          Show older ones
        </button>
      )}
    </>
  )
}

/** Those that wait come first, but nothing changes its place while one is at the list. */
function useSteady(sessions: readonly Session[]) {
  const [pointed, setPointed] = useState(false)
  const [focused, setFocused] = useState(false)
  const wanted = useMemo(() => waitingFirst(sessions), [sessions])
  const [standing, setStanding] = useState(wanted)
  if (standing !== wanted && !pointed && !focused) setStanding(wanted)
  const items = useMemo(() => {
    const places = new Map(standing.map((id, at) => [id, at]))
    const placeOf = ({ id }: Session) => places.get(id) ?? standing.length
    return [...sessions].sort((a, b) => placeOf(a) - placeOf(b))
  }, [sessions, standing])
  const hold = {
    onPointerEnter: () => setPointed(true),
    onPointerLeave: () => setPointed(false),
    onFocus: () => setFocused(true),
    onBlur: () => setFocused(false),
  }
  return [items, hold] as const
}
