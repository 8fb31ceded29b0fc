/** Several requests chosen to be answered at once, and why one cannot be among them. */
import type { Request, RequestId } from '@holdpoint/protocol'
import { batchable } from '../../request/batch.ts'

/** Asked of every request whenever the list is drawn; a request does not change, it is replaced. */
const known = new WeakMap<Request, string | null>()

/** Null where it can. */
export function batchProblem(request: Request): string | null {
  const said = known.get(request)
  if (said !== undefined) return said
  const why = reasonOf(request)
  known.set(request, why)
  return why
}

function reasonOf(request: Request): string | null {
  if (batchable(request)) return null
  const { ask, status } = request
  if (status === 'resolved') return 'It is resolved already.'
  if (ask.kind === 'questions') return 'Questions are answered one by one.'
  if (ask.kind === 'form') return 'A form is filled in on its own.'
  if (ask.plan !== undefined) return 'A plan is decided on its own.'
  if (ask.caution?.defaultToNo) return 'Its agent advises against it: decide it on its own.'
  return 'It is too long to be seen at a glance: decide it on its own.'
}

/** Everything from the one to the other, in the order of the list, both included. */
export function range(shown: readonly RequestId[], from: RequestId | null, to: RequestId): readonly RequestId[] {
  const [a, b] = [from === null ? -1 : shown.indexOf(from), shown.indexOf(to)]
  return a < 0 ? [to] : shown.slice(Math.min(a, b), Math.max(a, b) + 1)
}

export interface PartitionedSelection {
  readonly fit: readonly RequestId[]
  /** Why the others were left; empty where none was. */
  readonly why: string
}

/** What of a range can be chosen: nobody chooses what must be decided alone, nor what has not been on the screen. */
export function partitionSelectable(range: readonly Request[], seen: ReadonlySet<RequestId>): PartitionedSelection {
  const waiting = range.filter(({ status }) => status === 'pending')
  const alone = waiting.filter(request => batchProblem(request) !== null)
  const unseen = waiting.filter(request => batchProblem(request) === null && !seen.has(request.id))
  const left = new Set([...alone, ...unseen])
  const said = [
    ...(alone.length === 1 ? ['1 of these must be decided on its own.'] : []),
    ...(alone.length > 1 ? [`${alone.length} of these must be decided one by one.`] : []),
    ...(unseen.length === 1 ? ['1 has not been on the screen yet: scroll to it first.'] : []),
    ...(unseen.length > 1 ? [`${unseen.length} have not been on the screen yet: scroll to them first.`] : []),
  ]
  return { fit: waiting.filter(request => !left.has(request)).map(({ id }) => id), why: said.join(' ') }
}

export function withChoice(
  before: ReadonlySet<RequestId>,
  ids: readonly RequestId[],
  chosen: boolean,
): ReadonlySet<RequestId> {
  const after = new Set(before)
  for (const id of ids)
    if (chosen) after.add(id)
    else after.delete(id)
  return after
}
