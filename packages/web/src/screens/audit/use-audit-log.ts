/** Loads the audit log page by page, newest first. New entries are hidden until the person asks for them. */
import { noticeLabel } from '@holdpoint/client'
import type { AuditEntry, Call, Cursor, Delivery, Event, RequestId } from '@holdpoint/protocol'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import type { AuditQuery } from './audit-filter.ts'

const pageSize = 60
/** Entries within this time are fetched with one call. */
const gatherMs = 300

interface AuditLogState {
  readonly entries: readonly AuditEntry[]
  /** Entries that arrived after the log was loaded. They are hidden until `showNew` is called. */
  readonly newEntries: readonly AuditEntry[]
  readonly before: Cursor | 'end' | null
  readonly loading: boolean
  readonly problem: unknown
  /** The time of the oldest loaded entry; null if none is loaded. */
  readonly reachedAt: number | null
}
const start: AuditLogState = {
  entries: [],
  newEntries: [],
  before: 'end',
  loading: true,
  problem: null,
  reachedAt: null,
}

export interface AuditLog extends AuditLogState {
  readonly loadMore: () => void
  readonly showNew: () => void
}

export function useAuditLog(query: AuditQuery): AuditLog {
  const { call } = useGateway()
  const [state, setState] = useState(start)
  const run = useRef<AbortController | null>(null)
  const load = useCallback(
    async (before: Cursor | 'end') => {
      run.current?.abort()
      const controller = new AbortController()
      run.current = controller
      setState(now => ({ ...(before === 'end' ? start : now), loading: true, problem: null }))
      const addPage = (found: readonly AuditEntry[], next: Cursor | null) =>
        setState(now => ({
          ...now,
          entries: [...now.entries, ...found],
          before: next,
          reachedAt: found.at(-1)?.at ?? now.reachedAt,
        }))
      try {
        await readBack(call, query, before, controller.signal, addPage)
        if (!controller.signal.aborted) setState(now => ({ ...now, loading: false }))
      } catch (problem) {
        if (!controller.signal.aborted) setState(now => ({ ...now, loading: false, problem }))
      }
    },
    [call, query],
  )
  useEffect(() => {
    void load('end')
    return () => run.current?.abort()
  }, [load])
  useNewEntries(query, state, setState)
  return {
    ...state,
    loadMore: () => void (state.before !== null && load(state.before)),
    showNew: () => setState(now => ({ ...now, entries: [...now.newEntries, ...now.entries], newEntries: [] })),
  }
}

/** Reads pages until `pageSize` entries are found or the log ends. One page is not enough, because the gateway may return a short or empty page before the last page. */
async function readBack(
  call: Call,
  query: AuditQuery,
  from: Cursor | 'end',
  signal: AbortSignal,
  addPage: (found: readonly AuditEntry[], next: Cursor | null) => void,
): Promise<void> {
  let before: Cursor | 'end' | null = from
  for (let count = 0; count < pageSize && before !== null; ) {
    const page: { items: AuditEntry[]; next: string | null } = await call(
      'listAudit',
      { ...query, before, limit: pageSize - count },
      { signal },
    )
    if (signal.aborted) return
    before = page.next
    count += page.items.length
    addPage(page.items.toReversed(), before)
  }
}

type SetState = (change: (now: AuditLogState) => AuditLogState) => void

/** Follows the event stream: fetches new entries, and updates the delivery state of loaded entries. */
function useNewEntries(query: AuditQuery, { entries, newEntries, loading }: AuditLogState, setState: SetState): void {
  const { call, inbox } = useGateway()
  const newest = newEntries[0]?.cursor ?? entries[0]?.cursor
  const latest = useRef(newest)
  useEffect(() => {
    latest.current = newest
  })
  useEffect(() => {
    if (loading) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const controller = new AbortController()
    const fetchNew = async () => {
      timer = undefined
      const after = latest.current
      const page = await call('listAudit', { ...query, ...(after ? { after } : { before: 'end' }) }, controller).catch(
        () => null,
      )
      if (!page || controller.signal.aborted) return
      setState(now =>
        latest.current === after ? { ...now, newEntries: [...page.items.toReversed(), ...now.newEntries] } : now,
      )
    }
    const stop = inbox.onFrame(frame => {
      if (frame.frame === 'hello') timer ??= setTimeout(() => void fetchNew(), gatherMs)
      if (frame.frame !== 'event') return
      if (frame.event.type === 'request.resolved' || noticeLabel(frame.event) !== null)
        timer ??= setTimeout(() => void fetchNew(), gatherMs)
      const change = deliveryChange(frame.event)
      if (change)
        setState(now => ({
          ...now,
          entries: withDelivery(now.entries, change),
          newEntries: withDelivery(now.newEntries, change),
        }))
    })
    return () => {
      stop()
      clearTimeout(timer)
      controller.abort()
    }
  }, [call, inbox, query, loading, setState])
}

interface DeliveryChange {
  readonly request: RequestId
  readonly delivery: Delivery
}

function deliveryChange(event: Event): DeliveryChange | null {
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

export function withDelivery(
  entries: readonly AuditEntry[],
  { request, delivery }: DeliveryChange,
): readonly AuditEntry[] {
  const concerns = (entry: AuditEntry) => entry.kind === 'decision' && entry.request === request
  if (!entries.some(concerns)) return entries
  return entries.map(entry =>
    entry.kind === 'decision' && concerns(entry) ? { ...entry, delivery, value: { ...entry.value, delivery } } : entry,
  )
}
