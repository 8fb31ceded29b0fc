/** Decides which requests the inbox and the screen of a session show and in which order. `compareUrgency` in the client package defines the order itself. While a person looks at the list, new requests never move the cards on screen. */
import type { RequestId } from '@holdpoint/protocol'
import { groupBy } from './request-groups.ts'

export interface OrderContext {
  /** True while the list is on screen, so the cards on screen must keep their positions. */
  readonly isVisible: boolean
  /** True while the pointer is over the section below the list, which would move if requests were added. */
  readonly isEndHovered: boolean
  /** Resolved requests that have been shown long enough and are now removed. */
  readonly expired: ReadonlySet<RequestId>
  /** Returns whether a part of the request's row or card is on screen. */
  readonly isOnScreen: (id: RequestId) => boolean
  /** Returns the group of a request, if the list is grouped. `pending` must then be in the order of the groups. */
  readonly groupOf?: ((id: RequestId) => string) | undefined
}

/** Returns the requests to show. `pending` is in the order of the inbox, most urgent first. A button shows the pending requests that are not in the result. */
export function orderRequests(
  shown: readonly RequestId[],
  pending: readonly RequestId[],
  { isVisible, isEndHovered, expired, isOnScreen, groupOf }: OrderContext,
): readonly RequestId[] {
  if (!isVisible) return keepIfEqual(shown, pending)
  const kept = shown.filter(id => !expired.has(id))
  const keptSet = new Set(kept)
  const added = pending.filter(id => !keptSet.has(id))
  if (added.length === 0 || (isEndHovered && kept.length > 0)) return keepIfEqual(shown, kept)
  const fixed = kept.findLastIndex(isOnScreen) + 1
  if (groupOf) return keepIfEqual(shown, mergedInGroups(kept, fixed, added, pending, groupOf))
  return [...kept.slice(0, fixed), ...merged(kept.slice(fixed), added, pending)]
}

/** Inserts the added requests into their groups, but leaves out those whose group ends above or on the screen, because they would move other rows there. */
function mergedInGroups(
  kept: readonly RequestId[],
  fixed: number,
  added: readonly RequestId[],
  pending: readonly RequestId[],
  groupOf: (id: RequestId) => string,
): readonly RequestId[] {
  const runs = runsOf(kept, groupOf)
  const addedByGroup = groupBy(added, groupOf)
  // A run that begins on the screen may still grow at its end, if that end is below the screen.
  let from = 0
  const merging = runs.map(run => {
    const start = from
    from += run.length
    const group = groupOf(run[0] as RequestId) // a run has at least one request
    const additions = addedByGroup.get(group) ?? []
    addedByGroup.delete(group)
    if (from < fixed) return run
    const fixedInRun = Math.max(0, fixed - start)
    return [...run.slice(0, fixedInRun), ...merged(run.slice(fixedInRun), additions, pending)]
  })
  return insertGroups(merging, countWithin(runs, fixed), [...addedByGroup.values()], pending)
}

/** Inserts whole groups below the first `fixedRuns` runs, each before the first run that is less urgent. */
function insertGroups(
  runs: readonly (readonly RequestId[])[],
  fixedRuns: number,
  groups: readonly (readonly RequestId[])[],
  pending: readonly RequestId[],
): readonly RequestId[] {
  const rank = new Map(pending.map((id, index) => [id, index]))
  const rankOf = (run: readonly RequestId[]) =>
    Math.min(...run.map(id => rank.get(id) ?? Number.POSITIVE_INFINITY), pending.length)
  const result = [...runs]
  for (const group of groups) {
    const place = result.findIndex((run, index) => index >= fixedRuns && rankOf(run) > rankOf(group))
    result.splice(place < 0 ? result.length : place, 0, group)
  }
  return result.flat()
}

/** Returns how many runs begin within the first `fixed` requests. */
function countWithin(runs: readonly (readonly RequestId[])[], fixed: number): number {
  let [count, start] = [0, 0]
  for (const run of runs) {
    if (start < fixed) count++
    start += run.length
  }
  return count
}

/** Splits a list into runs of neighbors of the same group. */
function runsOf(ids: readonly RequestId[], groupOf: (id: RequestId) => string): readonly (readonly RequestId[])[] {
  const runs: RequestId[][] = []
  let last: string | null = null
  for (const id of ids) {
    const group = groupOf(id)
    if (group === last) runs.at(-1)?.push(id)
    else runs.push([id])
    last = group
  }
  return runs
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

/** Returns the shown requests that stand below a less urgent one. `order` is the order in which they belong. */
export function misplaced(shown: readonly RequestId[], order: readonly RequestId[]): ReadonlySet<RequestId> {
  const rank = new Map(order.map((id, index) => [id, index]))
  const result = new Set<RequestId>()
  let lowest = -1
  for (const id of shown) {
    const own = rank.get(id) ?? lowest
    if (own < lowest) result.add(id)
    lowest = Math.max(lowest, own)
  }
  return result
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
