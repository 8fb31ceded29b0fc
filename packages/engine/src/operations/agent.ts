/** Operations of the agent's side of a session: attach, check tools, take and finish commands, detach. Every write carries the fence. */
import { type Command, Fault, limits, type ParsedInput, type Session, type Verdict } from '@holdpoint/protocol'
import { agentLease, agentSession, keepLease } from '../agent-lease.ts'
import {
  agentAccessFault,
  externalDriver,
  hideSession,
  maySee,
  requireAgentAccess,
  requireShownAction,
  runnerAccessFault,
  sessionNotFound,
} from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import { fillPage, scan } from '../paging.ts'
import { markHandedUnknown } from '../request-transitions.ts'
import type { CommandRow, RunnerRow, SessionRow, WatchReply } from '../rows.ts'
import { evaluateCall, refreshRuleFiles } from '../rule-answers.ts'
import {
  applySessionEnd,
  applySessionTransition,
  finishEndCommands,
  markCommandDone,
  nextSessionState,
  putAttachedSession,
  putSession,
  releaseSession,
  resetIdleAttaches,
  sessionReads,
  sessionView,
} from '../session-transitions.ts'
import { beforeCall, digestBefore, watchReads, withTexts } from '../watch/watch-passes.ts'
import { toCommand } from '../wire-views.ts'
import { isLeaseLive, mayTakeOver } from './runners.ts'

interface Attached {
  readonly fence: number
  readonly ttlMs: number
  readonly session: Session
  readonly turnOpen: boolean
}

export async function attachSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'attachSession'>,
  options: DispatchOptions,
) {
  await refreshForRunner(ctx, caller, input)
  return ctx.commit<Attached>(
    {
      label: 'attach',
      reads: [...sessionReads(input.id), { table: 'runner', query: {} }],
      decide: change => {
        const row = change.get('session', input.id)
        if (!row) return sessionNotFound(input.id, caller)
        const external = row.driver === externalDriver
        const runner = caller.role === 'runner' ? attachingRunner(change, caller, row, input) : null
        if (runner instanceof Fault) return runner
        const denied = runner ? null : agentAccessFault(caller, row)
        if (denied) return denied
        const to = nextSessionState(row, 'attach')
        if (to instanceof Fault) return to
        // The previous process of the agent is gone. Mark the answers that were handed to it as unknown before the new process gets the session (G5).
        if (external) markHandedUnknown(change, row.id)
        const released = row.lease === null || external ? row : releaseSession(ctx, change, row, 'runnerLost')
        if (released.state === 'ended')
          return new Fault('session_ended', `Session ${row.id} has ended: ${released.ending?.detail}`, { id: row.id })
        const attached: SessionRow = {
          ...applySessionTransition(change, released, 'attach'),
          fence: row.fence + 1,
          idleAttaches: external ? 0 : row.idleAttaches + 1,
          lease: runner
            ? { runner: runner.id, incarnation: runner.incarnation }
            : agentLease(ctx, change, row.fence + 1),
          runner: runner?.id ?? null,
          needsRunner: false,
          capabilities: runner?.drivers.find(driver => driver.name === row.driver)?.capabilities ?? row.capabilities,
        }
        putAttachedSession(change, attached)
        const session = sessionView(change, attached)
        const ttlMs = external ? ctx.settings.agentTtlMs : ctx.settings.runnerTtlMs
        return { status: 200, body: { fence: attached.fence, ttlMs, session, turnOpen: attached.turnOpen } }
      },
    },
    { caller, op: 'attachSession', input, options },
  )
}

/** Brings the rules and watchers up to date for an agent that this machine's runner starts. From then on, the sweep reads the changed files of its folder. */
async function refreshForRunner(ctx: Context, caller: Caller, input: ParsedInput<'attachSession'>): Promise<void> {
  if (!ctx.machine || caller.id !== ctx.machine.runner) return
  const session = await ctx.store.get('session', input.id)
  if (session && session.driver !== externalDriver) await refreshRuleFiles(ctx, session)
}

