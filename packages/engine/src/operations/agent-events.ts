/** Operation that appends the events of an agent to the log of its session, and the part of it that opening a request shares. */
import {
  canonicalJson,
  type Delta,
  Fault,
  formatCursor,
  type ParsedInput,
  type SessionId,
  truncateTitle,
} from '@holdpoint/protocol'
import { agentSession } from '../agent-lease.ts'
import { agentAccessFault, externalDriver, requireAgentAccess } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import { errorBefore, lastTurnAfter } from '../last-turn.ts'
import type { SessionRow } from '../rows.ts'
import { refreshRuleFiles } from '../rule-answers.ts'
import { applySessionTransition, putSession, resetIdleAttaches } from '../session-transitions.ts'
import { watchEvents } from '../watch/watch-events.ts'
import { watchReads } from '../watch/watch-passes.ts'

/** An item that an agent appends: a delta, which is only streamed, or an event to store. */
type Item = ParsedInput<'appendEvents'>['items'][number]
type StoredItem = Exclude<Item, Delta>
type AgentChanged = Extract<StoredItem, { readonly type: 'session.changed' }>
type LoggedItem = Exclude<StoredItem, AgentChanged>
function isDelta(item: Item): item is Delta {
  return item.type === 'message.delta' || item.type === 'tool.delta'
}
function isLogged(item: StoredItem): item is LoggedItem {
  return item.type !== 'session.changed'
}

/** Sends deltas to subscribers without storing them, and commits everything else as events. */
export async function appendEvents(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'appendEvents'>,
  options: DispatchOptions,
) {
  const stored = input.items.filter((item): item is StoredItem => !isDelta(item))
  const finished = new Set(stored.map(item => ('block' in item ? item.block : undefined)))
  const deltas = input.items.filter(isDelta).filter(delta => !finished.has(delta.block))
  if (stored.length === 0) {
    const row = requireAgentAccess(await ctx.store.get('session', input.id), caller, input.id, input.fence)
    if (row instanceof Fault) throw row
  } else {
    if (stored.some(({ type }) => type === 'turn.finished')) await refreshWatchers(ctx, caller, input.id)
    await commitEvents(ctx, caller, input, stored, options)
  }
  for (const delta of deltas) ctx.streamingBlocks.add(input.id, delta)
  const { epoch, seq } = ctx.feed.position
  return { status: 200, body: { cursor: formatCursor(epoch, seq) } }
}

/** Brings the watchers of the moment “stop” up to date, for agents that never check a call or ask. */
async function refreshWatchers(ctx: Context, caller: Caller, id: SessionId): Promise<void> {
  const session = await ctx.store.get('session', id)
  if (session && !agentAccessFault(caller, session)) await refreshRuleFiles(ctx, session)
}

function commitEvents(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'appendEvents'>,
  items: readonly StoredItem[],
  options: DispatchOptions,
) {
  return ctx.commit<{ cursor: string | null }>(
    {
      label: 'appendEvents',
      reads: [{ table: 'session', id: input.id }, { table: 'usage', id: input.id }, ...watchReads(ctx, input.id)],
      decide: change => {
        const session = agentSession(ctx, change, caller, input)
        if (session instanceof Fault) return session
        applyEvents(ctx, change, session, items)
        return { status: 200, body: { cursor: null } }
      },
    },
    { caller, op: 'appendEvents', input, options },
  )
}

/** Writes events of an agent, and returns the session after them. */
export function applyEvents(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  items: readonly StoredItem[],
): SessionRow {
  const events = items.filter(isLogged)
  // A `session.changed` item alone does not reset the count of idle attaches, because an agent can report its state at every start without doing anything.
  const row = events.length > 0 ? resetIdleAttaches(change, session) : session
  for (const item of events) change.event(row.id, item)
  const next = items.reduce((before, item, index) => sessionAfter(change, before, item, errorBefore(items, index)), row)
  if (shownFields.some(field => next[field] !== row[field])) putSession(change, next)
  else if (next !== row) change.put('session', next)
  return watchEvents(ctx, change, row, next, items)
}

/** Fields whose change is published as `session.changed`. */
const shownFields = ['state', 'mode', 'model', 'conversationId', 'process', 'repository', 'cost', 'lastTurn'] as const

/** Returns the session row after one item: its state, last message, cost, open turn, and what the agent reports about itself. */
function sessionAfter(change: ChangeBuilder, row: SessionRow, item: StoredItem, error: string | null): SessionRow {
  if (!isLogged(item)) return applyReportedState(change, row, item)
  if (item.type === 'turn.finished') {
    const cost = item.cost === undefined ? row.cost : (row.cost ?? 0) + item.cost
    return {
      ...applySessionTransition(change, row, 'finishTurn'),
      cost,
      lastTurn: lastTurnAfter(change.now, item.ending, error),
      turnOpen: false,
      turnEndedSeq: change.nextSeq - 1,
    }
  }
  const next =
    row.driver === externalDriver ? { ...applySessionTransition(change, row, 'startTurn'), turnOpen: true } : row
  const text = item.type === 'message.added' && item.role === 'agent' ? item.text.trim() : ''
  return text === '' ? next : { ...next, lastMessage: truncateTitle(text), lastMessageAt: change.now }
}

/** Applies what an agent reports about itself: mode, model, conversation, process, repository, and that it started a turn. */
function applyReportedState(
  change: ChangeBuilder,
  before: SessionRow,
  { type: _type, process, repository, state, ...reported }: AgentChanged,
): SessionRow {
  const row = state === undefined ? before : { ...applySessionTransition(change, before, 'startTurn'), turnOpen: true }
  const { mode = row.mode, model = row.model, conversationId = row.conversationId } = reported
  const differs = mode !== row.mode || model !== row.model || conversationId !== row.conversationId
  const changed = differs ? { ...row, mode, model, conversationId } : row
  const isSameRepository =
    repository === undefined || canonicalJson(repository) === canonicalJson(row.repository ?? null)
  const next = isSameRepository ? changed : { ...changed, repository }
  if (process === undefined) return next
  const { changedAt: _, ...known } = row.process ?? { changedAt: 0 }
  const same = canonicalJson(known) === canonicalJson(process)
  return same ? next : { ...next, process: { ...process, changedAt: change.now } }
}
