/** Decides which requests can be selected for a batch, and says why others can't. */
import { isDangerous } from '@holdpoint/client'
import { canonicalJson, type Request, type RequestId } from '@holdpoint/protocol'
import { needReview, notYetSeen, selectionProblems } from './texts.ts'

/** The input of a batch request must be so short that a card shows all of it without scrolling, even on a phone. */
const charsMax = 600
const linesMax = 12

/** Returns true if a request can be part of a batch. It must be a pending approval that is neither a plan nor dangerous, and fits on a card without scrolling. */
export function batchable(request: Request): boolean {
  const { ask, status } = request
  if (status !== 'pending' || ask.kind !== 'approval') return false
  if (ask.plan !== undefined || isDangerous(request)) return false
  const input = canonicalJson(ask.input)
  return input.length <= charsMax && input.split('\\n').length <= linesMax
}

/** Caches the results of `batchProblem`, because the list calls it for every request at every render. Requests are immutable, so entries never become stale. */
const cache = new WeakMap<Request, string | null>()

/** Returns why the request can't be part of a batch; null if it can. */
export function batchProblem(request: Request): string | null {
  const cached = cache.get(request)
  if (cached !== undefined) return cached
  const problem = findProblem(request)
  cache.set(request, problem)
  return problem
}

function findProblem(request: Request): string | null {
  if (batchable(request)) return null
  const { ask, status } = request
  if (status === 'resolved') return selectionProblems.resolved
  if (ask.kind === 'questions') return selectionProblems.questions
  if (ask.kind === 'form') return selectionProblems.form
  if (ask.plan !== undefined) return selectionProblems.plan
  if (isDangerous(request)) return selectionProblems.dangerous
  return selectionProblems.long
}

/** Returns the shown requests between `from` and `to`, including both. If `from` is null or not shown, returns only `to`. */
export function range(shown: readonly RequestId[], from: RequestId | null, to: RequestId): readonly RequestId[] {
  const [a, b] = [from === null ? -1 : shown.indexOf(from), shown.indexOf(to)]
  return a < 0 ? [to] : shown.slice(Math.min(a, b), Math.max(a, b) + 1)
}

export interface PartitionedSelection {
  readonly selectable: readonly RequestId[]
  /** A sentence that says why requests were left out; empty if no request was left out. */
  readonly problem: string
}

/** Returns the selectable requests of a range, and why other pending requests are left out: they need individual review, or have never been on screen. */
export function partitionSelectable(range: readonly Request[], seen: ReadonlySet<RequestId>): PartitionedSelection {
  const pending = range.filter(({ status }) => status === 'pending')
  const individual = pending.filter(request => batchProblem(request) !== null)
  const unseen = pending.filter(request => batchProblem(request) === null && !seen.has(request.id))
  const leftOut = new Set([...individual, ...unseen])
  const problems = [
    ...(individual.length > 0 ? [needReview(individual.length)] : []),
    ...(unseen.length > 0 ? [notYetSeen(unseen.length)] : []),
  ]
  return {
    selectable: pending.filter(request => !leftOut.has(request)).map(({ id }) => id),
    problem: problems.join(' '),
  }
}

export function withSelected(
  before: ReadonlySet<RequestId>,
  ids: readonly RequestId[],
  selected: boolean,
): ReadonlySet<RequestId> {
  const after = new Set(before)
  for (const id of ids)
    if (selected) after.add(id)
    else after.delete(id)
  return after
}
