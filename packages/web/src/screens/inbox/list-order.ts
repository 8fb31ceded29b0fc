/** Which requests stand in the list, in which order: while somebody looks, nothing is pushed aside by what comes (nothing jumps). */
import type { RequestId } from '@holdpoint/protocol'

export interface OrderContext {
  /** Somebody looks at the list: what stands in it keeps its place. */
  readonly looking: boolean
  /** The pointer is on what stands below the list: nothing is added to its end either. */
  readonly endHeld: boolean
  /** Folded ones whose time is over. */
  readonly left: ReadonlySet<RequestId>
  readonly openedAt: (id: RequestId) => number
}

/** `pending` is in the order of the gateway, oldest first. What of it is not in the result is held back, and announces itself. */
export function orderRequests(
  shown: readonly RequestId[],
  pending: readonly RequestId[],
  { looking, endHeld, left, openedAt }: OrderContext,
): readonly RequestId[] {
  if (!looking) return same(shown, pending)
  const stay = shown.filter(id => !left.has(id))
  const standing = new Set(stay)
  const newest = pending.findLast(id => standing.has(id))
  const lastAt = newest === undefined ? Number.NEGATIVE_INFINITY : openedAt(newest)
  // By time, not by place: those of the same moment have an order, too, but it tells nobody anything.
  const behind = pending.filter(id => !standing.has(id) && openedAt(id) >= lastAt)
  return same(shown, endHeld && stay.length > 0 ? stay : [...stay, ...behind])
}

/** What waits and does not stand in the list. */
export function heldBack(shown: readonly RequestId[], pending: readonly RequestId[]): readonly RequestId[] {
  const standing = new Set(shown)
  return pending.filter(id => !standing.has(id))
}

function same(before: readonly RequestId[], after: readonly RequestId[]): readonly RequestId[] {
  return before.length === after.length && before.every((id, at) => id === after[at]) ? before : after
}

/** The place of the keys after `from` in a list from which things may vanish: the next that still waits, else the one before. */
export function step(
  shown: readonly RequestId[],
  from: RequestId | null,
  by: 1 | -1,
  waits: (id: RequestId) => boolean,
): RequestId | null {
  const at = from === null ? -1 : shown.indexOf(from)
  const start = at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by
  for (let i = start; i >= 0 && i < shown.length; i += by) {
    const id = shown[i]
    if (id !== undefined && waits(id)) return id
  }
  return from !== null && waits(from) ? from : null
}
