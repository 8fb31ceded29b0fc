/** Sessions as people handle them: start, message, interrupt, change, end, delete. What the agent has to do about it is a command. */
import {
  type CommandBody,
  type DriverInfo,
  Fault,
  type Json,
  limits,
  type ParsedInput,
  type Session,
  type SessionId,
} from '@holdpoint/protocol'
import { externalDriver, maySee, sessionNotFound } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions, OperationResult } from '../gateway.ts'
import {
  applySessionEnd,
  applyTransition,
  clip,
  draftsIn,
  hasPendingRequests,
  markCommandDone,
  nextState,
  openCommandsOf,
  openRequestsIn,
  persistPartialBlocks,
  putSession,
  resolveByAgent,
  sessionReads,
} from '../moves.ts'
import { fillPage, scan } from '../paging.ts'
import type { CommandRow, SessionRow } from '../rows.ts'
import type { Read } from '../store.ts'
import { toCommand, toSession } from '../wire-views.ts'
import { modeProblem, runnersRead } from './runners.ts'

export async function startSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'startSession'>,
  options: DispatchOptions,
) {
  const external = input.driver === externalDriver
  if (caller.role === 'agent' && !external)
    throw new Fault(
      'forbidden',
      `An agent's credential opens sessions of driver ${externalDriver}, not of ${input.driver}`,
    )
  const id = ctx.newId('ses')
  const named = external ? namedAgent(caller, input.options?.agent) : null
  return ctx.commit<Session>(
    {
      label: 'start',
      reads: [...sessionReads(id), runnersRead, ...(named ? [named] : [])],
      decide: pen => {
        const driver = external ? undefined : driverFor(pen, input.driver)
        if (driver instanceof Fault) return driver
        const wrong = modeProblem(pen, { driver: input.driver, runner: null }, input.mode)
        if (wrong) return new Fault('unsupported', `mode: ${wrong}`)
        const agent = named ? credentialOf(pen, named) : caller.role === 'agent' ? caller.token : null
        if (agent instanceof Fault) return agent
        const row = newSession(ctx, pen, caller, id, input, driver?.capabilities ?? [], agent)
        putSession(pen, row, 'session.opened')
        const { prompt, attachments } = input
        const says = prompt !== undefined || (attachments ?? []).length > 0
        const first = messageBody(prompt ?? '', attachments)
        const after = says ? addCommand(ctx, pen, caller, row, first).session : row
        return { status: 201, body: toSession(after, 0) }
      },
    },
    { caller, op: 'startSession', input, options },
  )
}

function messageBody(text: string, attachments: ParsedInput<'sendMessage'>['attachments']): CommandBody {
  return { kind: 'message', text, ...(attachments ? { attachments } : {}) }
}

/** A person may open a session for an agent that lives elsewhere: `options.agent` names its credential. */
function namedAgent(caller: Caller, agent: Json | undefined) {
  if (agent === undefined) return null
  if (caller.role !== 'person')
    throw new Fault('bad_input', 'options.agent: the session is yours already; only a person names another’s agent')
  return { table: 'token', query: { where: { token: String(agent) } } } as const
}

function credentialOf(pen: ChangeBuilder, { query }: NonNullable<ReturnType<typeof namedAgent>>): string | Fault {
  const [row] = pen.find('token', query)
  if (row?.role === 'agent' && (row.expiresAt === null || row.expiresAt > pen.now)) return row.token
  const { token } = query.where
  return new Fault(
    'bad_input',
    `options.agent: ${token} is not the id of an agent's credential; see the list of tokens`,
  )
}

/** The driver as a live runner offers it; undefined where no runner is there yet and the session waits for one. */
function driverFor(pen: ChangeBuilder, name: string): DriverInfo | undefined | Fault {
  const runners = pen.find('runner', {}).filter(runner => runner.expiresAt > pen.now)
  const offered = runners.flatMap(runner => runner.drivers)
  const driver = offered.find(known => known.name === name && known.ready) ?? offered.find(known => known.name === name)
  if (!driver && offered.length > 0)
    return new Fault(
      'no_runner',
      `No runner offers the driver "${name}"; there is ${[...new Set(offered.map(known => known.name))].join(', ')}`,
    )
  if (driver && !driver.ready)
    return new Fault(
      'no_runner',
      `The driver "${name}" is not ready: ${driver.missing ?? 'its runner does not say why'}`,
    )
  return driver
}

