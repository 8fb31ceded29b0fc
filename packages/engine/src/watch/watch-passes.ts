/** Evaluates the watchers of a session at its moments, and writes their effects in the change that stores what happened. Each moment has effects once, however often it is reported. */
import {
  type Action,
  type Ask,
  actionOf,
  canonicalJson,
  type JsonObject,
  type Risk,
  type SessionId,
  type ToolCall,
  type VariableValue,
  type WatchMoment,
} from '@holdpoint/protocol'
import { type Firing, questionTool, type WatchPass, type WatchResult } from '@holdpoint/rules'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, sha256 } from '../context.ts'
import type { SessionRow, WatchReply } from '../rows.ts'
import { callRisk, ruleContext } from '../rule-answers.ts'
import type { Read } from '../store.ts'
import type { SessionWatchers } from './watch-files.ts'
import { fittingTexts, WatchState } from './watch-state.ts'
import { spentSoFar, updateWork } from './watch-usage.ts'

/** A moment of a session. Its key is the agent's own id of the call, the message or the turn. */
export interface Moment {
  readonly moment: Exclude<WatchMoment, 'start'>
  readonly key: string
  readonly agentPath?: readonly string[] | undefined
  readonly call?: ToolCall | null
  readonly isQuestion?: boolean
  readonly digest?: string
  /** The risk of the call, if it is already known. */
  readonly risk?: Risk | undefined
  readonly result?: WatchPass['result']
  readonly prompt?: string
  /** Set if the agent cannot be given texts with the reply to this moment. */
  readonly givesTextsLater?: boolean
}

/** A tool call as agents report it. */
export interface ReportedCall {
  readonly tool: string
  readonly input: JsonObject
  readonly cwd?: string | undefined
  readonly action?: Action | undefined
}

/** Returns the reads that a change with a moment of the session needs. There are none while no file has watchers, and `commit` adds those that are missing. */
export function watchReads(ctx: Context, session: SessionId): readonly Read[] {
  if (!ctx.hadWatchers) return []
  return [
    { table: 'watchstate', id: session },
    { table: 'usage', id: session },
  ]
}

/** Any agent can name a tool like this, so the call must also look like a question. */
function isQuestionCall({ tool, input, action }: ReportedCall): boolean {
  return tool === questionTool && Array.isArray(input.questions) && input.command === undefined && isOther(action)
}
function isOther(action: Action | undefined): boolean {
  return action === undefined || 'other' in action
}

/** Returns the watchers that apply to a session, or null if there are none. */
export function watchersOf(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  agentPath: readonly string[] = [],
): SessionWatchers | null {
  const files = ctx.watchFiles(change)
  if (files.rows.length === 0) return null
  return files.for(ruleContext(ctx, session, { agentPath, isEditable: true }, change.now, () => false))
}

/** A call before it runs. `beforeCall` computes the digest if the caller does not know it yet. */
export interface CheckedCall extends Pick<Moment, 'agentPath' | 'digest' | 'givesTextsLater' | 'risk'> {
  readonly key?: string | undefined
  readonly call: ReportedCall
}

/** Evaluates the moment before a call that the agent checks or asks about. Without a key, the tool and the digest stand for it. */
export function beforeCall(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  { key, call, agentPath, givesTextsLater = false, risk, digest: known }: CheckedCall,
): WatchReply | null {
  const watchers = watchersOf(ctx, change, session, agentPath)
  if (!watchers) return null
  const full = { ...call, cwd: call.cwd ?? session.cwd }
  const digest = known ?? callDigest(full)
  const isQuestion = isQuestionCall(call)
  const state = WatchState.of(change, session.id)
  const moment: Moment = {
    moment: 'before',
    key: key ?? unnamedKey(digest),
    agentPath,
    call: isQuestion ? null : full,
    isQuestion,
    digest,
    risk,
    givesTextsLater,
  }
  if (key === undefined) dropOtherUnnamed(state, moment)
  const checked = key === undefined ? null : takeUnnamed(state, moment)
  if (checked) return checked
  const reply = evaluateOnce(ctx, change, session, watchers, state, moment)
  if (!state.call(moment.key)) noteCall(change, session, moment.key, { ...full, digest }, state)
  return reply
}

