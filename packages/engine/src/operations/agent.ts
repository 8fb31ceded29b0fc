/** The agent's side of a session: attach, say, check, take and finish commands, detach. Every write carries the fence. */
import {
  type Command,
  canonicalJson,
  type Delta,
  Fault,
  formatCursor,
  limits,
  type ParsedInput,
  type Session,
} from '@holdpoint/protocol'
import { evaluateRules } from '@holdpoint/rules'
import { agentAccessFault, externalDriver, maySee, requireAgentAccess, sessionNotFound } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import {
  applySessionEnd,
  applyTransition,
  clip,
  finishEndCommands,
  markCommandDone,
  markHandedUnknown,
  nextState,
  openRequestsIn,
  openRequestsOf,
  putSession,
  releaseSession,
  resetIdleAttaches,
  sessionReads,
} from '../moves.ts'
import { fillPage, scan } from '../paging.ts'
import type { CommandRow, RunnerRow, SessionRow } from '../rows.ts'
import { toCommand, toSession } from '../wire-views.ts'
import { isLeaseLive } from './runners.ts'

interface Attached {
  readonly fence: number
  readonly ttlMs: number
  readonly session: Session
  readonly turnOpen: boolean
}

export function attachSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'attachSession'>,
  options: DispatchOptions,
) {
  return ctx.commit<Attached>(
    {
      label: 'attach',
      reads: [...sessionReads(input.id), { table: 'runner', query: {} }],
      decide: pen => {
        const row = pen.get('session', input.id)
        if (!row) return sessionNotFound(input.id, caller)
        const foreign = agentAccessFault(caller, row)
        if (foreign) return foreign
        const external = row.driver === externalDriver
        const runner = external ? null : claimant(pen, row, input)
        if (runner instanceof Fault) return runner
        const to = nextState(row, 'attach')
        if (to instanceof Fault) return to
        // Whoever had it before is gone: what was in hand is in doubt before anyone else gets the session (G5).
        if (external) markHandedUnknown(pen, row.id)
        const free = row.lease === null ? row : releaseSession(ctx, pen, row, 'lose')
        if (free.state === 'ended')
          return new Fault('session_ended', `Session ${row.id} has ended: ${free.ending?.detail}`, { id: row.id })
        const attached: SessionRow = {
          ...applyTransition(pen, free, 'attach'),
          fence: row.fence + 1,
          idleAttaches: external ? 0 : row.idleAttaches + 1,
          lease: runner ? { runner: runner.id, incarnation: runner.incarnation } : null,
          runner: runner?.id ?? null,
          needsRunner: false,
          capabilities: runner?.drivers.find(driver => driver.name === row.driver)?.capabilities ?? row.capabilities,
        }
        putSession(pen, attached)
        const session = toSession(attached, openRequestsIn(pen, row.id).filter(r => r.status === 'pending').length)
        return {
          status: 200,
          body: { fence: attached.fence, ttlMs: ctx.settings.runnerTtlMs, session, turnOpen: attached.turnOpen },
        }
      },
    },
    { caller, op: 'attachSession', input, options },
  )
}

/** The runner that attaches, if it may: live, offering the driver, and nobody else holding the lease. */
function claimant(pen: ChangeBuilder, row: SessionRow, input: ParsedInput<'attachSession'>): RunnerRow | Fault {
  const runners = pen.find('runner', {})
  const runner = runners.find(known => known.id === input.runner)
  if (!runner || runner.incarnation !== input.incarnation || runner.expiresAt <= pen.now)
    return new Fault(
      'fenced',
      `Runner ${input.runner ?? '(none)'} is not announced, or a newer one took its place; announce again`,
    )
  if (row.lease && isLeaseLive(row.lease, runners, pen.now))
    return new Fault('lease_held', `Session ${row.id} is driven by runner ${row.lease.runner}`, {
      id: row.id,
      runner: row.lease.runner,
    })
  const driver = runner.drivers.find(known => known.name === row.driver)
  if (!driver) return new Fault('no_runner', `Runner ${runner.id} does not offer the driver "${row.driver}"`)
  if (row.runner !== null && row.runner !== runner.id && !driver.capabilities.includes('portable'))
    return new Fault('lease_held', `Session ${row.id} lives on runner ${row.runner} and its driver cannot move`, {
      id: row.id,
      runner: row.runner,
    })
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
      decide: pen => {
        const row = requireAgentAccess(pen.get('session', input.id), caller, input.id, input.fence, 'ended')
        if (row instanceof Fault) return row
        const next = detached(ctx, pen, row, input)
        return {
          status: 200,
          body: toSession(next, openRequestsIn(pen, row.id).filter(r => r.status === 'pending').length),
        }
      },
    },
    { caller, op: 'detachSession', input, options },
  )
}

