/** Changes the state of requests according to the transition table, also when a deadline has passed, and writes each row together with its event. */
import {
  type AgentReason,
  isGatewayRequest,
  type RequestId,
  type Resolution,
  type SessionId,
  withEffective,
} from '@holdpoint/protocol'
import type { ChangeBuilder } from './change-builder.ts'
import { type DraftRow, openCodes, type RequestRow, type SealedAnswer, type SessionRow } from './rows.ts'
import { type RequestState, type RequestTransition, type RequestTrigger, requestTransitions } from './transitions.ts'
import { putRequest, usageIn } from './usage.ts'
import { maskResolution } from './wire-views.ts'

type OpenState = keyof typeof openCodes

/** Returns the open requests of a session that are in one of the given states. Reads no requests if the session has none in these states. */
function openRequestsIn(change: ChangeBuilder, session: SessionId, states: readonly OpenState[]): RequestRow[] {
  const usage = usageIn(change, session)
  if (states.every(state => usage[state] === 0)) return []
  return change.find('request', { where: { open: states.map(state => openCodes[state]), session } })
}
/** Returns the read that selects the drafts of a request. */
export function draftsFor(request: RequestId) {
  return { table: 'draft', query: { where: { request } } } as const
}
/** Returns the drafts of a session's pending requests. */
function draftsIn(change: ChangeBuilder, session: SessionId): DraftRow[] {
  return usageIn(change, session).pending === 0 ? [] : change.find('draft', { where: { session } })
}

function requestState(row: RequestRow): RequestState {
  return row.status === 'pending' ? 'pending' : row.delivery.state
}
export function requestTransitionFor(row: RequestRow, trigger: RequestTrigger): RequestTransition {
  return requestTransitions[requestState(row)][trigger]
}

/** Resolves a pending request and deletes its drafts. No other function resolves requests. The answer must be masked; `sealed` contains its secrets. */
export function resolveRequest(
  change: ChangeBuilder,
  row: RequestRow,
  trigger: RequestTrigger,
  resolution: Omit<Resolution, 'at'>,
  drafts: readonly DraftRow[],
  sealed: SealedAnswer | null = null,
): RequestRow {
  const to = requestTransitionFor(row, trigger)
  if (to !== 'waiting' && to !== 'taken')
    throw new Error(`${trigger} cannot resolve a request that is ${requestState(row)}`)
  const full: Resolution = { at: change.now, ...resolution }
  const delivery = { state: to, at: change.now }
  const resolvedSeq = change.nextSeq
  // A field that is added after a copied object costs more than the copy, so the two fields that a pending request does not have come first.
  const resolved: RequestRow = { sealed, resolvedSeq, ...row, status: 'resolved', resolution: full, delivery }
  const next = putRequest(change, row, resolved)
  change.event(row.session, resolvedEvent(next))
  for (const draft of drafts) if (draft.request === row.id) change.delete('draft', draft.id)
  if (to === 'taken' || !isGatewayRequest(row)) return next
  // The gateway applies the answer itself, so nothing has to be delivered to the agent.
  return setDelivery(change, setDelivery(change, next, 'handed'), 'taken')
}

/** Returns the body of the event that resolved the request. `decisionFault` rebuilds the event from the row and compares the hashes, so the order of the fields matters. */
export function resolvedEvent({
  id,
  ask,
  digest,
  resolution,
}: Pick<RequestRow, 'id' | 'ask' | 'digest' | 'resolution'>) {
  // The log contains the comments themselves. A later version may tell the agent the same in other words, and must still find the same event.
  const effective = withEffective(ask, resolution as Resolution) // the caller passes a resolved request
  const full = effective.agentText === undefined ? effective : withoutAgentText(effective)
  const state = full.by === 'agent' ? ('taken' as const) : ('waiting' as const)
  return { type: 'request.resolved' as const, request: id, digest, resolution: full, delivery: { state, at: full.at } }
}

function withoutAgentText({ agentText: _, ...resolution }: Resolution): Resolution {
  return resolution
}

/** Applies the deadline of a pending request if the deadline has passed: denies the request or marks it as overdue. This function must be called before anything else resolves the request, because a deadline that denies wins even if the sweep has not run yet (G1). */
export function expireIfDue(change: ChangeBuilder, row: RequestRow, drafts: readonly DraftRow[]): RequestRow {
  if (row.status !== 'pending' || row.deadlineAt === null || change.now < row.deadlineAt) return row
  if (row.onDeadline === 'deny') {
    markNeedsRunner(change, row)
    return resolveRequest(change, row, 'deadline', { by: 'deadline', reason: 'nobody answered' }, drafts)
  }
  if (row.overdue) return row
  change.event(row.session, { type: 'request.overdue', request: row.id })
  return change.put('request', { ...row, overdue: true })
}