/** Returns the runner that attaches. Returns a Fault if the runner is not live, or if another runner holds the lease or owns the session. If this runner could never attach the session, the Fault says that there is no such session. */
function attachingRunner(
  change: ChangeBuilder,
  caller: Caller,
  row: SessionRow,
  input: ParsedInput<'attachSession'>,
): RunnerRow | Fault {
  if (row.driver === externalDriver) return sessionNotFound(row.id)
  const denied = input.runner === undefined ? null : runnerAccessFault(caller, input.runner)
  if (denied) return denied
  const runners = change.find('runner', {})
  const runner = runners.find(known => known.id === input.runner)
  if (!runner || runner.incarnation !== input.incarnation || runner.expiresAt <= change.now)
    return new Fault(
      'fenced',
      `Runner ${input.runner ?? '(none)'} is not announced, or a newer incarnation replaced it; announce it again`,
    )
  if (!mayTakeOver(runner, row)) return sessionNotFound(row.id)
  if (row.lease && isLeaseLive(row.lease, runners, change.now))
    return new Fault('lease_held', `Session ${row.id} is already driven by a runner`, { id: row.id })
  return runner
}

export function detachSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'detachSession'>,
  options: DispatchOptions,
) {
  return ctx.commit<Session>(
    {
      label: 'detach',
      reads: sessionReads(input.id),
      decide: change => {
        const row = requireAgentAccess(change.get('session', input.id), caller, input.id, input.fence, 'allowEnded')
        if (row instanceof Fault) return row
        const next = applyDetach(ctx, change, row, input)
        return {
          status: 200,
          body: sessionView(change, next),
        }
      },
    },
    { caller, op: 'detachSession', input, options },
  )
}

function applyDetach(
  ctx: Context,
  change: ChangeBuilder,
  row: SessionRow,
  { ending }: ParsedInput<'detachSession'>,
): SessionRow {
  if (row.state === 'ended') return finishEndCommands(change, row)
  if (ending) return applySessionEnd(ctx, change, { ...row, lease: null }, ending, 'finish')
  // No runner can start an external agent again.
  return releaseSession(ctx, change, row, row.driver === externalDriver ? 'runnerLost' : 'park')
}

/** Renews the lease of an external agent that makes no other calls. */
export function renewSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'renewSession'>,
  options: DispatchOptions,
) {
  return ctx.commit<{ readonly ttlMs: number }>(
    {
      label: 'renewLease',
      reads: sessionReads(input.id),
      decide: change => {
        const row = agentSession(ctx, change, caller, input)
        if (row instanceof Fault) return row
        return { status: 200, body: { ttlMs: ctx.settings.agentTtlMs } }
      },
    },
    { caller, op: 'renewSession', input, options },
  )
}

export async function checkTool(ctx: Context, caller: Caller, input: ParsedInput<'checkTool'>) {
  const session = await ctx.store.get('session', input.id)
  if (session && !agentAccessFault(caller, session)) {
    requireShownAction(caller, { ...input, cwd: input.cwd ?? session.cwd })
    await refreshRuleFiles(ctx, session)
  }
  const digest = session && (await digestBefore(ctx, { ...input, cwd: input.cwd ?? session.cwd }))
  return ctx.commit({
    label: 'check',
    reads: [{ table: 'session', id: input.id }, ...watchReads(ctx, input.id)],
    decide: change => {
      const row = agentSession(ctx, change, caller, input)
      if (row instanceof Fault) return row
      const call = { tool: input.tool, input: input.input, cwd: input.cwd ?? row.cwd, action: input.action }
      const { key, agentPath = [] } = input
      const { rules: _rules, ...verdict } = evaluateCall(ctx, change, row, call, { agentPath, isEditable: true })
      const watched = beforeCall(ctx, change, row, { key, call, agentPath, digest })
      return { status: 200, body: watched ? mergedVerdict(verdict, withTexts(change, row, watched)) : verdict }
    },
  })
}