function detached(
  ctx: Context,
  pen: ChangeBuilder,
  row: SessionRow,
  { ending }: ParsedInput<'detachSession'>,
): SessionRow {
  if (row.state === 'ended') return finishEndCommands(pen, row)
  if (ending) return applySessionEnd(ctx, pen, { ...row, lease: null }, ending, 'finish')
  return releaseSession(ctx, pen, row, 'park')
}

type Item = ParsedInput<'appendEvents'>['items'][number]
type Kept = Exclude<Item, Delta>
type AgentChanged = Extract<Kept, { readonly type: 'session.changed' }>
type Said = Exclude<Kept, AgentChanged>
function isDelta(item: Item): item is Delta {
  return item.type === 'message.delta' || item.type === 'tool.delta'
}
function isSaid(item: Kept): item is Said {
  return item.type !== 'session.changed'
}

/** What streams is shown and forgotten; what is finished is an event. */
export async function appendEvents(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'appendEvents'>,
  options: DispatchOptions,
) {
  const kept = input.items.filter((item): item is Kept => !isDelta(item))
  const finished = new Set(kept.map(item => ('block' in item ? item.block : undefined)))
  const deltas = input.items.filter(isDelta).filter(delta => !finished.has(delta.block))
  if (kept.length === 0) {
    const row = requireAgentAccess(await ctx.store.get('session', input.id), caller, input.id, input.fence)
    if (row instanceof Fault) throw row
  } else await keepSayings(ctx, caller, input, kept, options)
  for (const delta of deltas) ctx.live.add(input.id, delta)
  const { epoch, seq } = ctx.feed.position
  return { status: 200, body: { cursor: formatCursor(epoch, seq) } }
}

function keepSayings(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'appendEvents'>,
  kept: readonly Kept[],
  options: DispatchOptions,
) {
  return ctx.commit<{ cursor: string | null }>(
    {
      label: 'appendEvents',
      reads: [{ table: 'session', id: input.id }, openRequestsOf(input.id)],
      decide: pen => {
        const found = requireAgentAccess(pen.get('session', input.id), caller, input.id, input.fence)
        if (found instanceof Fault) return found
        const said = kept.filter(isSaid)
        // To be there is no step forward: an agent may start over and over and get nowhere.
        const row = said.length > 0 ? resetIdleAttaches(pen, found) : found
        for (const item of said) pen.event(row.id, item)
        const next = kept.reduce((before, item) => heard(pen, before, item), row)
        if (shown.some(member => next[member] !== row[member])) putSession(pen, next)
        else if (next !== row) pen.put('session', next)
        return { status: 200, body: { cursor: null } }
      },
    },
    { caller, op: 'appendEvents', input, options },
  )
}

/** What of a session people see change as it happens. */
const shown = ['state', 'mode', 'model', 'conversationId', 'process', 'cost'] as const

/** What the session's row learns from what its agent said: last words, cost, whether a turn is under way, and what became of the agent itself. */
function heard(pen: ChangeBuilder, row: SessionRow, item: Kept): SessionRow {
  if (!isSaid(item)) return changed(pen, row, item)
  if (item.type === 'turn.finished') {
    const cost = item.cost === undefined ? row.cost : (row.cost ?? 0) + item.cost
    return { ...applyTransition(pen, row, 'settle'), cost, turnOpen: false }
  }
  const next = row.driver === externalDriver ? applyTransition(pen, row, 'begin') : row
  const words = item.type === 'message.added' && item.role === 'agent' ? item.text.trim() : ''
  return words === '' ? next : { ...next, lastMessage: clip(words) }
}

