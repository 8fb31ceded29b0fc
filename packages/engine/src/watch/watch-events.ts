/** Evaluates watchers at the events that an agent appends: the end of a call, and the end of a turn. */
import { limits, type ParsedInput } from '@holdpoint/protocol'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import type { SessionRow } from '../rows.ts'
import { evaluateStop, getsMessages, sendBack } from './stop-requests.ts'
import { afterCall, noteCall, watchersOf } from './watch-passes.ts'
import { WatchState } from './watch-state.ts'
import { countTurn, noteTurnUsage } from './watch-usage.ts'

type Item = ParsedInput<'appendEvents'>['items'][number]

/** Returns the session after the watchers. `before` is the session before the events. */
export function watchEvents(
  ctx: Context,
  change: ChangeBuilder,
  before: SessionRow,
  after: SessionRow,
  items: readonly Item[],
): SessionRow {
  const isWatched = items.some(item => watchedTypes.has(item.type) || reportsUsage(item))
  if (!isWatched || !watchersOf(ctx, change, after)) return after
  for (const item of items) watchEvent(ctx, change, before, item)
  return change.get('session', after.id) ?? after
}

const watchedTypes: ReadonlySet<Item['type']> = new Set(['tool.started', 'tool.finished', 'turn.finished'])

function reportsUsage(item: Item): boolean {
  return item.type === 'session.changed' && item.turnUsage !== undefined
}

function watchEvent(ctx: Context, change: ChangeBuilder, before: SessionRow, item: Item): void {
  const session = change.get('session', before.id) ?? before
  switch (item.type) {
    case 'tool.started': {
      const { block, tool, input, action } = item
      noteCall(change, session, block, { tool, input, action })
      return
    }
    case 'tool.finished': {
      const { block: key, ok, exitCode, output, agentPath } = item
      const result = { ok, ...(exitCode === undefined ? {} : { exitCode }), text: outputText(output) }
      afterCall(ctx, change, session, { key, agentPath, result, givesTextsLater: true })
      return
    }
    case 'session.changed':
      if (item.turnUsage) noteTurnUsage(WatchState.of(change, session.id), item.turnUsage)
      return
    case 'turn.finished':
      finishTurn(ctx, change, before, session, item)
  }
}

function finishTurn(
  ctx: Context,
  change: ChangeBuilder,
  before: SessionRow,
  session: SessionRow,
  item: Extract<Item, { type: 'turn.finished' }>,
): void {
  const watchers = watchersOf(ctx, change, session)
  if (!watchers) return
  const state = WatchState.of(change, session.id)
  countTurn(change, before, watchers, state, item)
  const { stopReported } = state.row
  if (stopReported) state.update({ stopReported: false })
  if (item.ending !== 'done' || stopReported || !getsMessages(session)) return
  const sentBack = evaluateStop(ctx, change, session, `turn ${session.turnEndedSeq ?? change.nextSeq}`)
  if (sentBack) sendBack(ctx, change, session, sentBack)
}

/** Returns the beginning of the output of a tool as text. */
function outputText(output: unknown): string {
  if (output === undefined) return ''
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return text.slice(0, limits.resultTextMax).toWellFormed()
}
