/** Changes the state of sessions according to the transition table, also when a runner is lost, and writes each row together with its event. */
import { type CommandOutcome, type Ending, Fault, limits, type SessionId } from '@holdpoint/protocol'
import { externalDriver } from './authorization.ts'
import type { ChangeBuilder } from './change-builder.ts'
import type { Context } from './context.ts'
import { markHandedUnknown, resolveOpenRequests } from './request-transitions.ts'
import type { CommandRow, SessionRow } from './rows.ts'
import type { Read } from './store.ts'
import { type SessionTrigger, sessionTransitions } from './transitions.ts'
import { countSession, usageIn } from './usage.ts'
import { toSession } from './wire-views.ts'

/** Returns the read that selects a session's commands that are not done. */
function openCommandsOf(session: SessionId): Extract<Read, { query: unknown }> & { table: 'command' } {
  return { table: 'command', query: { where: { open: 1, session } } }
}
export function openCommandsIn(change: ChangeBuilder, session: SessionId): CommandRow[] {
  return change.find('command', openCommandsOf(session).query)
}
/** Returns the reads that the functions in this file always need. The functions read open requests and drafts only if there are any. */
export function sessionReads(session: SessionId): Read[] {
  return [{ table: 'session', id: session }, { table: 'usage', id: session }, openCommandsOf(session)]
}

/** Stores each message that is still streaming as a partial message, so that its text survives an ask, an interrupt, a park or an end. Messages that `events` finish are complete. */
export function persistPartialBlocks(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionId,
  events: readonly { readonly type: string; readonly block?: string }[] = [],
): void {
  const finished = new Set(events.map(({ block }) => block))
  for (const { block, text, agentPath } of ctx.streamingBlocks.partialMessages(session))
    if (!finished.has(block))
      change.event(session, {
        type: 'message.added',
        block,
        role: 'agent',
        text,
        partial: true,
        ...(agentPath ? { agentPath } : {}),
      })
}

/** Returns the wire view of a session after this change. */
export function sessionView(change: ChangeBuilder, row: SessionRow) {
  return toSession(row, usageIn(change, row.id))
}

/** Writes the session and its event. */
export function putSession(
  change: ChangeBuilder,
  row: SessionRow,
  type: 'session.changed' | 'session.ended' = 'session.changed',
): SessionRow {
  change.event(row.id, { type, value: sessionView(change, row) })
  return change.put('session', row)
}

/** Writes a new session. The event contains what decides who may act for its agent, so that a changed row can be found. */
export function putOpenedSession(change: ChangeBuilder, row: SessionRow): SessionRow {
  const { fence, agent, openedBy } = row
  change.event(row.id, { type: 'session.opened', value: sessionView(change, row), fence, agent, openedBy })
  return change.put('session', row)
}

/** Writes a session that was attached. The event contains the new fence. */
export function putAttachedSession(change: ChangeBuilder, row: SessionRow): SessionRow {
  change.event(row.id, { type: 'session.changed', value: sessionView(change, row), fence: row.fence })
  return change.put('session', row)
}

/** Returns the state that a session enters on this trigger, or the Fault that refuses the trigger. */
export function nextSessionState(row: SessionRow, trigger: SessionTrigger): SessionRow['state'] | 'delete' | Fault {
  const resumable = row.capabilities.includes('resumable')
  const transition = sessionTransitions[row.state][trigger]
  switch (transition) {
    case 'stay':
      return row.state
    case 'resume':
      return row.turnOpen ? 'working' : 'idle'
    case 'parkOrEnd':
      if (row.driver === externalDriver) return 'disconnected'
      return resumable ? 'parked' : 'ended'
    case 'reopen':
      return resumable ? 'parked' : sessionEnded(row)
    case 'refuse':
      return row.state === 'ended' ? sessionEnded(row) : sessionLive(row)
    default:
      return transition
  }
}
function sessionEnded(row: SessionRow): Fault {
  return new Fault(
    'session_ended',
    `Session ${row.id} has ended (${row.ending?.reason ?? 'done'}); start a new session`,
    {
      id: row.id,
    },
  )
}
/** Returns the Fault for a trigger that the table refuses while a session has not ended. The only such trigger is a delete. */
function sessionLive(row: SessionRow): Fault {
  return new Fault('session_live', `Session ${row.id} is ${row.state}; end it before deleting it`, { id: row.id })
}

/** Returns the session after a trigger. Throws if the table refuses the trigger or deletes the session, so check `nextSessionState` first if either can happen. */
export function applySessionTransition(change: ChangeBuilder, row: SessionRow, trigger: SessionTrigger): SessionRow {
  const state = nextSessionState(row, trigger)
  if (state instanceof Fault || state === 'delete')
    throw new Error(`${trigger} is not allowed in a session that is ${row.state}`)
  return state === row.state ? row : { ...row, state, stateChangedAt: change.now }
}