function changed(
  pen: ChangeBuilder,
  before: SessionRow,
  { type: _type, process, state, ...said }: AgentChanged,
): SessionRow {
  const row = state === undefined ? before : { ...applyTransition(pen, before, 'begin'), turnOpen: true }
  const { mode = row.mode, model = row.model, conversationId = row.conversationId } = said
  const moves = mode !== row.mode || model !== row.model || conversationId !== row.conversationId
  const next = moves ? { ...row, mode, model, conversationId } : row
  if (process === undefined) return next
  const { changedAt: _, ...was } = row.process ?? { changedAt: 0 }
  const same = canonicalJson(was) === canonicalJson(process)
  return same ? next : { ...next, process: { ...process, changedAt: pen.now } }
}

export async function checkTool(ctx: Context, caller: Caller, input: ParsedInput<'checkTool'>) {
  return ctx.commit({
    label: 'check',
    reads: [{ table: 'session', id: input.id }],
    decide: pen => {
      const row = requireAgentAccess(pen.get('session', input.id), caller, input.id, input.fence)
      if (row instanceof Fault) return row
      const ask = { tool: input.tool, input: input.input, cwd: row.cwd }
      return {
        status: 200,
        body: evaluateRules(ctx.rules(pen), ask, { driver: row.driver, session: row.id, now: pen.now }),
      }
    },
  })
}

export async function listCommands(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'listCommands'>,
  options: DispatchOptions,
) {
  const session = await ctx.store.get('session', input.id)
  if (!session || !maySee(caller, session)) throw sessionNotFound(input.id)
  const { items, more } = await ctx.longPoll(`commands:${input.id}`, input.wait ?? 0, options.signal, async () => {
    const value = await fillPage(openCommandsAfter(ctx, input), { items: limits.pageMax, bytes: limits.pageMaxBytes })
    return { ready: value.items.length > 0, value }
  })
  const next = more ? String(items.at(-1)?.seq) : null
  return { status: 200, body: { items: items.map(toCommand), next } }
}

async function* openCommandsAfter(ctx: Context, { id, after = 0 }: ParsedInput<'listCommands'>) {
  for await (const command of scan(ctx.store, 'command', { where: { open: 1, session: id } }))
    if (command.seq > after) yield command
}

export function takeCommand(ctx: Context, caller: Caller, input: ParsedInput<'takeCommand'>, options: DispatchOptions) {
  return commandChange(ctx, caller, 'takeCommand', input, options, (pen, session, command) => {
    if (command.state !== 'waiting') return command
    const begins = command.body.kind === 'message' && session.state !== 'ended'
    pen.event(session.id, { type: 'command.taken', command: command.id })
    const row = resetIdleAttaches(pen, session)
    if (begins) putSession(pen, { ...applyTransition(pen, row, 'begin'), turnOpen: true })
    return pen.put('command', { ...command, state: 'taken' })
  })
}

export function finishCommand(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'finishCommand'>,
  options: DispatchOptions,
) {
  return commandChange(ctx, caller, 'finishCommand', input, options, (pen, _session, command) =>
    command.state === 'done' ? command : markCommandDone(pen, command, input.outcome ?? { ok: true }),
  )
}

async function commandChange(
  ctx: Context,
  caller: Caller,
  op: string,
  input: ParsedInput<'takeCommand'>,
  options: DispatchOptions,
  move: (pen: ChangeBuilder, session: SessionRow, command: CommandRow) => CommandRow | Fault,
) {
  const before = await ctx.store.get('command', input.id)
  if (!before) throw new Fault('not_found', `There is no command ${input.id}`, { id: input.id })
  return ctx.commit<Command>(
    {
      label: op,
      reads: [...sessionReads(before.session), { table: 'command', id: input.id }],
      decide: pen => {
        const session = requireAgentAccess(
          pen.get('session', before.session),
          caller,
          before.session,
          input.fence,
          'ended',
        )
        if (session instanceof Fault) return session
        const command = pen.get('command', input.id)
        if (!command) return new Fault('not_found', `There is no command ${input.id}`, { id: input.id })
        const next = move(pen, session, command)
        return next instanceof Fault ? next : { status: 200, body: toCommand(next) }
      },
    },
    { caller, op, input, options },
  )
}