/** Returns the verdict of rules and watchers together: deny over ask over allow. */
function mergedVerdict(rules: Verdict, { verdict, reason = '', watcher, say }: WatchReply): Verdict {
  const texts = say.length > 0 ? { say: [...say] } : {}
  if (!verdict || rules.verdict === 'deny') return { ...rules, ...texts }
  return { verdict, reason, ...(watcher ? { watcher } : {}), ...texts }
}

export async function listCommands(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'listCommands'>,
  options: DispatchOptions,
) {
  const visibleSession = async () => {
    const session = await ctx.store.get('session', input.id)
    if (!session || !maySee(caller, session)) throw sessionNotFound(input.id)
    return session
  }
  const session = await visibleSession()
  const stopKeeping = agentAccessFault(caller, session) ? () => {} : keepLease(ctx, session)
  const check = async () => {
    // Check this again after every wait, because another runner may have taken over the session.
    await visibleSession()
    const value = await fillPage(openCommandsAfter(ctx, input), { items: limits.pageMax, bytes: limits.pageMaxBytes })
    return { ready: value.items.length > 0, value }
  }
  const { items, more } = await ctx
    .longPoll(caller, options, `commands:${input.id}`, input.wait ?? 0, check)
    .finally(stopKeeping)
  const next = more ? String(items.at(-1)?.seq) : null
  return { status: 200, body: { items: items.map(toCommand), next } }
}

async function* openCommandsAfter(ctx: Context, { id, after = 0 }: ParsedInput<'listCommands'>) {
  for await (const command of scan(ctx, 'command', { where: { open: 1, session: id } }))
    if (command.seq > after) yield command
}

export function takeCommand(ctx: Context, caller: Caller, input: ParsedInput<'takeCommand'>, options: DispatchOptions) {
  return commandChange(ctx, caller, 'takeCommand', input, options, (change, session, command) => {
    if (command.state !== 'waiting') return command
    const startsTurn = command.body.kind === 'message' && session.state !== 'ended'
    change.event(session.id, { type: 'command.taken', command: command.id })
    const row = resetIdleAttaches(change, session)
    if (startsTurn) putSession(change, { ...applySessionTransition(change, row, 'startTurn'), turnOpen: true })
    return change.put('command', { ...command, state: 'taken' })
  })
}

export function finishCommand(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'finishCommand'>,
  options: DispatchOptions,
) {
  return commandChange(ctx, caller, 'finishCommand', input, options, (change, _session, command) =>
    command.state === 'done' ? command : markCommandDone(change, command, input.outcome ?? { ok: true }),
  )
}

/** Commits a change of one command, with the access check that `takeCommand` and `finishCommand` share. */
async function commandChange(
  ctx: Context,
  caller: Caller,
  op: string,
  input: ParsedInput<'takeCommand'>,
  options: DispatchOptions,
  apply: (change: ChangeBuilder, session: SessionRow, command: CommandRow) => CommandRow | Fault,
) {
  const notFound = () => new Fault('not_found', `There is no command ${input.id}`, { id: input.id })
  const before = await ctx.store.get('command', input.id)
  if (!before) throw notFound()
  return ctx.commit<Command>(
    {
      label: op,
      reads: [...sessionReads(before.session), { table: 'command', id: input.id }],
      decide: change => {
        const target = { id: before.session, fence: input.fence }
        const session = hideSession(agentSession(ctx, change, caller, target, 'allowEnded'), notFound)
        if (session instanceof Fault) return session
        const command = change.get('command', input.id)
        if (!command) return notFound()
        const next = apply(change, session, command)
        return next instanceof Fault ? next : { status: 200, body: toCommand(next) }
      },
    },
    { caller, op, input, options },
  )
}
