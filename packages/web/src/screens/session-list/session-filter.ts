/** The filter of the session list: builds the gateway query, and decides whether a session from the event stream matches. */
import { waitedFor } from '@holdpoint/client'
import type { Input, Session, SessionId } from '@holdpoint/protocol'
import { groupOf, newestFirst } from '../../gateway/session-groups.ts'
import type { stateChoices } from './texts.ts'

export type StateChoice = (typeof stateChoices)[number]['value']

export interface SessionFilter {
  readonly state: StateChoice
  readonly q: string
}

/** Returns the gateway query for a filter. Returns null for “Waiting” and “Failed”, which the gateway does not support: the inbox has every waiting session, and those of the latest sessions that failed. */
export function sessionQuery({ state, q }: SessionFilter): Omit<Input<'listSessions'>, 'before'> | null {
  if (state === 'waiting' || state === 'failed') return null
  return { ...(state !== 'all' && { state }), ...(q.trim() && { q: q.trim() }) }
}

export function matches(session: Session, { state, q }: SessionFilter): boolean {
  const text = q.trim().toLowerCase()
  const hasText = [session.title, session.cwd, session.driver].some(field => field.toLowerCase().includes(text))
  if (!hasText) return false
  if (state === 'all') return true
  return state === 'waiting' || state === 'failed' ? groupOf(session) === state : session.state === state
}

/** Returns the session ids with waiting sessions first, otherwise in the given order. */
export function waitingFirst(sessions: readonly Session[]): readonly SessionId[] {
  const [waiting, others] = [true, false].map(isWaiting =>
    sessions.filter(session => (groupOf(session) === 'waiting') === isWaiting).map(({ id }) => id),
  )
  return [...(waiting ?? []), ...(others ?? [])]
}

/** Returns the matching sessions that are not in the list and are at least as new as its newest session. */
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

/** The sessions of one folder. */
export interface Project {
  readonly folder: string
  readonly sessions: readonly Session[]
  /** The cost of the listed sessions; null if none of their agents reports it. */
  readonly cost: number | null
  /** How long the listed sessions have waited for people, added up. */
  readonly waitedMs: number
}

/** Groups sessions by folder. Projects and their sessions keep the order of the list, so the project of the first session comes first. */
export function byProject(sessions: readonly Session[], now: number): readonly Project[] {
  const folders = new Map<string, Session[]>()
  for (const session of sessions) {
    const known = folders.get(session.cwd)
    if (known) known.push(session)
    else folders.set(session.cwd, [session])
  }
  return [...folders].map(([folder, members]) => {
    const costs = members.flatMap(({ cost }) => (cost === null ? [] : [cost]))
    return {
      folder,
      sessions: members,
      cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
      waitedMs: members.reduce((sum, session) => sum + waitedFor(session, now), 0),
    }
  })
}
