/** Groups sessions by state. The order within a group does not change when a session is updated. */
import { troubleOf } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'

export const groupNames = ['waiting', 'failed', 'working', 'disconnected', 'parked', 'idle', 'ended'] as const
export type GroupName = (typeof groupNames)[number]

/** Returns the group of a session. An agent that failed or was lost is in the group `failed`, even if its session has ended. */
export function groupOf(session: Session): GroupName {
  const { state, pending } = session
  if (pending > 0 && state !== 'ended') return 'waiting'
  const trouble = troubleOf(session)?.kind
  if (trouble === 'failed' || trouble === 'lost') return 'failed'
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

/** Returns the groups for the sidebar: at most `waitingMax` waiting sessions and `othersMax` sessions of each other group. Of the ended sessions, only those that failed and are unread are listed. */
export function groupSessions(
  sessions: Iterable<Session>,
  isUnread: (session: Session) => boolean,
  waitingMax = 24,
  othersMax = 8,
): readonly Group[] {
  const isListed = (session: Session) => session.state !== 'ended' || isUnread(session)
  const sorted = [...sessions].filter(isListed).sort(newestFirst)
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

/** Counts the agents that failed, were lost or are disconnected, and whose sessions have not ended. */
export function countFailed(sessions: Iterable<Session>): number {
  return countWhere(sessions, session => session.state !== 'ended' && troubleOf(session) !== null)
}

function countWhere(sessions: Iterable<Session>, matches: (session: Session) => boolean): number {
  let count = 0
  for (const session of sessions) if (matches(session)) count++
  return count
}
