/** Groups the requests of the inbox by project or by session. */
import type { Request, RequestId, Session, SessionId } from '@holdpoint/protocol'

export const groupings = ['none', 'project', 'session'] as const
export type Grouping = (typeof groupings)[number]

export function readGrouping(value: string | null): Grouping {
  return groupings.find(grouping => grouping === value) ?? 'none'
}

/** Returns the key of a request's group: its session, or the folder of its session. */
export function groupKey(
  { session, ask }: Pick<Request, 'session' | 'ask'>,
  grouping: Exclude<Grouping, 'none'>,
  sessions: ReadonlyMap<SessionId, Pick<Session, 'cwd'>>,
): string {
  if (grouping === 'session') return session
  return sessions.get(session)?.cwd || (ask.kind === 'approval' ? ask.cwd : '')
}

/** Puts the requests of a group together. The group of the most urgent request comes first. */
export function inGroups(ids: readonly RequestId[], groupOf: (id: RequestId) => string): readonly RequestId[] {
  return [...groupBy(ids, groupOf).values()].flat()
}

/** Returns the requests of each group. The groups are in the order of their first requests. */
export function groupBy(ids: readonly RequestId[], groupOf: (id: RequestId) => string): Map<string, RequestId[]> {
  const groups = new Map<string, RequestId[]>()
  for (const id of ids) {
    const key = groupOf(id)
    const group = groups.get(key)
    if (group) group.push(id)
    else groups.set(key, [id])
  }
  return groups
}
