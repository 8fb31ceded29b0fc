/** Moves of requests and sessions inside a change: each looks its cell up in the tables of life and writes row and event together. */
import {
  type AgentReason,
  type CommandOutcome,
  type Ending,
  Fault,
  limits,
  type Resolution,
  type SessionId,
} from '@holdpoint/protocol'
import type { ChangeBuilder } from './change-builder.ts'
import type { Context } from './context.ts'
import type { CommandRow, DraftRow, RequestRow, SessionRow } from './rows.ts'
import type { Read } from './store.ts'
import {
  type RequestState,
  type RequestTransition,
  type RequestTrigger,
  requestTransitions,
  type SessionTrigger,
  sessionTransitions,
} from './transitions.ts'
import { maskSecrets, toSession } from './wire-views.ts'

/** Requests of a session that are pending or whose delivery is not settled: what ends, parks and losses have to look at. */
export function openRequestsOf(session: SessionId): Extract<Read, { query: unknown }> & { table: 'request' } {
  return { table: 'request', query: { where: { open: 1, session } } }
}
export function openCommandsOf(session: SessionId): Extract<Read, { query: unknown }> & { table: 'command' } {
  return { table: 'command', query: { where: { open: 1, session } } }
}
export function sessionReads(session: SessionId): Read[] {
  const drafts: Read = { table: 'draft', query: { where: { session } } }
  return [{ table: 'session', id: session }, openRequestsOf(session), openCommandsOf(session), drafts]
}

export function stateOf(row: RequestRow): RequestState {
  return row.status === 'pending' ? 'pending' : row.delivery.state
}
export function transitionFor(row: RequestRow, command: RequestTrigger): RequestTransition {
  return requestTransitions[stateOf(row)][command]
}

/** Resolves a pending request; the one place that does. Of the drafts it drops those that were for this request. */
export function resolve(
  pen: ChangeBuilder,
  row: RequestRow,
  command: RequestTrigger,
  resolution: Omit<Resolution, 'at'>,
  drafts: readonly DraftRow[],
): RequestRow {
  const to = transitionFor(row, command)
  if (to !== 'waiting' && to !== 'taken') throw new Error(`${command} cannot resolve a request that is ${stateOf(row)}`)
  const full: Resolution = { at: pen.now, ...resolution }
  const delivery = { state: to, at: pen.now }
  const next = pen.put('request', { ...row, status: 'resolved', resolution: full, delivery })
  const shown = maskSecrets(row, full)
  pen.event(row.session, { type: 'request.resolved', request: row.id, digest: row.digest, resolution: shown, delivery })
  for (const draft of drafts) if (draft.request === row.id) pen.del('draft', draft.id)
  return next
}

/** At or after its deadline only the deadline can win, swept or not (G1). */
export function expireIfDue(pen: ChangeBuilder, row: RequestRow, drafts: readonly DraftRow[]): RequestRow {
  if (row.status !== 'pending' || row.deadlineAt === null || pen.now < row.deadlineAt) return row
  if (row.onDeadline === 'deny') {
    markNeedsRunner(pen, row.session)
    return resolve(pen, row, 'deadline', { by: 'deadline', reason: 'nobody answered' }, drafts)
  }
  if (row.overdue) return row
  pen.event(row.session, { type: 'request.overdue', request: row.id })
  return pen.put('request', { ...row, overdue: true })
}

/** Moves the delivery of a resolved request to another state. */
export function deliver(
  pen: ChangeBuilder,
  row: RequestRow,
  state: 'handed' | 'taken' | 'unknown' | 'undeliverable',
  extra: { readonly reason?: string; readonly fence?: number } = {},
): RequestRow {
  const delivery = { state, at: pen.now, ...(extra.reason === undefined ? {} : { reason: extra.reason }) }
  // Once the agent has it, or will never have it, a secret has no business here any more.
  const over = state === 'taken' || state === 'undeliverable'
  const resolution = over && row.resolution ? maskSecrets(row, row.resolution) : row.resolution
  const next = pen.put('request', { ...row, resolution, delivery, handedFence: extra.fence ?? row.handedFence })
  pen.event(row.session, { type: `request.${state}`, request: row.id, delivery })
  return next
}

