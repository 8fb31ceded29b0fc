/** Which entries a list shows next, when some have come in front and others behind: first those in front, since a list keeps its place from one end at a time. */
import type { Entry } from '@holdpoint/client'

export interface VisibleEntries {
  readonly entries: readonly Entry[]
  /** Entries have come in front. */
  readonly shift: boolean
  /** More have come behind, which are to be shown next. */
  readonly more: boolean
}

export function showNext(before: readonly Entry[], now: readonly Entry[]): VisibleEntries {
  const first = before[0]?.id
  const last = before.at(-1)?.id
  const whole = { entries: now, shift: false, more: false }
  if (first === undefined || now[0]?.id === first) return whole
  const end = now.findLastIndex(entry => entry.id === last)
  // Nothing of what was shown is there any more: this is another list.
  if (end === -1) return whole
  const more = end < now.length - 1
  return { entries: more ? now.slice(0, end + 1) : now, shift: true, more }
}

/** How many entries have come behind the last one that was seen. */
export function unseenSince(entries: readonly Entry[], lastSeen: string | null): number {
  if (lastSeen === null) return 0
  const at = entries.findLastIndex(entry => entry.id === lastSeen)
  return at === -1 ? 0 : entries.length - 1 - at
}
