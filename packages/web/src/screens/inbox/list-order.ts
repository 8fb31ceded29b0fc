/** Which requests the inbox shows, in which order. While a person looks at the list, new requests never move the ones on screen. */
import type { RequestId } from '@holdpoint/protocol'

export interface OrderContext {
  /** The list is on screen: requests in it keep their positions. */
  readonly isVisible: boolean
  /** The pointer is over the section below the list: nothing is appended either. */
  readonly isEndHovered: boolean
  /** Resolved requests that have been shown long enough. */
  readonly expired: ReadonlySet<RequestId>
  readonly openedAt: (id: RequestId) => number
}

/** `pending` is in the gateway's order, oldest first. Pending requests that are not in the result are held back; a button shows them. */
export function orderRequests(
  shown: readonly RequestId[],
  pending: readonly RequestId[],
  { isVisible, isEndHovered, expired, openedAt }: OrderContext,
): readonly RequestId[] {
  if (!isVisible) return keepIfEqual(shown, pending)
  const kept = shown.filter(id => !expired.has(id))
  const keptSet = new Set(kept)
  const newest = pending.findLast(id => keptSet.has(id))
  const newestAt = newest === undefined ? Number.NEGATIVE_INFINITY : openedAt(newest)
  // Compare times, not positions: the order of requests opened in the same moment has no meaning.
  const appended = pending.filter(id => !keptSet.has(id) && openedAt(id) >= newestAt)
  return keepIfEqual(shown, isEndHovered && kept.length > 0 ? kept : [...kept, ...appended])
}

/** The pending requests that the list does not show. */
export function heldBack(shown: readonly RequestId[], pending: readonly RequestId[]): readonly RequestId[] {
  const shownSet = new Set(shown)
  return pending.filter(id => !shownSet.has(id))
}

/** Returns the same array if nothing changed, so that nothing renders again. */
function keepIfEqual(before: readonly RequestId[], after: readonly RequestId[]): readonly RequestId[] {
  return before.length === after.length && before.every((id, i) => id === after[i]) ? before : after
}

/** The next pending request after (or before) `current`; `current` itself if there is none and it is pending. */
export function nextPending(
  shown: readonly RequestId[],
  current: RequestId | null,
  direction: 1 | -1,
  isPending: (id: RequestId) => boolean,
): RequestId | null {
  const index = current === null ? -1 : shown.indexOf(current)
  const start = index < 0 ? (direction > 0 ? 0 : shown.length - 1) : index + direction
  for (let i = start; i >= 0 && i < shown.length; i += direction) {
    const id = shown[i]
    if (id !== undefined && isPending(id)) return id
  }
  return current !== null && isPending(current) ? current : null
}
