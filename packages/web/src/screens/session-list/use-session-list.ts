/** Sessions page by page, as the gateway filters them; what is in them stays current by the stream. */
import { Fault, type Session, type SessionId } from '@holdpoint/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useGateway, useSessions } from '../../gateway/gateway-context.ts'
import { newestFirst } from '../../gateway/session-groups.ts'
import { fits, newSince, type SessionFilter, sessionQuery } from './session-filter.ts'

const pageSize = 50

interface Pages {
  readonly items: readonly Session[]
  readonly next: string | null
  readonly loading: boolean
  readonly problem: unknown
}
const nothing: Pages = { items: [], next: null, loading: true, problem: null }

export interface SessionList extends Omit<Pages, 'next'> {
  readonly more: boolean
  /** Began meanwhile, and would push the others down. */
  readonly fresh: readonly Session[]
  readonly loadMore: () => void
  readonly reload: () => void
  readonly removeRow: (id: SessionId) => void
}

export function useSessionList(filter: SessionFilter): SessionList {
  const { call, inbox } = useGateway()
  const live = useSessions()
  const { state, q } = filter
  const [pages, setPages] = useState(nothing)
  const question = useMemo(() => sessionQuery({ state, q }), [state, q])
  const run = useRef<AbortController | null>(null)
  const load = useCallback(
    (before: readonly Session[]) => {
      // What an earlier question is still to bring belongs to another list.
      run.current?.abort()
      const over = new AbortController()
      run.current = over
      if (!question) return setPages({ ...nothing, loading: false })
      const last = before.at(-1)?.id
      setPages({ ...nothing, items: before })
      call(
        'listSessions',
        { ...question, limit: pageSize, ...(last && { before: last }) },
        { signal: over.signal },
      ).then(
        ({ items, next }) =>
          !over.signal.aborted && setPages({ ...nothing, items: [...before, ...items], next, loading: false }),
        (problem: unknown) =>
          !over.signal.aborted && setPages({ items: before, next: last ?? null, loading: false, problem }),
      )
    },
    [call, question],
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
  const fresh = useMemo(
    () => (question && !pages.loading ? newSince(pages.items, live.values(), { state, q }) : []),
    [question, pages, live, state, q],
  )
  const items = useMemo(() => {
    if (!question) return [...live.values()].filter(session => fits(session, { state, q })).sort(newestFirst)
    const known = new Set([...pages.items, ...fresh].map(({ id }) => id))
    // Those that wait are here at once, on whichever page they are.
    const waiting = [...live.values()].filter(
      each => each.pending > 0 && !known.has(each.id) && fits(each, { state, q }),
    )
    const paged = pages.items.map(session => live.get(session.id) ?? session)
    return pages.items.length > 0 ? [...paged, ...waiting.sort(newestFirst)] : paged
  }, [question, live, pages.items, fresh, state, q])
  return {
    items,
    loading: pages.loading,
    problem: pages.problem,
    more: pages.next !== null,
    fresh,
    loadMore: () => load(pages.items),
    reload: () => load([]),
    removeRow: useCallback((id: SessionId) => setPages(before => without(before, id)), []),
  }
}

function without(pages: Pages, id: SessionId | null): Pages {
  return { ...pages, items: pages.items.filter(session => session.id !== id) }
}

/** Somebody was faster: that is what was wanted. */
export function isGone(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'not_found' || error.code === 'gone')
}
