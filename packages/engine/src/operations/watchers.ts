/** Operations of watchers and of the variables of sessions. */
import {
  Fault,
  type MomentReply,
  type ParsedInput,
  type SessionId,
  type Variable,
  type VariableValue,
  type Watcher,
} from '@holdpoint/protocol'
import { type FileWatcher, type WatchedAgent, type WatchFile, watchGaps } from '@holdpoint/rules'
import { agentSession } from '../agent-lease.ts'
import {
  agentAccessFault,
  externalDriver,
  isPerson,
  maySee,
  personIdOf,
  requireShownAction,
  sessionNotFound,
} from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import type { SessionRow, WatchReply, WatchStateRow } from '../rows.ts'
import { refreshRuleFiles, ruleContext } from '../rule-answers.ts'
import { type FoundVariable, setFound, toVariable, variablesOf } from '../watch/session-variables.ts'
import { beginPersonMessage, evaluateStop, getsMessages, sentBackText } from '../watch/stop-requests.ts'
import { watchTexts } from '../watch/texts.ts'
import type { SessionWatchers } from '../watch/watch-files.ts'
import { afterCall, evaluateOnce, watchersOf, watchReads, withTexts } from '../watch/watch-passes.ts'
import { WatchState } from '../watch/watch-state.ts'

export async function reportMoment(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'reportMoment'>,
  options: DispatchOptions,
) {
  const session = await ctx.store.get('session', input.id)
  if (session && !agentAccessFault(caller, session)) {
    if (input.call) requireShownAction(caller, { ...input.call, cwd: input.call.cwd ?? session.cwd })
    await refreshRuleFiles(ctx, session)
  }
  if (input.moment === 'after' && !input.result)
    throw new Fault('bad_input', 'result: say at "after" whether the call succeeded')
  return ctx.commit<MomentReply>(
    {
      label: 'moment',
      reads: [{ table: 'session', id: input.id }, ...watchReads(ctx, input.id)],
      decide: change => {
        const row = agentSession(ctx, change, caller, input)
        return row instanceof Fault ? row : { status: 200, body: replyTo(ctx, change, row, input) }
      },
    },
    { caller, op: 'reportMoment', input, options },
  )
}

function replyTo(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  input: ParsedInput<'reportMoment'>,
): MomentReply {
  switch (input.moment) {
    case 'prompt':
      return toMomentReply(change, session, evaluatePrompt(ctx, change, session, input))
    case 'after':
      return toMomentReply(change, session, evaluateAfter(ctx, change, session, input))
    case 'stop': {
      const sentBack = evaluateStop(ctx, change, session, input.key)
      if (watchersOf(ctx, change, session)) WatchState.of(change, session.id).update({ stopReported: true })
      if (!sentBack) return { say: [] }
      const { watcher, reply } = sentBack
      // Texts that have waited are part of the recorded reply, so that a repeated report returns the same text.
      const deny = sentBackText(withTexts(change, session, reply))
      return { say: [], deny, ...(watcher ? { watcher } : {}) }
    }
  }
}

function evaluatePrompt(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  { key, text = '', agentPath }: ParsedInput<'reportMoment'>,
): WatchReply | null {
  const watchers = watchersOf(ctx, change, session, agentPath)
  if (!watchers) return null
  const isKnown = WatchState.stored(change, session.id)?.reply(`prompt ${key}`) !== undefined
  // A message of the page begins new work when it is sent. What a person writes in a terminal of their own is known only now.
  if (session.driver === externalDriver && !isKnown) beginPersonMessage(change, session.id)
  const state = WatchState.of(change, session.id)
  return evaluateOnce(ctx, change, session, watchers, state, { moment: 'prompt', key, agentPath, prompt: text })
}

