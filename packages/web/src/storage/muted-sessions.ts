/** The sessions that the person has muted in this browser: their requests are listed last, and cause no notifications. */
import { isId, type SessionId } from '@holdpoint/protocol'
import { useMemo } from 'react'
import { useInboxPart } from '../gateway/gateway-context.ts'
import { readPreference, usePreference, writePreference } from './preferences.ts'

/** The oldest muted sessions are forgotten first. */
const mutedMax = 200

function parse(stored: string | null): ReadonlySet<SessionId> {
  try {
    const ids: unknown = JSON.parse(stored ?? '[]')
    return new Set(Array.isArray(ids) ? ids.filter(id => isId('ses', id)) : [])
  } catch {
    return new Set() // something else wrote the entry
  }
}

export function readMuted(): ReadonlySet<SessionId> {
  return parse(readPreference('muted'))
}

export function useMuted(): ReadonlySet<SessionId> {
  const stored = usePreference('muted')
  return useMemo(() => parse(stored), [stored])
}

export function setMuted(id: SessionId, muted: boolean): void {
  const others = [...readMuted()].filter(other => other !== id)
  writePreference('muted', JSON.stringify((muted ? [...others, id] : others).slice(-mutedMax)))
}

/** Returns the number of pending requests, without those of muted sessions. */
export function useWaitingCount(): number {
  const muted = useMuted()
  return useInboxPart(({ pendingCount, sessions }) =>
    [...muted].reduce((count, id) => count - (sessions.get(id)?.pending ?? 0), pendingCount),
  )
}

export function clearMuted(): void {
  writePreference('muted', '[]')
}
