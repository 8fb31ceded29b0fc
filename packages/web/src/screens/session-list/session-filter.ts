/** Which sessions a list shows: what is asked of the gateway, and whether a session that comes live belongs to it. */
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

/** Null where the gateway has no such question: what waits is known here, by its requests. */
export function sessionQuery({ state, q }: SessionFilter): Omit<Input<'listSessions'>, 'before'> | null {
  if (state === 'waiting') return null
  return { ...(state !== 'all' && { state }), ...(q.trim() && { q: q.trim() }) }
}

export function fits(session: Session, { state, q }: SessionFilter): boolean {
  const wanted = q.trim().toLowerCase()
  const says = [session.title, session.cwd, session.driver].some(text => text.toLowerCase().includes(wanted))
  if (!says) return false
  if (state === 'all') return true
  return state === 'waiting' ? groupOf(session) === 'waiting' : session.state === state
}

/** Those that wait first, whatever their page; among their like in the order that they came in. */
export function waitingFirst(sessions: readonly Session[]): readonly SessionId[] {
  const [waiting, others] = [true, false].map(wanted =>
    sessions.filter(session => (groupOf(session) === 'waiting') === wanted).map(({ id }) => id),
  )
  return [...(waiting ?? []), ...(others ?? [])]
}

/** Those that fit and began after the newest one in the list. */
export function newSince(
  listed: readonly Session[],
  sessions: Iterable<Session>,
  filter: SessionFilter,
): readonly Session[] {
  const known = new Set(listed.map(session => session.id))
  const newest = Math.max(0, ...listed.map(session => session.startedAt))
  return [...sessions]
    .filter(session => !known.has(session.id) && session.startedAt >= newest && fits(session, filter))
    .sort(newestFirst)
}
