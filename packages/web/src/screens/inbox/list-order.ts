/** Decides which requests the inbox and the screen of a session show and in which order. While a person looks at the list, new requests never move the cards on screen. */
import type { RequestId } from '@holdpoint/protocol'

export interface OrderContext {
  /** True while the list is on screen, so the cards on screen must keep their positions. */
  readonly isVisible: boolean
  /** True while the pointer is over the section below the list, which would move if requests were added. */
  readonly isEndHovered: boolean
  /** Resolved requests that have been shown long enough and are now removed. */
  readonly expired: ReadonlySet<RequestId>
  /** Returns whether a part of the request's card is on screen. */
  readonly isOnScreen: (id: RequestId) => boolean
}

/** Returns the requests to show. `pending` is in the order of the inbox, most urgent first. A button shows the pending requests that are not in the result. */
export function orderRequests(
  shown: readonly RequestId[],
  pending: readonly RequestId[],
  { isVisible, isEndHovered, expired, isOnScreen }: OrderContext,
): readonly RequestId[] {
  if (!isVisible) return keepIfEqual(shown, pending)
  const kept = shown.filter(id => !expired.has(id))
  const keptSet = new Set(kept)
  const added = pending.filter(id => !keptSet.has(id))
  if (added.length === 0 || (isEndHovered && kept.length > 0)) return keepIfEqual(shown, kept)
  const fixed = kept.findLastIndex(isOnScreen) + 1
  return [...kept.slice(0, fixed), ...merged(kept.slice(fixed), added, pending)]
}

/** Inserts the added requests below the cards on screen, each before the first request that is less urgent. */
function merged(
  rest: readonly RequestId[],
  added: readonly RequestId[],
  pending: readonly RequestId[],
): readonly RequestId[] {
  const rank = new Map(pending.map((id, index) => [id, index]))
  const rankOf = (id: RequestId) => rank.get(id) ?? Number.NEGATIVE_INFINITY
  const result: RequestId[] = []
  let next = 0
  for (const id of rest) {
    for (let first = added[next]; first !== undefined && rankOf(first) < rankOf(id); first = added[++next])
      result.push(first)
    result.push(id)
  }
  return [...result, ...added.slice(next)]
}

/** Returns the pending requests that the list does not show. */
export function heldBack(shown: readonly RequestId[], pending: readonly RequestId[]): readonly RequestId[] {
  const shownSet = new Set(shown)
  return pending.filter(id => !shownSet.has(id))
}

/** Returns the previous array if nothing changed, so that React does not render the list again. */
function keepIfEqual(before: readonly RequestId[], after: readonly RequestId[]): readonly RequestId[] {
  return before.length === after.length && before.every((id, i) => id === after[i]) ? before : after
}

/** Returns the next pending request after `current` (or before, if `direction` is -1). If there is none, returns `current` if that is pending, else null. */
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