/** Sets the delivery state of a resolved request. */
export function setDelivery(
  change: ChangeBuilder,
  row: RequestRow,
  state: 'handed' | 'taken' | 'unknown' | 'undeliverable',
  extra: { readonly reason?: string; readonly fence?: number } = {},
): RequestRow {
  const delivery = { state, at: change.now, ...(extra.reason === undefined ? {} : { reason: extra.reason }) }
  const isFinal = state === 'taken' || state === 'undeliverable'
  const next = putRequest(change, row, {
    ...(isFinal ? withoutSecrets(change, row) : row),
    delivery,
    handedFence: extra.fence ?? row.handedFence,
  })
  change.event(row.session, { type: `request.${state}`, request: row.id, delivery })
  return next
}

/** Removes the secrets of an answer that the agent has taken or can no longer get. The commit deletes their key. */
export function withoutSecrets(change: ChangeBuilder, row: RequestRow): RequestRow {
  if (row.sealed) change.releaseKey(row.sealed.key)
  return { ...row, resolution: row.resolution && maskResolution(row.ask, row.resolution), sealed: null }
}

/** Thrown inside `decide` if a change would have to resolve too many requests at once. `commit` first resolves some of them in a change of their own, and then decides the change again. */
export class TooManyAtOnce extends Error {
  readonly session: SessionId
  readonly fence: number
  readonly trigger: SessionWideTrigger
  constructor({ id, fence }: Pick<SessionRow, 'id' | 'fence'>, trigger: SessionWideTrigger) {
    super(`session ${id} has too many open requests for one change`)
    this.session = id
    this.fence = fence
    this.trigger = trigger
  }
}
type SessionWideTrigger = 'interrupt' | 'end' | 'finish' | 'agentLost'

/** How many requests one change resolves. More would block all other work for too long. */
const resolvedPerChangeMax = 500

/** Returns the states in which a trigger changes requests. */
function changedStates(trigger: SessionWideTrigger): readonly OpenState[] {
  return (['pending', 'waiting', 'handed'] as const).filter(state => requestTransitions[state][trigger] !== 'stay')
}

/** Resolves all pending requests of a session on behalf of the agent, and updates the delivery of its answers. */
export function resolveOpenRequests(change: ChangeBuilder, session: SessionRow, trigger: SessionWideTrigger): void {
  const states = changedStates(trigger)
  const usage = usageIn(change, session.id)
  const count = states.reduce((sum, state) => sum + usage[state], 0)
  if (count > resolvedPerChangeMax) throw new TooManyAtOnce(session, trigger)
  resolveByAgent(change, openRequestsIn(change, session.id, states), trigger, draftsIn(change, session.id))
}

/** Resolves some of the requests of a session, unless another runner has attached the session since. */
export function resolveSomeRequests(change: ChangeBuilder, { session, fence, trigger }: TooManyAtOnce): void {
  if (change.get('session', session)?.fence !== fence) return
  const open = changedStates(trigger).map(state => openCodes[state])
  const rows = change.find('request', { where: { open, session }, limit: resolvedPerChangeMax })
  resolveByAgent(change, rows, trigger, draftsIn(change, session))
}

/** Resolves pending requests on behalf of the agent, and updates the delivery of answers that the agent has not taken yet. */
export function resolveByAgent(
  change: ChangeBuilder,
  rows: readonly RequestRow[],
  trigger: 'withdraw' | SessionWideTrigger,
  drafts: readonly DraftRow[],
): void {
  const resolutionReasons: Record<typeof trigger, AgentReason> = {
    withdraw: 'withdrawn',
    interrupt: 'interrupted',
    end: 'session_ended',
    finish: 'session_ended',
    agentLost: 'lost',
  }
  const deliveryReasons = {
    withdraw: 'the agent withdrew the request',
    interrupt: 'the turn was interrupted first',
    end: 'the session ended first',
    finish: 'the session ended first',
    agentLost: 'the agent was lost first',
  }
  for (const found of rows) {
    const row = expireIfDue(change, found, drafts)
    const to = requestTransitionFor(row, trigger)
    if (row.status === 'pending')
      resolveRequest(change, row, trigger, { by: 'agent', reason: resolutionReasons[trigger] }, drafts)
    else if (to === 'taken') setDelivery(change, row, to)
    else if (to === 'undeliverable' || to === 'unknown')
      setDelivery(change, row, to, { reason: deliveryReasons[trigger] })
  }
}

/** Marks answers that were handed but not taken as unknown: the agent may or may not have received them (G5). */
export function markHandedUnknown(change: ChangeBuilder, session: SessionId): void {
  for (const request of openRequestsIn(change, session, ['handed']))
    if (requestTransitionFor(request, 'markUnknown') === 'unknown')
      setDelivery(change, request, 'unknown', { reason: 'the agent was lost after the answer was handed to it' })
}

/** Marks a parked session so that a runner resumes it and its agent gets the answer to the request. Writes no event, because the caller writes the event of the resolution. */
export function markNeedsRunner(change: ChangeBuilder, request: RequestRow): void {
  const row = isGatewayRequest(request) ? undefined : change.get('session', request.session)
  if (row && row.state === 'parked' && !row.needsRunner) change.put('session', { ...row, needsRunner: true })
}
