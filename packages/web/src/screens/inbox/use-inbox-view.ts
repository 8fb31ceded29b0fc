/** What the person wants to see in the inbox: the kind of requests, a search, groups, and which sessions are muted. */
import type { Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { useDeferredValue, useMemo, useState } from 'react'
import { useGateway, useRequests, useSessions } from '../../gateway/gateway-context.ts'
import { useMuted } from '../../storage/muted-sessions.ts'
import { usePreference } from '../../storage/preferences.ts'
import { countKinds, type FilterKind, isOfKind, matchesSearch } from './request-filter.ts'
import { type Grouping, groupKey, inGroups, readGrouping } from './request-groups.ts'
import type { ListView } from './use-request-list.ts'

export interface InboxView extends ListView {
  readonly grouping: Grouping
  readonly kind: FilterKind
  readonly setKind: (kind: FilterKind) => void
  readonly search: string
  readonly setSearch: (search: string) => void
  /** The number of pending requests of each kind, without those of muted sessions. */
  readonly counts: ReadonlyMap<FilterKind, number>
  /** The pending requests of muted sessions. */
  readonly muted: readonly RequestId[]
}

export function useInboxView(): InboxView {
  const { inbox } = useGateway()
  const requests = useRequests()
  const sessions = useSessions()
  const grouping = readGrouping(usePreference('grouping'))
  const mutedSessions = useMuted()
  const [kind, setKind] = useState<FilterKind>('all')
  const [search, setSearch] = useState('')
  // A long list is filtered more slowly than a person types.
  const searched = useDeferredValue(search)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order changes only when the requests change
  const order = useMemo(() => inbox.getSnapshot().order, [inbox, requests])
  const [heard, muted] = useMemo(() => {
    const isMuted = (id: RequestId) => mutedSessions.has(requests.get(id)?.session as SessionId) // a missing request gives `undefined`, which the set does not contain
    return [order.filter(id => !isMuted(id)), order.filter(isMuted)]
  }, [order, requests, mutedSessions])
  const counts = useMemo(() => countKinds(heard.flatMap(id => requests.get(id) ?? [])), [heard, requests])
  const groupOf = useMemo(() => groupingOf(grouping, requests, sessions), [grouping, requests, sessions])
  const pending = useMemo(() => {
    const isWanted = (id: RequestId) => {
      const request = requests.get(id)
      return request && isOfKind(request, kind) && matchesSearch(request, sessions.get(request.session), searched)
    }
    const wanted = kind === 'all' && searched === '' ? heard : heard.filter(isWanted)
    return groupOf ? inGroups(wanted, groupOf) : wanted
  }, [heard, requests, sessions, kind, searched, groupOf])
  const key = JSON.stringify([grouping, kind, searched, [...mutedSessions]])
  return { pending, groupOf, key, grouping, kind, setKind, search, setSearch, counts, muted }
}

function groupingOf(
  grouping: Grouping,
  requests: ReadonlyMap<RequestId, Request>,
  sessions: ReadonlyMap<SessionId, Session>,
): ListView['groupOf'] {
  if (grouping === 'none') return undefined
  return id => {
    const request = requests.get(id)
    return request ? groupKey(request, grouping, sessions) : ''
  }
}