function newSession(
  ctx: Context,
  pen: ChangeBuilder,
  caller: Caller,
  id: SessionId,
  input: ParsedInput<'startSession'>,
  capabilities: Session['capabilities'],
  agent: string | null,
): SessionRow {
  const { settings } = ctx
  const external = input.driver === externalDriver
  return {
    id,
    driver: input.driver,
    title: input.title ?? clip(input.prompt?.split('\n')[0] || input.driver),
    cwd: input.cwd ?? settings.defaultCwd,
    mode: input.mode ?? null,
    model: input.model ?? null,
    state: external ? 'idle' : 'starting',
    stateChangedAt: pen.now,
    startedAt: pen.now,
    endedAt: null,
    ending: null,
    cost: null,
    lastMessage: '',
    runner: null,
    capabilities: external ? ['messages', 'interrupt'] : [...capabilities],
    conversationId: input.conversationId ?? null,
    deadlineMs: input.deadlineMs ?? settings.deadlineMs,
    onDeadline: input.onDeadline ?? settings.onDeadline,
    parkAfterMs: input.parkAfterMs === undefined ? settings.parkAfterMs : input.parkAfterMs,
    options: input.options ?? {},
    process: null,
    ord: pen.nextSeq,
    lease: null,
    fence: 0,
    turnOpen: false,
    needsRunner: !external,
    agent: external ? agent : null,
    person: external && caller.role === 'person' ? caller.name : null,
    idleAttaches: 0,
    commandSeq: 0,
  }
}

/** Appends what people want, in order. The session's counter makes the order. */
function addCommand(
  ctx: Context,
  pen: ChangeBuilder,
  caller: Caller,
  session: SessionRow,
  body: CommandBody,
): { session: SessionRow; command: CommandRow } {
  const command: CommandRow = {
    id: ctx.newId('cmd'),
    session: session.id,
    seq: session.commandSeq + 1,
    body,
    madeBy: caller.name,
    madeAt: pen.now,
    state: 'waiting',
    outcome: null,
    ord: pen.nextSeq,
  }
  pen.put('command', command)
  pen.event(session.id, { type: 'command.added', value: toCommand(command) })
  const wakes = session.state === 'parked' && body.kind !== 'mode' && !hasPendingRequests(pen, session.id)
  return {
    command,
    session: pen.put('session', { ...session, commandSeq: command.seq, needsRunner: session.needsRunner || wakes }),
  }
}

/** A change of one session by a person. */
function changeSession<T>(
  ctx: Context,
  caller: Caller,
  op: string,
  input: { readonly id: SessionId },
  options: DispatchOptions,
  decide: (pen: ChangeBuilder, row: SessionRow) => OperationResult<T> | Fault,
  more: readonly Read[] = [],
): Promise<OperationResult<T>> {
  return ctx.commit<T>(
    {
      label: op,
      reads: [...sessionReads(input.id), ...more],
      decide: pen => {
        const row = pen.get('session', input.id)
        return row ? decide(pen, row) : sessionNotFound(input.id)
      },
    },
    { caller, op, input, options },
  )
}

function shownIn(pen: ChangeBuilder, row: SessionRow): Session {
  return toSession(row, openRequestsIn(pen, row.id).filter(request => request.status === 'pending').length)
}

export function sendMessage(ctx: Context, caller: Caller, input: ParsedInput<'sendMessage'>, options: DispatchOptions) {
  return changeSession(ctx, caller, 'sendMessage', input, options, (pen, row) => {
    const to = nextState(row, 'message')
    if (to instanceof Fault) return to
    const full = tooManyCommands(pen, row)
    if (full) return full
    const reopened = row.state === 'ended' ? reopen(pen, row) : row
    const body = messageBody(input.text, input.attachments)
    return { status: 202, body: toCommand(addCommand(ctx, pen, caller, reopened, body).command) }
  })
}

function tooManyCommands(pen: ChangeBuilder, row: SessionRow): Fault | null {
  if (pen.find('command', openCommandsOf(row.id).query).length < limits.waitingCommandsMax) return null
  return new Fault(
    'too_many',
    `Session ${row.id} has ${limits.waitingCommandsMax} commands waiting; wait until some are carried out`,
  )
}

/** An end that its runner had not carried out yet must not end the session a second time. */
function reopen(pen: ChangeBuilder, row: SessionRow): SessionRow {
  for (const command of pen.find('command', openCommandsOf(row.id).query)) markCommandDone(pen, command, { ok: true })
  return putSession(pen, {
    ...applyTransition(pen, row, 'message'),
    endedAt: null,
    ending: null,
    lease: null,
    idleAttaches: 0,
  })
}

export function interruptSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'interruptSession'>,
  options: DispatchOptions,
) {
  return changeSession<Session>(ctx, caller, 'interruptSession', input, options, (pen, row) => {
    const to = nextState(row, 'interrupt')
    if (to instanceof Fault) return to
    return { status: 202, body: shownIn(pen, interrupt(ctx, pen, caller, row)) }
  })
}

/** What waits is resolved at once, everywhere; the agent hears of it by its command. */
function interrupt(ctx: Context, pen: ChangeBuilder, caller: Caller, row: SessionRow): SessionRow {
  persistPartialBlocks(ctx, pen, row.id)
  resolveByAgent(pen, openRequestsIn(pen, row.id), 'interrupt', draftsIn(pen, row.id))
  const last = pen.find('command', openCommandsOf(row.id).query).at(-1)
  // An interrupt that still waits, with nothing asked since, stops the turn as well as two would.
  if (last?.body.kind === 'interrupt' && last.state === 'waiting') return pen.get('session', row.id) ?? row
  return addCommand(ctx, pen, caller, row, { kind: 'interrupt' }).session
}

