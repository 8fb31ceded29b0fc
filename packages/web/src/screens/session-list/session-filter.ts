/** The filter of the session list: its query, and whether a session from the event stream matches. */
import type { Input, Session, SessionId } from '@holdpoint/protocol'
import { groupOf, newestFirst } from '../../gateway/session-groups.ts'

export const stateChoices = [
  { value: 'all', name: 'All' },
  { value: 'waiting', name: 'Waiting' },
  { value: 'working', name: 'Working' },
  { value: 'idle', name: 'Idle' },
  { value: 'parked', name: 'Parked' },
  { value: 'ended', name: 'Ended' },
] as const
export type StateChoice = (typeof stateChoices)[number]['value']

export interface SessionFilter {
  readonly state: StateChoice
  readonly q: string
}

/** Null for the waiting filter, which the gateway does not have: the page knows the waiting sessions from their requests. */
export function sessionQuery({ state, q }: SessionFilter): Omit<Input<'listSessions'>, 'before'> | null {
  if (state === 'waiting') return null
  return { ...(state !== 'all' && { state }), ...(q.trim() && { q: q.trim() }) }
}

export function matches(session: Session, { state, q }: SessionFilter): boolean {
  const text = q.trim().toLowerCase()
  const hasText = [session.title, session.cwd, session.driver].some(field => field.toLowerCase().includes(text))
  if (!hasText) return false
  if (state === 'all') return true
  return state === 'waiting' ? groupOf(session) === 'waiting' : session.state === state
}

/** Waiting sessions first, otherwise in the given order. */
export function waitingFirst(sessions: readonly Session[]): readonly SessionId[] {
  const [waiting, others] = [true, false].map(isWaiting =>
    sessions.filter(session => (groupOf(session) === 'waiting') === isWaiting).map(({ id }) => id),
  )
  return [...(waiting ?? []), ...(others ?? [])]
}

/** Matching sessions that started after the newest one in the list. */
export function newSince(
  listed: readonly Session[],
  sessions: Iterable<Session>,
  filter: SessionFilter,
): readonly Session[] {
  const known = new Set(listed.map(session => session.id))
  const newest = Math.max(0, ...listed.map(session => session.startedAt))
  return [...sessions]
    .filter(session => !known.has(session.id) && session.startedAt >= newest && matches(session, filter))
    .sort(newestFirst)
}
