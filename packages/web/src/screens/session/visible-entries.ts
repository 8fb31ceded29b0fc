/** Which entries the virtual list shows next. It can keep its scroll position for additions at one end at a time, so entries at the start come first, those at the end in the next render. */
import type { Entry } from '@holdpoint/client'

export interface VisibleEntries {
  readonly entries: readonly Entry[]
  /** Entries were added at the start. */
  readonly shift: boolean
  /** Entries at the end are left for the next render. */
  readonly more: boolean
}

export function nextVisible(before: readonly Entry[], now: readonly Entry[]): VisibleEntries {
  const first = before[0]?.id
  const last = before.at(-1)?.id
  const all = { entries: now, shift: false, more: false }
  if (first === undefined || now[0]?.id === first) return all
  const end = now.findLastIndex(entry => entry.id === last)
  // None of the shown entries exists any more: this is another list.
  if (end === -1) return all
  const more = end < now.length - 1
  return { entries: more ? now.slice(0, end + 1) : now, shift: true, more }
}

/** How many entries follow the last seen one. */
export function unseenSince(entries: readonly Entry[], lastSeen: string | null): number {
  if (lastSeen === null) return 0
  const at = entries.findLastIndex(entry => entry.id === lastSeen)
  return at === -1 ? 0 : entries.length - 1 - at
}
