/** Counts what a session, a day and a folder use: cost, tokens, turns and minutes. */
import type { ParsedInput } from '@holdpoint/protocol'
import type { Spent } from '@holdpoint/rules'
import type { ChangeBuilder } from '../change-builder.ts'
import type { SessionRow, SpentRow, WatchStateRow } from '../rows.ts'
import { usageIn } from '../usage.ts'
import type { SessionWatchers } from './watch-files.ts'
import type { WatchState } from './watch-state.ts'

type Item = ParsedInput<'appendEvents'>['items'][number]
type TurnFinished = Extract<Item, { readonly type: 'turn.finished' }>
type TurnUsage = NonNullable<Extract<Item, { readonly type: 'session.changed' }>['turnUsage']>
type Total = 'day' | 'folder'
const nothing: Spent = { cost: 0, tokens: 0, turns: 0, minutes: 0 }
const minuteMs = 60_000

/** Returns the worked time until now: the time in which a turn ran, without the time in which it waited for people. */
function worked(change: ChangeBuilder, session: SessionRow, { work }: WatchStateRow): WatchStateRow['work'] {
  const { now } = change
  const { waitedMs = 0, waitingSince } = usageIn(change, session.id)
  const waitedUntilNow = waitedMs + (waitingSince === undefined ? 0 : now - waitingSince)
  const next = { ...work, at: now, waitedMs: waitedUntilNow }
  if (session.state !== 'working') return next
  const hasStartedSince = session.stateChangedAt > work.at
  const from = hasStartedSince ? session.stateChangedAt : work.at
  // While the session was parked, it waited without working. Only the wait since then counts.
  const waitedSince = waitingSince === undefined ? 0 : now - Math.max(waitingSince, from)
  const waited = hasStartedSince ? waitedSince : waitedUntilNow - work.waitedMs
  return { ...next, workedMs: work.workedMs + Math.max(0, now - from - waited) }
}

/** Adds the time that the agent has worked since the last update. */
export function updateWork(change: ChangeBuilder, session: SessionRow, state: WatchState): void {
  state.update({ work: worked(change, session, state.row) })
}

/** Counts a turn for its session, and for its day and folder if a watcher has a limit for these. `session` is the session before the turn finished. */
export function countTurn(
  change: ChangeBuilder,
  session: SessionRow,
  watchers: SessionWatchers,
  state: WatchState,
  { cost = 0, usage }: TurnFinished,
): void {
  const tokens = tokensOf(usage)
  const { running: _, ...work } = worked(change, session, state.row)
  const minutes = (work.workedMs - work.totalledMs) / minuteMs
  for (const total of ['day', 'folder'] as const)
    if (watchers.set.totals.has(total))
      addTotal(change, totalId(total, change.now, watchers), { cost, tokens, turns: 1, minutes })
  state.update({
    work: { ...work, tokens: work.tokens + tokens, turns: work.turns + 1, totalledMs: work.workedMs },
  })
}

/** Remembers what the running turn has used so far, as its agent reports it. */
export function noteTurnUsage(state: WatchState, { cost = 0, ...usage }: TurnUsage): void {
  state.update({ work: { ...state.row.work, running: { tokens: tokensOf(usage), cost } } })
}

function tokensOf({ inputTokens = 0, outputTokens = 0 }: NonNullable<TurnFinished['usage']> = {}): number {
  return inputTokens + outputTokens
}

function addTotal(change: ChangeBuilder, id: string, used: Spent): void {
  const before: SpentRow = change.get('spent', id) ?? { id, ord: change.nextSeq, ...nothing }
  change.put('spent', {
    ...before,
    cost: before.cost + used.cost,
    tokens: before.tokens + used.tokens,
    turns: before.turns + used.turns,
    minutes: before.minutes + used.minutes,
  })
}

/** Returns what was used so far. The totals of a day and a folder contain the running turn of this session, but not those of other sessions. */
export function spentSoFar(
  change: ChangeBuilder,
  session: SessionRow,
  watchers: SessionWatchers,
  { work }: WatchStateRow,
): Readonly<Record<'session' | Total, Spent>> {
  const { running = { tokens: 0, cost: 0 } } = work
  const totalOf = (total: Total): Spent => {
    const row = (watchers.set.totals.has(total) && change.get('spent', totalId(total, change.now, watchers))) || nothing
    return {
      cost: row.cost + running.cost,
      tokens: row.tokens + running.tokens,
      turns: row.turns,
      minutes: row.minutes + (work.workedMs - work.totalledMs) / minuteMs,
    }
  }
  const { tokens, turns, workedMs } = work
  return {
    session: {
      cost: (session.cost ?? 0) + running.cost,
      tokens: tokens + running.tokens,
      turns,
      minutes: workedMs / minuteMs,
    },
    day: totalOf('day'),
    folder: totalOf('folder'),
  }
}

/** A day begins at midnight on the gateway's machine. */
function totalId(total: Total, now: number, { context }: SessionWatchers): string {
  if (total === 'folder') return `folder ${context.folder ?? ''}`
  const date = new Date(now)
  return `day ${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`
}
