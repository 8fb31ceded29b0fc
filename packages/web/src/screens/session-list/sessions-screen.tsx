/** The Sessions screen: a list of all sessions with state, last message and cost. */
import { limits, type Session, type SessionId } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGatewayTime, useMay, useSessions } from '../../gateway/gateway-context.ts'
import { go } from '../../routes.ts'
import { SearchField } from '../../shortcuts/search-field.tsx'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { usePreference, writePreference } from '../../storage/preferences.ts'
import { useIsUnread, useMarkAllRead } from '../../storage/read-sessions.ts'
import { formatCost } from '../../text/format-amounts.ts'
import { Path } from '../../text/path.tsx'
import { NewItemsButton } from '../../ui/new-items-button.tsx'
import { SegmentedFilter } from '../../ui/segmented-filter.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useDebounced } from '../../ui/use-debounced.ts'
import { useHistoryFilter } from '../../ui/use-history-filter.ts'
import { openDialog } from '../shell/open-dialog.ts'
import { stopTexts } from '../shell/texts.ts'
import { commonTexts } from '../texts.ts'
import { byProject, type Project, type StateChoice, waitingFirst } from './session-filter.ts'
import { SessionRow } from './session-row.tsx'
import { arrangements, sessionListTexts, stateChoices, waitedText } from './texts.ts'
import { type SessionList, useSessionList } from './use-session-list.ts'
import './sessions-screen.css'

const noFilter: { readonly state: StateChoice; readonly typed: string } = { state: 'all', typed: '' }

export function SessionsScreen(): ReactNode {
  const [{ state, typed }, setFilter] = useHistoryFilter(noFilter)
  const q = useDebounced(typed)
  const list = useSessionList({ state, q })
  const may = useMay()
  const arrangement = usePreference('sessionArrangement') === 'list' ? 'list' : 'project'
  return (
    <div className="page sessions">
      <NewItemsButton count={list.newSessions.length} label={commonTexts.newItems} onShow={list.reload} />
      <div className="page-head">
        <h1>{sessionListTexts.title}</h1>
        <MarkAllRead />
        {may('stopEverything') && (
          <button type="button" className="button" onClick={() => openDialog('stop')}>
            {stopTexts.open}
          </button>
        )}
      </div>
      <div className="page-filter">
        <SearchField
          label={sessionListTexts.search}
          value={typed}
          maxLength={limits.nameMax}
          onChange={text => setFilter({ typed: text })}
        />
        <div className="session-choices">
          <SegmentedFilter
            label={sessionListTexts.state}
            options={stateChoices}
            value={state}
            onChange={chosen => setFilter({ state: chosen })}
          />
          <SegmentedFilter
            label={sessionListTexts.arrange}
            options={arrangements}
            value={arrangement}
            onChange={chosen => writePreference('sessionArrangement', chosen)}
          />
        </div>
      </div>
      <Rows
        list={list}
        filtered={state !== 'all' || q !== ''}
        byProject={arrangement === 'project'}
        onClear={() => setFilter(noFilter)}
      />
    </div>
  )
}

function MarkAllRead(): ReactNode {
  const isUnread = useIsUnread()
  const markAllRead = useMarkAllRead()
  const sessions = useSessions()
  if (![...sessions.values()].some(isUnread)) return null
  return (
    <button type="button" className="button plain" onClick={markAllRead}>
      {sessionListTexts.markAllRead}
    </button>
  )
}

interface RowsProps {
  readonly list: SessionList
  readonly filtered: boolean
  readonly byProject: boolean
  readonly onClear: () => void
}

function NoSessions({ filtered, onClear }: Pick<RowsProps, 'filtered' | 'onClear'>): ReactNode {
  const action = filtered ? onClear : () => openDialog('start')
  return (
    <div className="empty">
      <p>{filtered ? commonTexts.noResults : sessionListTexts.empty}</p>
      {!filtered && <p className="soft small">{sessionListTexts.emptyHint}</p>}
      <div className="empty-actions">
        <button type="button" className="button" onClick={action}>
          {filtered ? sessionListTexts.showAll : sessionListTexts.newSession}
        </button>
      </div>
    </div>
  )
}

