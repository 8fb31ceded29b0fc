/** The record, newest first, read back page by page; what is resolved meanwhile waits above it until it is wanted. */
import type { AuditEntry, Call, Cursor, Delivery, Event, RequestId } from '@holdpoint/protocol'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import type { AuditQuery } from './audit-filter.ts'

const pageSize = 60
/** New resolutions that come in one go are asked for once. */
const gatherMs = 300

interface RecordState {
  readonly lines: readonly AuditEntry[]
  readonly fresh: readonly AuditEntry[]
  readonly before: Cursor | 'end' | null
  readonly loading: boolean
  readonly problem: unknown
  /** How far back a long search has come. */
  readonly reached: number | null
}
const start: RecordState = { lines: [], fresh: [], before: 'end', loading: true, problem: null, reached: null }

export interface AuditList extends RecordState {
  readonly loadMore: () => void
  readonly takeFresh: () => void
}

export function useAuditLog(question: AuditQuery): AuditList {
  const { call } = useGateway()
  const [state, setState] = useState(start)
  const run = useRef<AbortController | null>(null)
  const load = useCallback(
    async (before: Cursor | 'end') => {
      run.current?.abort()
      const over = new AbortController()
      run.current = over
      setState(now => ({ ...(before === 'end' ? start : now), loading: true, problem: null }))
      const tell = (found: readonly AuditEntry[], next: Cursor | null) =>
        setState(now => ({
          ...now,
          lines: [...now.lines, ...found],
          before: next,
          reached: found.at(-1)?.at ?? now.reached,
        }))
      try {
        await readBack(call, question, before, over.signal, tell)
        if (!over.signal.aborted) setState(now => ({ ...now, loading: false }))
      } catch (problem) {
        if (!over.signal.aborted) setState(now => ({ ...now, loading: false, problem }))
      }
    },
    [call, question],
  )
  useEffect(() => {
    void load('end')
    return () => run.current?.abort()
  }, [load])
  useNews(question, state, setState)
  return {
    ...state,
    loadMore: () => void (state.before !== null && load(state.before)),
    takeFresh: () => setState(now => ({ ...now, lines: [...now.fresh, ...now.lines], fresh: [] })),
  }
}

/** A page may be short, or empty, and yet not the last: it is read on until there is something to show. */
async function readBack(
  call: Call,
  question: AuditQuery,
  from: Cursor | 'end',
  signal: AbortSignal,
  tell: (found: readonly AuditEntry[], next: Cursor | null) => void,
): Promise<void> {
  let before: Cursor | 'end' | null = from
  for (let count = 0; count < pageSize && before !== null; ) {
    const page: { items: AuditEntry[]; next: string | null } = await call(
      'listAudit',
      { ...question, before, limit: pageSize - count },
      { signal },
    )
    if (signal.aborted) return
    before = page.next
    count += page.items.length
    tell(page.items.toReversed(), before)
  }
}

type SetState = (change: (now: RecordState) => RecordState) => void

/** Hears of resolutions and of how they are delivered. */
function useNews(question: AuditQuery, { lines, fresh, loading }: RecordState, setState: SetState): void {
  const { call, inbox } = useGateway()
  const newest = fresh[0]?.cursor ?? lines[0]?.cursor
  const latest = useRef(newest)
  useEffect(() => {
    latest.current = newest
  })
  useEffect(() => {
    if (loading) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const over = new AbortController()
    const look = async () => {
      timer = undefined
      const after = latest.current
      const page = await call('listAudit', { ...question, ...(after ? { after } : { before: 'end' }) }, over).catch(
        () => null,
      )
      if (!page || over.signal.aborted) return
      setState(now => (latest.current === after ? { ...now, fresh: [...page.items.toReversed(), ...now.fresh] } : now))
    }
    const stop = inbox.onFrame(frame => {
      if (frame.frame === 'hello') timer ??= setTimeout(() => void look(), gatherMs)
      if (frame.frame !== 'event') return
      if (frame.event.type === 'request.resolved') timer ??= setTimeout(() => void look(), gatherMs)
      const moved = deliveryIn(frame.event)
      if (moved) setState(now => ({ ...now, lines: delivered(now.lines, moved), fresh: delivered(now.fresh, moved) }))
    })
    return () => {
      stop()
      clearTimeout(timer)
      over.abort()
    }
  }, [call, inbox, question, loading, setState])
}

interface Moved {
  readonly request: RequestId
  readonly delivery: Delivery
}

function deliveryIn(event: Event): Moved | null {
  switch (event.type) {
    case 'request.handed':
    case 'request.taken':
    case 'request.unknown':
    case 'request.undeliverable':
      return event
    default:
      return null
  }
}

export function delivered(lines: readonly AuditEntry[], { request, delivery }: Moved): readonly AuditEntry[] {
  if (!lines.some(line => line.request === request)) return lines
  return lines.map(line =>
    line.request === request ? { ...line, delivery, value: { ...line.value, delivery } } : line,
  )
}