/** The agent's side ends what waits, and accounts for what was on its way. */
export function resolveByAgent(
  pen: ChangeBuilder,
  rows: readonly RequestRow[],
  command: 'withdraw' | 'interrupt' | 'end' | 'lose',
  drafts: readonly DraftRow[],
): void {
  const reasons: Record<typeof command, AgentReason> = {
    withdraw: 'withdrawn',
    interrupt: 'interrupted',
    end: 'session_ended',
    lose: 'lost',
  }
  const why = {
    withdraw: 'the agent withdrew the request',
    interrupt: 'the turn was interrupted first',
    end: 'the session ended first',
    lose: 'the agent was lost first',
  }
  for (const found of rows) {
    const row = expireIfDue(pen, found, drafts)
    const to = transitionFor(row, command)
    if (to === 'taken') resolve(pen, row, command, { by: 'agent', reason: reasons[command] }, drafts)
    else if (to === 'undeliverable' || to === 'unknown') deliver(pen, row, to, { reason: why[command] })
  }
}

export function openRequestsIn(pen: ChangeBuilder, session: SessionId): RequestRow[] {
  return pen.find('request', openRequestsOf(session).query)
}
export function draftsIn(pen: ChangeBuilder, session: SessionId): DraftRow[] {
  return pen.find('draft', { where: { session } })
}

/** Text under way becomes a kept, partial block: an ask, an interrupt or an end must not lose what was said. */
export function persistPartialBlocks(ctx: Context, pen: ChangeBuilder, session: SessionId): void {
  for (const { block, text, agentPath } of ctx.live.partials(session))
    pen.event(session, {
      type: 'message.added',
      block,
      role: 'agent',
      text,
      partial: true,
      ...(agentPath ? { agentPath } : {}),
    })
}

/** Writes the session with its event. Needs `sessionReads` among the reads. */
export function putSession(
  pen: ChangeBuilder,
  row: SessionRow,
  type: 'session.opened' | 'session.changed' | 'session.ended' = 'session.changed',
): SessionRow {
  pen.put('session', row)
  const pending = openRequestsIn(pen, row.id).filter(request => request.status === 'pending').length
  pen.event(row.id, { type, value: toSession(row, pending) })
  return row
}

/** Where the table sends a session, or a Fault where it does not go. */
export function nextState(row: SessionRow, command: SessionTrigger): SessionRow['state'] | 'erase' | Fault {
  const resumable = row.capabilities.includes('resumable')
  const cell = sessionTransitions[row.state][command]
  switch (cell) {
    case 'stay':
      return row.state
    case 'revive':
      return row.turnOpen ? 'working' : 'idle'
    case 'parkOrEnd':
      return resumable ? 'parked' : 'ended'
    case 'reopen':
      return resumable ? 'parked' : sessionEnded(row)
    case 'refuse':
      return row.state === 'ended' ? sessionEnded(row) : refused(row, command)
    default:
      return cell
  }
}
function sessionEnded(row: SessionRow): Fault {
  return new Fault('session_ended', `Session ${row.id} has ended (${row.ending?.reason ?? 'done'}); start a new one`, {
    id: row.id,
  })
}
function refused(row: SessionRow, command: SessionTrigger): Fault {
  return command === 'delete'
    ? new Fault('session_live', `Session ${row.id} is ${row.state}; end it before deleting it`, { id: row.id })
    : new Fault('fenced', `Session ${row.id} is ${row.state} and held by nobody; attach before you ${command}`, {
        id: row.id,
      })
}

/** The session after a command that its table lets through; who may be refused asks `nextState` first. */
export function applyTransition(pen: ChangeBuilder, row: SessionRow, command: SessionTrigger): SessionRow {
  const state = nextState(row, command)
  if (state instanceof Fault || state === 'erase') throw new Error(`${command} has no way on from ${row.state}`)
  return state === row.state ? row : { ...row, state, stateChangedAt: pen.now }
}

/** Ends a session for good: everything open is settled and everything asked of it is answered for. */
export function applySessionEnd(
  ctx: Context,
  pen: ChangeBuilder,
  row: SessionRow,
  ending: Ending,
  command: 'stop' | 'finish' | 'lose' | 'giveUp',
): SessionRow {
  persistPartialBlocks(ctx, pen, row.id)
  resolveByAgent(pen, openRequestsIn(pen, row.id), command === 'lose' ? 'lose' : 'end', draftsIn(pen, row.id))
  for (const open of pen.find('command', openCommandsOf(row.id).query))
    if (open.state !== 'done' && open.body.kind !== 'end')
      markCommandDone(pen, open, { ok: false, reason: 'the session ended first' })
  const gone = withoutProcess(pen, applyTransition(pen, row, command), command === 'lose' ? 'lost' : 'stopped')
  return putSession(pen, { ...gone, endedAt: pen.now, ending, turnOpen: false, needsRunner: false }, 'session.ended')
}