function evaluateAfter(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  { key, call, result = { ok: true }, agentPath }: ParsedInput<'reportMoment'>,
): WatchReply | null {
  const { ok, exitCode, text = '' } = result
  const full = { ...(ok === undefined ? {} : { ok }), ...(exitCode === undefined ? {} : { exitCode }), text }
  return afterCall(ctx, change, session, { key, agentPath, call, result: full })
}

function toMomentReply(change: ChangeBuilder, session: SessionRow, reply: WatchReply | null): MomentReply {
  if (!reply) return { say: [] }
  const { verdict, reason = '', watcher, say } = withTexts(change, session, reply)
  if (verdict !== 'deny') return { say: [...say] }
  return { say: [...say], deny: reason, ...(watcher ? { watcher } : {}) }
}

export async function setAgentVariable(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'setAgentVariable'>,
  options: DispatchOptions,
) {
  const { id, name, value } = input
  const known = await ctx.store.get('session', id)
  if (known && !agentAccessFault(caller, known)) await refreshRuleFiles(ctx, known)
  return ctx.commit<{ value: VariableValue }>(
    {
      label: 'setVariable',
      reads: [{ table: 'session', id }, ...watchReads(ctx, id)],
      decide: change => {
        // A command that an agent runs, such as `holdpoint set`, has the credential of a person. Even so, this operation sets only variables that the agent may set.
        const session = isPerson(caller)
          ? (change.get('session', id) ?? sessionNotFound(id))
          : agentSession(ctx, change, caller, input)
        if (session instanceof Fault) return session
        const found = variablesIn(ctx, change, session).filter(variable => variable.name === name)
        if (found.length === 0) return noVariable(name)
        const own = found.filter(({ setByAgent }) => setByAgent)
        if (own.length === 0)
          return new Fault(
            'unsupported',
            `The agent may not set ${name}. Only watchers and people set it, unless its file declares it with "setBy": "agent".`,
          )
        const refused = setAll(change, session, own, value, { by: 'agent', name: watchTexts.agent })
        return refused ?? { status: 200, body: { value } }
      },
    },
    { caller, op: 'setAgentVariable', input, options },
  )
}

export async function setVariable(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'setVariable'>,
  options: DispatchOptions,
) {
  const { id, name, value, file } = input
  const known = await ctx.store.get('session', id)
  if (known) await refreshRuleFiles(ctx, known)
  return ctx.commit<Variable>(
    {
      label: 'setVariable',
      reads: [{ table: 'session', id }, ...watchReads(ctx, id)],
      decide: change => {
        const session = change.get('session', id)
        if (!session) return sessionNotFound(id)
        const named = variablesIn(ctx, change, session).filter(variable => variable.name === name)
        const found = named.filter(variable => file === undefined || variable.file.source.file === file)
        const [first] = found
        if (!first) return noVariable(name, file)
        const files = new Set(found.map(variable => variable.file.source.file))
        if (files.size > 1)
          return new Fault(
            'unsupported',
            `Several files declare ${name}: ${[...files].join(', ')}. Name one of them in "file".`,
          )
        const personId = personIdOf(caller)
        const refused = setAll(change, session, found, value, { by: 'person', name: caller.name, personId })
        return refused ?? { status: 200, body: toVariable(first, change.get('watchstate', id), change.now) }
      },
    },
    { caller, op: 'setVariable', input, options },
  )
}

type Author =
  | { readonly by: 'agent'; readonly name: string }
  | { readonly by: 'person'; readonly name: string; readonly personId: ReturnType<typeof personIdOf> }

/** Sets the variable in every file, or in none if one of them refuses it. */
function setAll(
  change: ChangeBuilder,
  session: SessionRow,
  found: readonly FoundVariable[],
  value: VariableValue,
  author: Author,
): Fault | null {
  const state = WatchState.of(change, session.id)
  const before = state.row
  for (const variable of found) {
    const refused = setFound(state, variable, value, author.name)
    if (!refused) continue
    state.update(before)
    return refused
  }
  for (const { name, file } of found)
    change.event(session.id, {
      type: 'variable.changed',
      name,
      file: file.source.file,
      to: value,
      by: author.by,
      ...(author.by === 'person' ? { person: author.name, personId: author.personId } : {}),
    })
  return null
}

