/** Loads sessions page by page, filtered by the gateway, and keeps them up to date with the event stream. */
import { Fault, type Session, type SessionId } from '@holdpoint/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useGateway, useSessions } from '../../gateway/gateway-context.ts'
import { newestFirst } from '../../gateway/session-groups.ts'
import { matches, newSince, type SessionFilter, sessionQuery } from './session-filter.ts'

const pageSize = 50

interface Pages {
  readonly items: readonly Session[]
  readonly next: string | null
  readonly loading: boolean
  readonly problem: unknown
}
const emptyPages: Pages = { items: [], next: null, loading: true, problem: null }

export interface SessionList extends Omit<Pages, 'next'> {
  readonly more: boolean
  /** Sessions that started after the list was loaded. They are hidden until `reload`, because showing them would move the other rows down. */
  readonly newSessions: readonly Session[]
  readonly loadMore: () => void
  readonly reload: () => void
  readonly removeRow: (id: SessionId) => void
}

export function useSessionList(filter: SessionFilter): SessionList {
  const { call, inbox } = useGateway()
  const live = useSessions()
  const { state, q } = filter
  const [pages, setPages] = useState(emptyPages)
  const query = useMemo(() => sessionQuery({ state, q }), [state, q])
  const run = useRef<AbortController | null>(null)
  const load = useCallback(
    (before: readonly Session[]) => {
      // Abort the previous load, because its result must not replace the result of this load.
      run.current?.abort()
      const controller = new AbortController()
      run.current = controller
      if (!query) return setPages({ ...emptyPages, loading: false })
      const last = before.at(-1)?.id
      setPages({ ...emptyPages, items: before })
      call(
        'listSessions',
        { ...query, limit: pageSize, ...(last && { before: last }) },
        { signal: controller.signal },
      ).then(
        ({ items, next }) =>
          !controller.signal.aborted && setPages({ ...emptyPages, items: [...before, ...items], next, loading: false }),
        (problem: unknown) =>
          !controller.signal.aborted && setPages({ items: before, next: last ?? null, loading: false, problem }),
      )
    },
    [call, query],
  )
  useEffect(() => {
    load([])
    return () => run.current?.abort()
  }, [load])
  useEffect(
    () =>
      inbox.onFrame(frame => {
        if (frame.frame !== 'event' || frame.event.type !== 'session.deleted') return
        const { session } = frame.event
        setPages(before => without(before, session))
      }),
    [inbox],
  )
  const newSessions = useMemo(
    () => (query && !pages.loading ? newSince(pages.items, live.values(), { state, q }) : []),
    [query, pages, live, state, q],
  )
  const items = useMemo(() => {
    if (!query) return [...live.values()].filter(session => matches(session, { state, q })).sort(newestFirst)
    const known = new Set([...pages.items, ...newSessions].map(({ id }) => id))
    // Show all waiting sessions, even those on pages that are not loaded yet.
    const waiting = [...live.values()].filter(
      each => each.pending > 0 && !known.has(each.id) && matches(each, { state, q }),
    )
    const paged = pages.items.map(session => live.get(session.id) ?? session)
    return pages.items.length > 0 ? [...paged, ...waiting.sort(newestFirst)] : paged
  }, [query, live, pages.items, newSessions, state, q])
  return {
    items,
    loading: pages.loading,
    problem: pages.problem,
    more: pages.next !== null,
    newSessions,
    loadMore: () => load(pages.items),
    reload: () => load([]),
    removeRow: useCallback((id: SessionId) => setPages(before => without(before, id)), []),
  }
}

function without(pages: Pages, id: SessionId | null): Pages {
  return { ...pages, items: pages.items.filter(session => session.id !== id) }
}

/** Returns true if the call failed because the session was already deleted, for example in another tab. */
export function isGone(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'not_found' || error.code === 'gone')
}
