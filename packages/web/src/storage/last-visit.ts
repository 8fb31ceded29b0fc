/** Remembers for each person and browser when the page was last visible. If that was more than a few minutes ago, the person was away, and the inbox says what happened since. */
import { useEffect, useMemo } from 'react'
import { useGateway } from '../gateway/gateway-context.ts'
import { type PersonalName, readPreference, usePreference, writePreference } from './preferences.ts'

/** A person who was away for less time than this is not told what happened. */
export const awayMinMs = 5 * 60_000
/** A summary covers at most this much time before the end of an absence. */
const awayMaxMs = 7 * 24 * 3600_000
/** How often the visible page notes that it is visible, in case the browser is killed. */
const noteEveryMs = 20_000

/** A time in which the person was away, by the clock of this machine. */
export interface Away {
  readonly from: number
  readonly to: number
}
interface Visit {
  /** When the page was last visible. */
  readonly at: number
  /** The absence whose summary the person has not dismissed yet. */
  readonly away: Away | null
}

function visitName(me: string): PersonalName {
  return `visit.${me}`
}

export function parseVisit(stored: string | null): Visit | null {
  try {
    const { at, away } = JSON.parse(stored ?? 'null') as { at?: unknown; away?: unknown } // both are checked below
    const { from, to } = Object(away) as { from?: unknown; to?: unknown } // both are checked below
    if (typeof at !== 'number') return null
    return { at, away: typeof from === 'number' && typeof to === 'number' ? { from, to } : null }
  } catch {
    return null // nothing is stored yet, or something else wrote the entry
  }
}

/** Returns the visit after the page is visible at `now`. If the last absence was not dismissed, it and a new absence become one. */
export function visitAt(before: Visit | null, now: number): Visit {
  if (!before || now - before.at < awayMinMs) return { at: now, away: before?.away ?? null }
  return { at: now, away: { from: Math.max(before.away?.from ?? before.at, now - awayMaxMs), to: now } }
}

/** Notes when the page is visible. Every tab of this browser writes the same note, so looking at another tab of the page is not an absence. */
export function useNoteVisits(): void {
  const { me } = useGateway()
  useEffect(() => {
    const note = () => {
      const visit = visitAt(parseVisit(readPreference(visitName(me))), Date.now())
      writePreference(visitName(me), JSON.stringify(visit))
    }
    const noteIfVisible = () => document.visibilityState === 'visible' && note()
    noteIfVisible()
    const timer = setInterval(noteIfVisible, noteEveryMs)
    // The page was visible until this event, or becomes visible with it.
    document.addEventListener('visibilitychange', note)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', note)
    }
  }, [me])
}

/** Returns the last absence until its summary is dismissed, and a function that dismisses it. */
export function useAway(): readonly [away: Away | null, dismiss: () => void] {
  const { me } = useGateway()
  const stored = usePreference(visitName(me))
  const { from, to } = parseVisit(stored)?.away ?? {}
  const away = useMemo(() => (from === undefined || to === undefined ? null : { from, to }), [from, to])
  const dismiss = () => writePreference(visitName(me), JSON.stringify({ at: Date.now(), away: null }))
  return [away, dismiss]
}