/** Nobody drives it any more: a process that was said to live does not. */
function withoutProcess(pen: ChangeBuilder, row: SessionRow, state: 'stopped' | 'lost'): SessionRow {
  return row.process?.state === 'live' ? { ...row, process: { state, changedAt: pen.now } } : row
}

export function markCommandDone(pen: ChangeBuilder, row: CommandRow, outcome: CommandOutcome): CommandRow {
  pen.event(row.session, { type: 'command.done', command: row.id, outcome })
  return pen.put('command', { ...row, state: 'done', outcome })
}

/** Nobody drives an ended session any more: what was asked of it last is answered for. */
export function finishEndCommands(pen: ChangeBuilder, row: SessionRow): SessionRow {
  for (const command of pen.find('command', openCommandsOf(row.id).query)) markCommandDone(pen, command, { ok: true })
  return pen.put('session', { ...row, lease: null })
}

/** The runner is gone, or gave the session back: what was in hand is in doubt, what waits goes on waiting. */
export function releaseSession(
  ctx: Context,
  pen: ChangeBuilder,
  row: SessionRow,
  command: 'lose' | 'park',
): SessionRow {
  const next = applyTransition(pen, row, command)
  if (row.state !== 'ended' && next.state === 'ended')
    return applySessionEnd(
      ctx,
      pen,
      { ...row, lease: null, runner: null },
      { reason: 'lost', detail: 'its runner is gone' },
      'lose',
    )
  markHandedUnknown(pen, row.id)
  const free = { ...withoutProcess(pen, next, command === 'lose' ? 'lost' : 'stopped'), lease: null }
  const needsRunner = free.state !== 'ended' && isRunnerNeeded(pen, free)
  if (needsRunner && free.idleAttaches >= limits.idleAttachesMax)
    return applySessionEnd(ctx, pen, free, { reason: 'failed', detail: broughtDown }, 'giveUp')
  persistPartialBlocks(ctx, pen, row.id)
  return putSession(pen, { ...free, needsRunner })
}
const broughtDown = `its agent brought its runner down ${limits.idleAttachesMax} times in a row`

/** Its agent got on since it was attached. Silent: the event that shows it says it. */
export function resetIdleAttaches(pen: ChangeBuilder, row: SessionRow): SessionRow {
  return row.idleAttaches === 0 ? row : pen.put('session', { ...row, idleAttaches: 0 })
}

/** What was handed and not seen taken: nobody knows any more whether the agent got it (G5). */
export function markHandedUnknown(pen: ChangeBuilder, session: SessionId): void {
  for (const request of openRequestsIn(pen, session))
    if (transitionFor(request, 'doubt') === 'unknown')
      deliver(pen, request, 'unknown', { reason: 'the agent was lost while it had this in hand' })
}

/** Is there anything for the agent to do? A resolution to take; or, where no request holds it up, a command to carry out or a turn to go on with. */
export function isRunnerNeeded(pen: ChangeBuilder, row: SessionRow): boolean {
  if (row.state === 'starting') return true
  if (openRequestsIn(pen, row.id).some(request => stateOf(request) === 'waiting')) return true
  const waits = row.turnOpen || pen.find('command', openCommandsOf(row.id).query).length > 0
  return waits && !hasPendingRequests(pen, row.id)
}

/** It waits for people: a message stands behind what it asked, and bringing it back would only park it again. */
export function hasPendingRequests(pen: ChangeBuilder, session: SessionId): boolean {
  return openRequestsIn(pen, session).some(request => request.status === 'pending')
}

/** A parked session has something for its agent now; a runner should bring it back. Silent: the event that caused it says it. */
export function markNeedsRunner(pen: ChangeBuilder, session: SessionId): void {
  const row = pen.get('session', session)
  if (row && row.state === 'parked' && !row.needsRunner) pen.put('session', { ...row, needsRunner: true })
}

export function clip(text: string): string {
  return text.length > limits.titleMax ? `${text.slice(0, limits.titleMax - 1)}…` : text
}
