/** Decides which entries the virtual list renders next. The list can keep its scroll position only if entries are added at one end per render, so entries at the start are added first and entries at the end in the next render. */
import type { Entry } from '@holdpoint/client'

export interface VisibleEntries {
  readonly entries: readonly Entry[]
  /** True if entries were added at the start. */
  readonly shift: boolean
  /** True if entries at the end must wait for the next render. */
  readonly more: boolean
}

export function nextVisible(before: readonly Entry[], now: readonly Entry[]): VisibleEntries {
  const first = before[0]?.id
  const last = before.at(-1)?.id
  const all = { entries: now, shift: false, more: false }
  if (first === undefined || now[0]?.id === first) return all
  const end = now.findLastIndex(entry => entry.id === last)
  // The last shown entry no longer exists, so this is a different list.
  if (end === -1) return all
  const more = end < now.length - 1
  return { entries: more ? now.slice(0, end + 1) : now, shift: true, more }
}

/** Counts the entries after the last entry that the person has seen. */
export function unseenSince(entries: readonly Entry[], lastSeen: string | null): number {
  if (lastSeen === null) return 0
  const at = entries.findLastIndex(entry => entry.id === lastSeen)
  return at === -1 ? 0 : entries.length - 1 - at
}

/** Returns when the turn that ends with this entry began: the time of the person's message; null if that is not known. */
export function turnStart(entries: readonly Entry[], end: number): number | null {
  if (entries[end]?.kind !== 'turn') return null
  for (let i = end - 1; i >= 0; i--) {
    const entry = entries[i]
    if (entry?.kind === 'turn') return null
    if (entry?.kind === 'message' && entry.role === 'person') return entry.at
  }
  return null
}