/** Session by session: one change for all of them would hold up everyone else. A repeated call stops those that the first one found, and no other. */
export async function stopEverything(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'stopEverything'>,
  options: DispatchOptions,
) {
  const found: SessionId[] = []
  for await (const { id } of scan(ctx.store, 'session', { where: { state: [...liveStates] } })) found.push(id)
  const { body: ids } = await ctx.commit<readonly SessionId[]>(
    { label: 'stopEverything', reads: [], decide: () => ({ status: 202, body: found }) },
    { caller, op: 'stopEverything', input, options },
  )
  const interrupted: SessionId[] = []
  for (let i = 0; i < ids.length; i += stopAtOnce) {
    const stopped = ids.slice(i, i + stopAtOnce).map(id => stop(ctx, caller, id, options))
    for (const { body } of await Promise.all(stopped)) if (body.session) interrupted.push(body.session)
  }
  return { status: 202, body: { interrupted } }
}
const liveStates = ['starting', 'working', 'idle', 'parked'] as const
const stopAtOnce = 32

function stop(ctx: Context, caller: Caller, id: SessionId, options: DispatchOptions) {
  return ctx.commit<{ readonly session: SessionId | null }>(
    {
      label: 'stopEverything',
      reads: sessionReads(id),
      decide: pen => {
        const row = pen.get('session', id)
        const live = row && row.state !== 'ended'
        const busy = live && (row.turnOpen || row.state === 'working' || openRequestsIn(pen, id).length > 0)
        if (busy) interrupt(ctx, pen, caller, row)
        return { status: 202, body: { session: busy ? id : null } }
      },
    },
    { caller, op: `stopEverything ${id}`, input: { id }, options },
  )
}

export function endSession(ctx: Context, caller: Caller, input: ParsedInput<'endSession'>, options: DispatchOptions) {
  return changeSession<Session>(ctx, caller, 'endSession', input, options, (pen, row) => {
    if (row.state === 'ended') return { status: 202, body: shownIn(pen, row) }
    const held = row.lease === null ? row : addCommand(ctx, pen, caller, row, { kind: 'end' }).session
    const ended = applySessionEnd(ctx, pen, held, { reason: 'stopped', detail: `ended by ${caller.name}` }, 'stop')
    return { status: 202, body: toSession(ended, 0) }
  })
}

export function patchSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'patchSession'>,
  options: DispatchOptions,
) {
  const { id: _id, title, ...rest } = input
  const change = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const decide = (pen: ChangeBuilder, row: SessionRow) => {
    const touches = Object.keys(change).length > 0
    if (touches && row.state === 'ended')
      return new Fault('session_ended', `Session ${row.id} has ended; only its title can change`, { id: row.id })
    if (!touches && title === undefined)
      return new Fault('bad_input', 'Nothing to change: give title, mode, model or parkAfterMs')
    const wrong = modeProblem(pen, row, rest.mode)
    if (wrong) return new Fault('unsupported', `mode: ${wrong}`, { id: row.id })
    const full = touches ? tooManyCommands(pen, row) : null
    if (full) return full
    const next = { ...row, ...change, title: title ?? row.title }
    const told = touches ? addCommand(ctx, pen, caller, next, { kind: 'mode', ...change }).session : next
    return { status: 200, body: shownIn(pen, putSession(pen, told)) }
  }
  const more = rest.mode === undefined ? [] : [runnersRead]
  return changeSession<Session>(ctx, caller, 'patchSession', input, options, decide, more)
}

export function deleteSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'deleteSession'>,
  options: DispatchOptions,
) {
  return changeSession<Record<string, never>>(ctx, caller, 'deleteSession', input, options, (pen, row) => {
    const to = nextState(row, 'delete')
    if (to instanceof Fault) return to
    pen.purge(row.id)
    pen.event(row.id, { type: 'session.deleted' })
    return { status: 200, body: {} }
  })
}

export async function getSession(ctx: Context, caller: Caller, input: ParsedInput<'getSession'>) {
  const row = await ctx.store.get('session', input.id)
  if (!row || !maySee(caller, row)) throw sessionNotFound(input.id)
  return { status: 200, body: await ctx.toSession(row) }
}

export async function listSessions(ctx: Context, caller: Caller, input: ParsedInput<'listSessions'>) {
  const limit = input.limit ?? limits.pageDefault
  const before = input.before ? await ctx.store.get('session', input.before) : undefined
  if (input.before && !before) throw sessionNotFound(input.before)
  const rows = scan(ctx.store, 'session', {
    where: input.state ? { state: input.state } : {},
    ...(input.q ? { contains: { search: input.q.toLowerCase() } } : {}),
    ...(before ? { beforeOrd: before.ord } : {}),
    newestFirst: true,
  })
  const page = await fillPage(rows, { items: limit, bytes: limits.pageMaxBytes })
  const items = await Promise.all(page.items.filter(row => maySee(caller, row)).map(row => ctx.toSession(row)))
  return { status: 200, body: { items, next: page.more ? (page.items.at(-1)?.id ?? null) : null } }
}
