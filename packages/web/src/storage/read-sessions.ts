/** Remembers for each person and browser how far the person has read each session, so that sessions with something new are marked as unread. */
import { isId, type Session, type SessionId } from '@holdpoint/protocol'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { useGateway, useGatewayTime, useInboxPart } from '../gateway/gateway-context.ts'
import { type PersonalName, readPreference, usePreference, writePreference } from './preferences.ts'

interface ReadTimes {
  /** Everything until this time counts as read. */
  readonly since: number
  readonly sessions: ReadonlyMap<SessionId, number>
}
/** The sessions that were read longest ago are forgotten first. */
const sessionsMax = 200

function readName(me: string): PersonalName {
  return `read.${me}`
}

export function parseReadTimes(stored: string | null): ReadTimes | null {
  try {
    const { since, sessions } = JSON.parse(stored ?? 'null') as { since?: unknown; sessions?: unknown } // both are checked below
    if (typeof since !== 'number') return null
    const entries = Object.entries(Object(sessions)).filter(
      (entry): entry is [SessionId, number] => isId('ses', entry[0]) && typeof entry[1] === 'number',
    )
    return { since, sessions: new Map(entries) }
  } catch {
    return null // nothing is stored yet, or something else wrote the entry
  }
}

/** Returns the stored text after a session was read until `at`. What is forgotten because there are too many sessions still counts as read. */
export function writeReadTimes({ since, sessions }: ReadTimes, id: SessionId, at: number): string {
  const sorted = [...sessions].filter(([other]) => other !== id).sort(([, a], [, b]) => b - a)
  const forgotten = sorted.splice(sessionsMax - 1).map(([, time]) => time)
  return JSON.stringify({ since: Math.max(since, ...forgotten), sessions: Object.fromEntries([...sorted, [id, at]]) })
}

/** Returns when the agent of a session last said or finished something. A turn or a session that a person has stopped does not count. */
export function newsAt({ lastMessageAt = 0, lastTurn, ending, endedAt }: Session): number {
  const isOver = lastTurn?.ending === 'done' || lastTurn?.ending === 'failed'
  const finishedAt = isOver ? (lastTurn.at ?? 0) : 0
  return Math.max(lastMessageAt, finishedAt, ending && ending.reason !== 'stopped' ? (endedAt ?? 0) : 0)
}

/** Returns a function that says whether a session has something that this person has not read in this browser. */
export function useIsUnread(): (session: Session) => boolean {
  const { me } = useGateway()
  const stored = usePreference(readName(me))
  return useMemo(() => {
    const read = parseReadTimes(stored)
    return session => read !== null && newsAt(session) > Math.max(read.since, read.sessions.get(session.id) ?? 0)
  }, [stored])
}

export function useMarkAllRead(): () => void {
  const { me } = useGateway()
  const now = useGatewayTime(1000)
  return () => writePreference(readName(me), JSON.stringify({ since: now + 1000, sessions: {} }))
}

/** Marks the shown session as read while the page is visible. On the first visit, everything that happened before counts as read. */
export function useMarkRead(shown: SessionId | null): void {
  const { me, inbox } = useGateway()
  const isLive = useInboxPart(({ status }) => status === 'live')
  const at = useInboxPart(({ sessions }) => {
    const session = shown === null ? undefined : sessions.get(shown)
    return session ? newsAt(session) : 0
  })
  const isVisible = useSyncExternalStore(subscribeToVisibility, () => document.visibilityState === 'visible')
  useEffect(() => {
    if (!isLive) return
    const read = parseReadTimes(readPreference(readName(me)))
    const now = Date.now() + inbox.getSnapshot().clockSkewMs
    if (!read) writePreference(readName(me), JSON.stringify({ since: now, sessions: {} }))
    else if (shown !== null && isVisible && at > Math.max(read.since, read.sessions.get(shown) ?? 0))
      writePreference(readName(me), writeReadTimes(read, shown, at))
  }, [me, inbox, isLive, shown, isVisible, at])
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