/** Ends a session, resolves its pending requests and finishes its open commands. An `end` command that the same change adds stays open for the runner. */
export function applySessionEnd(
  ctx: Context,
  change: ChangeBuilder,
  row: SessionRow,
  ending: Ending,
  trigger: 'stop' | 'finish' | 'runnerLost' | 'tooManyIdleAttaches',
): SessionRow {
  const lost = trigger === 'runnerLost'
  persistPartialBlocks(ctx, change, row.id)
  resolveOpenRequests(change, row, lost ? 'agentLost' : ending.reason === 'done' ? 'finish' : 'end')
  for (const command of openCommandsIn(change, row.id))
    if (command.body.kind !== 'end') markCommandDone(change, command, { ok: false, reason: 'the session ended first' })
  countSession(change, row, -1)
  const stopped = withoutProcess(change, applySessionTransition(change, row, trigger), lost ? 'lost' : 'stopped')
  return putSession(
    change,
    {
      ...stopped,
      endedAt: change.now,
      ending,
      turnOpen: false,
      needsRunner: false,
      turnEndedSeq: change.nextSeq,
      endedSeq: change.nextSeq,
    },
    'session.ended',
  )
}

/** Marks the agent's process as stopped or lost, because a session without a runner has no live process. */
function withoutProcess(change: ChangeBuilder, row: SessionRow, state: 'stopped' | 'lost'): SessionRow {
  return row.process?.state === 'live' ? { ...row, process: { state, changedAt: change.now } } : row
}

export function markCommandDone(change: ChangeBuilder, row: CommandRow, outcome: CommandOutcome): CommandRow {
  change.event(row.session, { type: 'command.done', command: row.id, outcome })
  return change.put('command', { ...row, state: 'done', outcome })
}

/** Finishes the open commands of an ended session whose runner has detached or is lost, and clears the lease. */
export function finishEndCommands(change: ChangeBuilder, row: SessionRow): SessionRow {
  for (const command of openCommandsIn(change, row.id)) markCommandDone(change, command, { ok: true })
  return change.put('session', { ...row, lease: null })
}

/** Clears the lease of a session that has not ended, after the runner or the external agent was lost, or the runner parked the session. Ends the session if its driver cannot resume it or if it had too many idle attaches. Otherwise pending requests stay pending, and handed answers become unknown. */
export function releaseSession(
  ctx: Context,
  change: ChangeBuilder,
  row: SessionRow,
  trigger: 'runnerLost' | 'park',
): SessionRow {
  const next = applySessionTransition(change, row, trigger)
  if (next.state === 'ended')
    return applySessionEnd(
      ctx,
      change,
      { ...row, lease: null, runner: null },
      { reason: 'lost', detail: 'its runner was lost' },
      'runnerLost',
    )
  markHandedUnknown(change, row.id)
  const released = { ...withoutProcess(change, next, trigger === 'runnerLost' ? 'lost' : 'stopped'), lease: null }
  const needsRunner = row.driver !== externalDriver && isRunnerNeeded(change, released)
  if (needsRunner && released.idleAttaches >= limits.idleAttachesMax)
    return applySessionEnd(
      ctx,
      change,
      released,
      { reason: 'failed', detail: idleAttachesDetail },
      'tooManyIdleAttaches',
    )
  persistPartialBlocks(ctx, change, row.id)
  return putSession(change, { ...released, needsRunner })
}
const idleAttachesDetail = `its runner stopped ${limits.idleAttachesMax} times in a row before the agent did anything`

/** Resets the count of idle attaches after the agent has done something. Writes no event, because the caller writes an event for what the agent did. */
export function resetIdleAttaches(change: ChangeBuilder, row: SessionRow): SessionRow {
  return row.idleAttaches === 0 ? row : change.put('session', { ...row, idleAttaches: 0 })
}

/** Returns whether a released session needs a runner: its agent has an answer to take or, if no request is pending, a command to run or a turn to continue. */
function isRunnerNeeded(change: ChangeBuilder, row: SessionRow): boolean {
  if (usageIn(change, row.id).waiting > 0) return true
  const hasWork = row.turnOpen || openCommandsIn(change, row.id).length > 0
  return hasWork && !hasPendingRequests(change, row.id)
}

/** Returns whether the session has a pending request. If so, its agent cannot read messages yet, and resuming the session would only park it again. */
export function hasPendingRequests(change: ChangeBuilder, session: SessionId): boolean {
  return usageIn(change, session).pending > 0
}
