/** Groups sessions by state. The order within a group does not change when a session is updated. */
import type { Session } from '@holdpoint/protocol'

export const groupNames = ['waiting', 'working', 'disconnected', 'parked', 'idle', 'ended'] as const
export type GroupName = (typeof groupNames)[number]

export function groupOf({ state, pending }: Pick<Session, 'state' | 'pending'>): GroupName {
  if (pending > 0 && state !== 'ended') return 'waiting'
  return state === 'starting' ? 'working' : state
}

export interface Group {
  readonly name: GroupName
  readonly sessions: readonly Session[]
  /** The number of further sessions in the group, which `sessions` leaves out. */
  readonly more: number
}

/** Compares sessions by start time, newest first, so that activity in a session does not change the order. */
export function newestFirst(a: Session, b: Session): number {
  return b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1)
}

/** Returns the groups for the sidebar: at most `waitingMax` waiting sessions and `othersMax` sessions of each other group. */
export function groupSessions(sessions: Iterable<Session>, waitingMax = 24, othersMax = 8): readonly Group[] {
  const sorted = [...sessions].sort(newestFirst)
  return groupNames.flatMap(name => {
    if (name === 'ended') return []
    const members = sorted.filter(session => groupOf(session) === name)
    const shown = members.slice(0, name === 'waiting' ? waitingMax : othersMax)
    return members.length > 0 ? [{ name, sessions: shown, more: members.length - shown.length }] : []
  })
}

export function countOpen(sessions: Iterable<Session>): number {
  return countWhere(sessions, ({ state }) => state !== 'ended')
}

export function countWorking(sessions: Iterable<Session>): number {
  return countWhere(sessions, session => groupOf(session) === 'working')
}

function countWhere(sessions: Iterable<Session>, matches: (session: Session) => boolean): number {
  let count = 0
  for (const session of sessions) if (matches(session)) count++
  return count
}