/** Evaluates the moment before a question or a form of the agent. */
export function beforeQuestion(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  { key, ask, agentPath }: Pick<Moment, 'key' | 'agentPath'> & { readonly ask: Exclude<Ask, { kind: 'approval' }> },
): WatchReply | null {
  const watchers = watchersOf(ctx, change, session, agentPath)
  if (!watchers) return null
  const digest = sha256(canonicalJson(ask))
  const state = WatchState.of(change, session.id)
  const moment: Moment = { moment: 'before', key, agentPath, isQuestion: true, digest, givesTextsLater: true }
  const reply = evaluateOnce(ctx, change, session, watchers, state, moment)
  if (!state.call(key)) state.putCall({ key, tool: ask.kind, digest, at: change.now })
  return reply
}

/** An agent may check a call without its id, and then ask about the call with its id. The check and the ask count as one call. */
function takeUnnamed(state: WatchState, { key, digest = '' }: Moment): WatchReply | null {
  const checked = state.row.replies.at(-1)
  if (checked?.key !== `before ${unnamedKey(digest)}`) return null
  state.dropReply(checked.key)
  const call = state.call(unnamedKey(digest))
  if (call) state.renameCall(call, key)
  return state.putReply({ ...checked, key: `before ${key}` })
}
/** A second check of a call without an id is for another call, unless nothing has happened since the first check and the first call was not denied. */
function dropOtherUnnamed(state: WatchState, { key }: Moment): void {
  const last = state.row.replies.at(-1)
  if (last?.key !== `before ${key}` || last.verdict === 'deny') state.dropReply(`before ${key}`)
}
function unnamedKey(digest: string): string {
  return `unnamed ${digest}`
}

/** Evaluates the moment after a call. Facts about the call come from the report, or from what was known before the call. */
export function afterCall(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  moment: Pick<Moment, 'key' | 'agentPath' | 'givesTextsLater'> & {
    readonly call?: ReportedCall | undefined
    readonly result: NonNullable<WatchPass['result']>
  },
): WatchReply | null {
  const watchers = watchersOf(ctx, change, session, moment.agentPath)
  if (!watchers) return null
  const state = WatchState.of(change, session.id)
  const { key, result, givesTextsLater = false } = moment
  if (moment.call && !state.call(key)) noteCall(change, session, key, moment.call, state)
  const known = state.call(key)
  const { cwd = session.cwd, ...details } = moment.call ?? known?.details ?? {}
  const call = known && { input: {}, ...details, tool: known.tool, cwd }
  const reply = evaluateOnce(ctx, change, session, watchers, state, {
    moment: 'after',
    ...{ key, result, givesTextsLater, agentPath: moment.agentPath },
    ...{ digest: known?.digest ?? '', call: call ?? null },
  })
  state.finishCall(key, result.ok)
  // If a call is checked under the key of a call that has finished, it is a new call.
  state.dropReply(`before ${key}`)
  return reply
}

/** Remembers a call, so that watchers can use it at the moment after it. */
export function noteCall(
  change: ChangeBuilder,
  session: SessionRow,
  key: string,
  call: ReportedCall & { readonly digest?: string },
  state = WatchState.of(change, session.id),
): void {
  const { tool, input, cwd = session.cwd, action } = call
  const before = state.call(key)
  // Computing the digest of a large input takes long, so it is computed once.
  const digest = before?.digest ?? call.digest ?? callDigest({ ...call, cwd })
  // The check of a call may know better what it does than the event of its start.
  const known = action ?? before?.details?.action ?? actionOf({ tool, input, cwd })
  const details = { cwd: call.cwd ?? before?.details?.cwd ?? cwd, input, action: known }
  state.putCall({ key, tool, digest, at: before?.at ?? change.now, details })
}

/** Returns the digest of a call, computed before the change, in a turn of its own, because a large input takes long. Returns undefined if no watcher needs it. */
export async function digestBefore(ctx: Context, call: ReportedCall): Promise<string | undefined> {
  return ctx.hadWatchers ? ctx.computing.run(() => callDigest(call)) : undefined
}

/** Two calls with the same digest are identical. An agent chooses the action of a call, so the same input with another action is another call. Shell commands are compared without the other fields of their input, because an agent describes the same command in other words each time. */
function callDigest({ tool, input, cwd = '', action }: ReportedCall): string {
  const known = actionOf({ tool, input, cwd, action })
  return sha256(canonicalJson('shell' in known ? [tool, known] : [tool, input, cwd, known]))
}