function variablesIn(ctx: Context, change: ChangeBuilder, session: SessionRow): readonly FoundVariable[] {
  return variablesOf(watchersOf(ctx, change, session)?.files ?? [])
}

function noVariable(name: string, file?: string): Fault {
  const where = file === undefined ? 'No file that applies to this session declares' : `${file} does not declare`
  return new Fault('not_found', `${where} the variable ${name}. List the variables to see their names.`)
}

export async function listVariables(ctx: Context, caller: Caller, { id }: ParsedInput<'listVariables'>) {
  const session = await ctx.store.get('session', id)
  if (!session || !maySee(caller, session)) throw sessionNotFound(id, caller)
  const [watchers, state] = await Promise.all([watchersFor(ctx, session), ctx.store.get('watchstate', id)])
  const items = variablesOf(watchers?.files ?? []).map(found => toVariable(found, state, ctx.clock.now()))
  return { status: 200, body: { items } }
}

export async function listWatchers(ctx: Context, _caller: Caller, input: ParsedInput<'listWatchers'>) {
  if (input.session !== undefined) return listSessionWatchers(ctx, input.session)
  const { rows } = await ctx.currentWatchFiles()
  const items = rows.flatMap(file => file.watchers.map(watcher => toWatcher(file, watcher)))
  return { status: 200, body: { items } }
}

async function listSessionWatchers(ctx: Context, id: SessionId) {
  const session = await ctx.store.get('session', id)
  if (!session) throw sessionNotFound(id)
  const [watchers, state] = await Promise.all([watchersFor(ctx, session), ctx.store.get('watchstate', id)])
  const agent = watchedAgent(session, state)
  const listed = watchers?.set.listFor(watchers.context) ?? []
  const items = listed.map(({ file, watcher }): Watcher => {
    const gaps = watchGaps(watcher, agent)
    return { ...toWatcher(file, watcher), ...(gaps.length === 0 ? {} : { gaps: [...gaps] }) }
  })
  return { status: 200, body: { items } }
}

/** Returns what Holdpoint can see of the agent of a session, and what it can make the agent do. Whether an agent reports its cost is known after its first turn. */
function watchedAgent(session: SessionRow, state: WatchStateRow | undefined): WatchedAgent {
  const { driver, capabilities, cost, lastTurn } = session
  const isExternal = driver === externalDriver
  // An external agent that takes no messages and has no calls checked, such as an MCP client, reports no moments either.
  const reports = !isExternal || capabilities.some(name => name === 'messages' || name === 'checksEveryTool')
  return {
    checksEveryTool: capabilities.includes('checksEveryTool'),
    asksAboutTools: capabilities.includes('approvals'),
    asksQuestions: capabilities.includes('questions'),
    reportsResults: reports,
    failures: driver === 'gemini' ? 'ok' : 'failed',
    // The hooks of Claude Code give it texts after a call.
    givesTextAfterTool: isExternal || driver === 'claude',
    reportsPrompts: reports,
    canBeSentBack: isExternal ? reports : capabilities.includes('messages'),
    getsMessages: getsMessages(session),
    reportsCost: cost !== null || lastTurn === undefined,
    reportsTokens: !state || state.work.tokens > 0 || state.work.turns === 0,
  }
}

async function watchersFor(ctx: Context, session: SessionRow): Promise<SessionWatchers | null> {
  await refreshRuleFiles(ctx, session)
  const details = { agentPath: [], isEditable: true }
  const context = ruleContext(ctx, session, details, await ctx.store.now(), () => false)
  return (await ctx.currentWatchFiles()).for(context)
}

function toWatcher({ source, version }: WatchFile, watcher: FileWatcher): Watcher {
  return { ...watcher, source, version }
}