function Rows({ list, filtered, byProject: isByProject, onClear }: RowsProps): ReactNode {
  const now = useGatewayTime(30_000)
  const isUnread = useIsUnread()
  const listRef = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<SessionId | null>(null)
  const { loading, problem, more, loadMore, reload, newSessions, removeRow } = list
  const [sorted, holdHandlers] = useStableOrder(list.items)
  const projects = useMemo(
    () => (isByProject ? byProject(sorted, now) : [{ folder: '', sessions: sorted, cost: null, waitedMs: 0 }]),
    [sorted, isByProject, now],
  )
  const items = useMemo(() => projects.flatMap(({ sessions }) => sessions), [projects])
  const move = (by: 1 | -1) => {
    const index = items.findIndex(session => session.id === active)
    const next = items[Math.max(0, Math.min(items.length - 1, index < 0 ? 0 : index + by))]
    if (!next) return
    setActive(next.id)
    listRef.current?.querySelector<HTMLElement>(`[data-session="${next.id}"] a`)?.focus()
  }
  useShortcuts({
    next: () => move(1),
    previous: () => move(-1),
    open: active ? () => go({ screen: 'session', id: active }) : undefined,
    more: newSessions.length > 0 ? reload : undefined,
  })
  return (
    <>
      <div ref={listRef} aria-busy={loading} {...holdHandlers}>
        {projects.map(project => (
          <section key={project.folder} className="project">
            {isByProject && <ProjectHeading project={project} />}
            <ul className="session-list">
              {project.sessions.map(session => (
                <SessionRow
                  key={session.id}
                  session={session}
                  now={now}
                  active={session.id === active}
                  showFolder={!isByProject}
                  unread={isUnread(session)}
                  onRemoved={removeRow}
                />
              ))}
            </ul>
          </section>
        ))}
      </div>
      {loading && <Skeleton kind="row" count={items.length > 0 ? 1 : 6} />}
      {problem !== null && (
        <div className="load-error" role="alert">
          <p className="problem">
            {sessionListTexts.loadFailed} {errorMessage(problem)}
          </p>
          <button type="button" className="button" onClick={items.length > 0 ? loadMore : reload}>
            {commonTexts.tryAgain}
          </button>
        </div>
      )}
      {!loading && problem === null && items.length === 0 && <NoSessions filtered={filtered} onClear={onClear} />}
      {more && !loading && problem === null && (
        <button type="button" className="button" onClick={loadMore}>
          {sessionListTexts.showOlder}
        </button>
      )}
    </>
  )
}

function ProjectHeading({ project }: { readonly project: Project }): ReactNode {
  const { folder, sessions, cost, waitedMs } = project
  const waited = waitedText(waitedMs)
  // The row of a single session has the same facts.
  const facts =
    sessions.length === 1
      ? []
      : [
          sessionListTexts.count(sessions.length),
          ...(cost === null ? [] : [formatCost(cost)]),
          ...(waited === null ? [] : [waited]),
        ]
  return (
    <h2 className="project-heading">
      {folder === '' ? sessionListTexts.noFolder : <Path path={folder} />}
      {facts.length > 0 && <span className="project-facts">{facts.join(' · ')}</span>}
    </h2>
  )
}

/** Sorts waiting sessions first, but keeps the current order while the pointer or the focus is in the list. */
function useStableOrder(sessions: readonly Session[]) {
  const [hovered, setHovered] = useState(false)
  const [focused, setFocused] = useState(false)
  const target = useMemo(() => waitingFirst(sessions), [sessions])
  const [order, setOrder] = useState(target)
  if (order !== target && !hovered && !focused) setOrder(target)
  const items = useMemo(() => {
    const positions = new Map(order.map((id, index) => [id, index]))
    const positionOf = ({ id }: Session) => positions.get(id) ?? order.length
    return [...sessions].sort((a, b) => positionOf(a) - positionOf(b))
  }, [sessions, order])
  const holdHandlers = {
    onPointerEnter: () => setHovered(true),
    onPointerLeave: () => setHovered(false),
    onFocus: () => setFocused(true),
    onBlur: () => setFocused(false),
  }
  return [items, holdHandlers] as const
}