/** Evaluates a moment and records the reply, or returns the reply that was recorded for it. */
export function evaluateOnce(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  watchers: SessionWatchers,
  state: WatchState,
  moment: Moment,
): WatchReply {
  const key = `${moment.moment} ${moment.key}`
  const known = state.reply(key)
  const digest = contentDigest(moment)
  if (known && isSameContent(moment, known, digest)) return known
  const idleMs = change.now - state.row.work.at
  updateWork(change, session, state)
  const result = watchers.set.evaluate(snapshot(ctx, change, session, { watchers, state, moment, idleMs }))
  state.update({ started: true })
  const say = fittingTexts(result.say)
  if (moment.givesTextsLater) state.keepTexts(say)
  for (const firing of result.firings) applyFiring(change, session, state, moment, firing)
  const limits = result.firings.flatMap(({ file, watcher, limit }) =>
    limit ? [{ file: file.id, watcher: watcher.name, upTo: limit.next }] : [],
  )
  return state.putReply({
    key,
    ...(digest === undefined ? {} : { digest }),
    say: moment.givesTextsLater ? [] : say,
    ...decisionOf(result),
    ...(limits.length > 0 ? { limits } : {}),
  })
}

/** Returns the digest of what a moment is about, if a reply for its key counts only for the same content. Claude Code checks a question in one form and asks it in another, so questions are compared by key alone. */
function contentDigest({ moment, isQuestion = false, digest, prompt = '' }: Moment): string | undefined {
  if (moment === 'prompt') return sha256(prompt)
  return moment === 'before' && !isQuestion ? digest : undefined
}
/** The reply for a message of the gateway itself has no digest. */
function isSameContent({ moment }: Moment, known: WatchReply, digest: string | undefined): boolean {
  return known.digest === digest || (moment === 'prompt' && known.digest === undefined)
}

function decisionOf(result: WatchResult): Pick<WatchReply, 'verdict' | 'reason' | 'watcher'> {
  const { verdict, reason, firings } = result
  const watcher = result.watcher ?? firings.find(({ effects }) => effects.includes('say'))?.watcher
  return { ...(watcher ? { watcher } : {}), ...(verdict === null ? {} : { verdict, reason }) }
}

function snapshot(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  seen: { watchers: SessionWatchers; state: WatchState; moment: Moment; idleMs: number },
): WatchPass {
  const { watchers, state, idleMs } = seen
  const { key, agentPath = [], call = null, isQuestion = false, digest = '', result = null, prompt = '' } = seen.moment
  const { row } = state
  const { now } = change
  const at = new Date(now)
  const spent = spentSoFar(change, session, watchers, row)
  let risk: Risk | null = seen.moment.risk ?? null
  return {
    moments: row.started ? [seen.moment.moment] : ['start', seen.moment.moment],
    session: {
      driver: session.driver,
      folder: watchers.context.folder ?? session.cwd,
      mode: session.mode ?? '',
      branch: session.repository?.branch ?? '',
      turn: row.work.turns + 1,
      idleSeconds: idleMs / 1000,
      agentPath,
    },
    call,
    isQuestion,
    // Most watchers do not look at the risk, and finding the risk takes long.
    get risk() {
      risk ??= call && callRisk(ctx, session, call)
      return risk
    },
    result,
    prompt,
    context: watchers.context,
    // For `Date`, Sunday is 0; for conditions it is 7.
    localTime: { hour: at.getHours(), minute: at.getMinutes(), weekday: at.getDay() || 7 },
    recent: row.calls.filter(known => known.key !== key),
    digest,
    values: file => state.values(file),
    fired: (file, watcher) => state.firings(file, watcher),
    spent: per => spent[per],
  }
}

/** Writes the effects of a firing on the session, and its event. */
function applyFiring(
  change: ChangeBuilder,
  session: SessionRow,
  state: WatchState,
  { key }: Moment,
  { file, watcher, moment, effects, text, set = {}, problem }: Firing,
): void {
  if (problem === undefined) state.countFiring(file, watcher.name)
  const done: Record<string, VariableValue> = {}
  const problems = problem === undefined ? [] : [problem]
  for (const [name, value] of Object.entries(set)) {
    const refused = state.setVariable(file, name, value, watcher.name)
    if (refused === null) done[name] = value
    else problems.push(refused)
  }
  change.event(session.id, {
    type: 'watch.fired',
    watcher,
    moment,
    key,
    effects: [...effects],
    ...(text === undefined ? {} : { text }),
    ...(Object.keys(done).length > 0 ? { set: done } : {}),
    ...(problems.length > 0 ? { problem: problems.join(' ') } : {}),
  })
}

/** Adds to a reply the texts that the agent has not been given yet, and records that it gets them with this reply. */
export function withTexts(change: ChangeBuilder, session: SessionRow, reply: WatchReply): WatchReply {
  const state = WatchState.of(change, session.id)
  const texts = state.takeTexts()
  return texts.length === 0 ? reply : state.putReply({ ...reply, say: [...texts, ...reply.say] })
}
