/** Operations that people call on sessions: start, message, interrupt, patch, end and delete. Anything that the agent has to do becomes a command. */
import {
  type Capability,
  type CommandBody,
  type DriverInfo,
  externalInfo,
  Fault,
  type Json,
  limits,
  type ParsedInput,
  type Session,
  type SessionId,
  type TokenId,
  truncateTitle,
} from '@holdpoint/protocol'
import { firstAgentLease } from '../agent-lease.ts'
import { externalDriver, isPerson, personIdOf, sessionNotFound } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { addCommand, type CommandAuthor } from '../commands.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions, OperationResult } from '../gateway.ts'
import { scan } from '../paging.ts'
import { resolveOpenRequests } from '../request-transitions.ts'
import type { SessionRow } from '../rows.ts'
import { deleteWithHistory } from '../session-deletion.ts'
import {
  applySessionEnd,
  applySessionTransition,
  markCommandDone,
  nextSessionState,
  openCommandsIn,
  persistPartialBlocks,
  putOpenedSession,
  putSession,
  sessionReads,
  sessionView,
} from '../session-transitions.ts'
import type { Read } from '../store.ts'
import { isTokenValid } from '../token-transitions.ts'
import { countSession, sessionsFault, usageIn } from '../usage.ts'
import { beginPersonMessage } from '../watch/stop-requests.ts'
import { toCommand } from '../wire-views.ts'
import { attachmentReads, sendAttachments } from './attachments.ts'
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
      `An agent’s credential can only open sessions with the driver "${externalDriver}", not "${input.driver}"`,
    )
  const id = ctx.newId('ses')
  const agentRead = external ? namedAgentRead(caller, input.options?.agent) : null
  const ownAccount: Read = { table: 'usage', id: caller.id }
  return ctx.commit<Session>(
    {
      label: 'start',
      reads: [...sessionReads(id), runnersRead, ownAccount, ...(agentRead ? [agentRead] : [])],
      decide: change => {
        const driver = external ? externalInfo : driverFor(change, input.driver)
        if (driver instanceof Fault) return driver
        const problem = modeProblem(change, { driver: input.driver, runner: null }, input.mode)
        if (problem) return new Fault('unsupported', `mode: ${problem}`)
        const agent = agentRead
          ? agentTokenId(change, agentRead)
          : caller.role === 'agent'
            ? (caller.id as TokenId)
            : null
        if (agent instanceof Fault) return agent
        const account = agent ?? caller.id
        const full = sessionsFault(change, account, agent !== null)
        if (full) return full
        const capabilities = capabilitiesFor(input, driver)
        if (capabilities instanceof Fault) return capabilities
        const row = { ...newSessionRow(ctx, change, caller, id, input, capabilities, agent), account }
        countSession(change, row, 1)
        putOpenedSession(change, row)
        const { prompt } = input
        const first = { kind: 'message', text: prompt ?? '' } as const
        const next = prompt === undefined ? row : addCommand(ctx, change, authorOf(caller), row, first).session
        return { status: 201, body: sessionView(change, next) }
      },
    },
    { caller, op: 'startSession', input, options },
  )
}

/** Returns the capabilities of a new session. Only an external agent names its own, and no more than such an agent can have. */
function capabilitiesFor(
  { driver: name, capabilities: named }: ParsedInput<'startSession'>,
  driver: DriverInfo | undefined,
): Session['capabilities'] | Fault {
  if (named === undefined) return driver?.capabilities ?? []
  if (name !== externalDriver)
    return new Fault('bad_input', `capabilities: leave this out, because the driver "${name}" reports its own`)
  const known: readonly Capability[] = [...externalInfo.capabilities, 'checksEveryTool']
  const wrong = named.find(capability => !known.includes(capability))
  if (wrong === undefined) return [...new Set(named)]
  return new Fault(
    'bad_input',
    `capabilities: an external agent cannot have "${wrong}"; use some of ${known.join(', ')}`,
  )
}

/** Returns the read of the credential in `options.agent`, for which a person opens an external session, or null if the option is missing. */
function namedAgentRead(caller: Caller, agent: Json | undefined) {
  if (agent === undefined) return null
  if (!isPerson(caller))
    throw new Fault('bad_input', 'options.agent: omit this option; a session that an agent opens belongs to that agent')
  return { table: 'token', query: { where: { token: String(agent) } } } as const
}

function agentTokenId(
  change: ChangeBuilder,
  { query }: NonNullable<ReturnType<typeof namedAgentRead>>,
): TokenId | Fault {
  const [row] = change.find('token', query)
  if (row?.role === 'agent' && isTokenValid(row, change.now)) return row.subject as TokenId // an agent is known by the id of its first token
  const { token } = query.where
  return new Fault(
    'bad_input',
    `options.agent: ${token} is not the id of an agent’s credential; list the tokens to find the id`,
  )
}

/** Returns the driver that a live runner offers, a Fault if no live runner offers it, or undefined if no runner is live and the session has to wait. */
function driverFor(change: ChangeBuilder, name: string): DriverInfo | undefined | Fault {
  const runners = change.find('runner', {}).filter(runner => runner.expiresAt > change.now)
  const offered = runners.flatMap(runner => runner.drivers)
  const driver = offered.find(known => known.name === name && known.ready) ?? offered.find(known => known.name === name)
  if (!driver && offered.length > 0)
    return new Fault(
      'no_runner',
      `No runner offers the driver "${name}"; available drivers: ${[...new Set(offered.map(known => known.name))].join(', ')}`,
    )
  if (driver && !driver.ready)
    return new Fault('no_runner', `The driver "${name}" is not ready: ${driver.missing ?? 'its runner gave no reason'}`)
  return driver
}

function newSessionRow(
  ctx: Context,
  change: ChangeBuilder,
  caller: Caller,
  id: SessionId,
  input: ParsedInput<'startSession'>,
  capabilities: Session['capabilities'],
  agent: TokenId | null,
): SessionRow {
  const external = input.driver === externalDriver
  const lease = firstAgentLease(ctx, change, input)
  return {
    id,
    driver: input.driver,
    title: input.title ?? truncateTitle(input.prompt?.split('\n')[0] || input.driver),
    cwd: input.cwd ?? ctx.settings.defaultCwd,
    mode: input.mode ?? null,
    model: input.model ?? null,
    state: external ? (lease ? 'idle' : 'disconnected') : 'starting',
    stateChangedAt: change.now,
    startedAt: change.now,
    endedAt: null,
    ending: null,
    cost: null,
    lastMessage: '',
    runner: null,
    capabilities: [...capabilities],
    conversationId: input.conversationId ?? null,
    deadlineMs: input.deadlineMs ?? ctx.settings.deadlineMs,
    onDeadline: input.onDeadline ?? ctx.settings.onDeadline,
    parkAfterMs: input.parkAfterMs === undefined ? ctx.settings.parkAfterMs : input.parkAfterMs,
    options: input.options ?? {},
    process: null,
    ord: change.nextSeq,
    lease,
    fence: 0,
    turnOpen: false,
    needsRunner: !external,
    agent: external ? agent : null,
    openedBy: external && isPerson(caller) ? { id: personIdOf(caller), name: caller.name } : null,
    idleAttaches: 0,
    commandSeq: 0,
  }
}

function authorOf(caller: Caller): CommandAuthor {
  return { madeBy: caller.name, ...(isPerson(caller) ? { madeById: personIdOf(caller) } : {}) }
}

/** Commits a person's change of one session. */
function changeSession<T>(
  ctx: Context,
  caller: Caller,
  op: string,
  input: { readonly id: SessionId },
  options: DispatchOptions,
  decide: (change: ChangeBuilder, row: SessionRow) => OperationResult<T> | Fault,
  moreReads: readonly Read[] = [],
): Promise<OperationResult<T>> {
  return ctx.commit<T>(
    {
      label: op,
      reads: [...sessionReads(input.id), ...moreReads],
      decide: change => {
        const row = change.get('session', input.id)
        return row ? decide(change, row) : sessionNotFound(input.id)
      },
    },
    { caller, op, input, options },
  )
}

export function sendMessage(ctx: Context, caller: Caller, input: ParsedInput<'sendMessage'>, options: DispatchOptions) {
  const { id, text, attachments: ids } = input
  const decide = (change: ChangeBuilder, row: SessionRow) => {
    const to = nextSessionState(row, 'message')
    if (to instanceof Fault) return to
    const full = tooManyCommands(change, row, text)
    if (full) return full
    const attachments = ids && sendAttachments(change, caller, id, ids)
    if (attachments instanceof Fault) return attachments
    if (ctx.watchFiles(change).rows.length > 0) beginPersonMessage(change, id)
    const reopened = row.state === 'ended' ? reopen(change, row) : row
    const body: CommandBody = { kind: 'message', text, ...(attachments ? { attachments: [...attachments] } : {}) }
    return { status: 202, body: toCommand(addCommand(ctx, change, authorOf(caller), reopened, body).command) }
  }
  return changeSession(ctx, caller, 'sendMessage', input, options, decide, attachmentReads(ids))
}

/** Returns the Fault that refuses another message, or null if there is room for it. */
function tooManyCommands(change: ChangeBuilder, { id }: SessionRow, text: string): Fault | null {
  const waiting = openCommandsIn(change, id)
  if (waiting.length >= limits.waitingCommandsMax)
    return new Fault(
      'too_many',
      `Session ${id} has ${limits.waitingCommandsMax} waiting commands; try again when some are done`,
    )
  const characters = waiting.reduce((sum, { body }) => sum + (body.kind === 'message' ? body.text.length : 0), 0)
  if (characters + text.length <= limits.waitingTextMax) return null
  return new Fault(
    'too_many',
    `The waiting messages of session ${id} would have more than ${limits.waitingTextMax} characters; try again when the agent has read some`,
  )
}

/** Reopens an ended session. Open `end` commands are finished, so that they do not end the session again. */
function reopen(change: ChangeBuilder, row: SessionRow): SessionRow {
  for (const command of openCommandsIn(change, row.id)) markCommandDone(change, command, { ok: true })
  countSession(change, row, 1)
  return putSession(change, {
    ...applySessionTransition(change, row, 'message'),
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
  return changeSession<Session>(ctx, caller, 'interruptSession', input, options, (change, row) => {
    const to = nextSessionState(row, 'interrupt')
    if (to instanceof Fault) return to
    return { status: 202, body: sessionView(change, interrupt(ctx, change, caller, row)) }
  })
}

/** Resolves the pending requests immediately, and adds a command that interrupts the agent. */
function interrupt(ctx: Context, change: ChangeBuilder, caller: Caller, row: SessionRow): SessionRow {
  persistPartialBlocks(ctx, change, row.id)
  resolveOpenRequests(change, row, 'interrupt')
  const last = openCommandsIn(change, row.id).at(-1)
  // If the last command is an interrupt that is still waiting, a second interrupt would change nothing.
  if (last?.body.kind === 'interrupt' && last.state === 'waiting') return change.get('session', row.id) ?? row
  return addCommand(ctx, change, authorOf(caller), row, { kind: 'interrupt' }).session
}

/** Interrupts all busy sessions, each in a change of its own, because one large change would block all other commits. A call that is repeated with the same idempotency key interrupts only sessions that the first call found. */
export async function stopEverything(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'stopEverything'>,
  options: DispatchOptions,
) {
  const liveIds: SessionId[] = []
  for await (const { id } of scan(ctx, 'session', { where: { state: [...liveStates] } })) liveIds.push(id)
  const { body: ids } = await ctx.commit<readonly SessionId[]>(
    { label: 'stopEverything', reads: [], decide: () => ({ status: 202, body: liveIds }) },
    { caller, op: 'stopEverything', input, options },
  )
  const interrupted: SessionId[] = []
  for (let i = 0; i < ids.length; i += stopConcurrency) {
    const results = ids.slice(i, i + stopConcurrency).map(id => interruptIfBusy(ctx, caller, id, options))
    for (const { body } of await Promise.all(results)) if (body.session) interrupted.push(body.session)
  }
  return { status: 202, body: { interrupted } }
}
const liveStates = ['starting', 'working', 'idle', 'parked', 'disconnected'] as const
const stopConcurrency = 32

function interruptIfBusy(ctx: Context, caller: Caller, id: SessionId, options: DispatchOptions) {
  return ctx.commit<{ readonly session: SessionId | null }>(
    {
      label: 'stopEverything',
      reads: sessionReads(id),
      decide: change => {
        const row = change.get('session', id)
        const { pending, waiting, handed } = usageIn(change, id)
        const busy =
          row && row.state !== 'ended' && (row.turnOpen || row.state === 'working' || pending + waiting + handed > 0)
        if (busy) interrupt(ctx, change, caller, row)
        return { status: 202, body: { session: busy ? id : null } }
      },
    },
    { caller, op: `stopEverything ${id}`, input: { id }, options },
  )
}

export function endSession(ctx: Context, caller: Caller, input: ParsedInput<'endSession'>, options: DispatchOptions) {
  return changeSession<Session>(ctx, caller, 'endSession', input, options, (change, row) => {
    if (row.state === 'ended') return { status: 202, body: sessionView(change, row) }
    const next = row.lease === null ? row : addCommand(ctx, change, authorOf(caller), row, { kind: 'end' }).session
    const ended = applySessionEnd(ctx, change, next, { reason: 'stopped', detail: `ended by ${caller.name}` }, 'stop')
    return { status: 202, body: sessionView(change, ended) }
  })
}

export function patchSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'patchSession'>,
  options: DispatchOptions,
) {
  const { id: _id, title, ...rest } = input
  const fields = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const decide = (change: ChangeBuilder, row: SessionRow) => {
    const hasFields = Object.keys(fields).length > 0
    if (hasFields && row.state === 'ended')
      return new Fault('session_ended', `Session ${row.id} has ended; only its title can change`, { id: row.id })
    if (!hasFields && title === undefined)
      return new Fault('bad_input', 'Nothing to change; pass title, mode, model or parkAfterMs')
    const problem = modeProblem(change, row, rest.mode)
    if (problem) return new Fault('unsupported', `mode: ${problem}`, { id: row.id })
    const full = hasFields ? tooManyCommands(change, row, '') : null
    if (full) return full
    const next = { ...row, ...fields, title: title ?? row.title }
    const withCommand = hasFields
      ? addCommand(ctx, change, authorOf(caller), next, { kind: 'mode', ...fields }).session
      : next
    return { status: 200, body: sessionView(change, putSession(change, withCommand)) }
  }
  const moreReads = rest.mode === undefined ? [] : [runnersRead]
  return changeSession<Session>(ctx, caller, 'patchSession', input, options, decide, moreReads)
}

export function deleteSession(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'deleteSession'>,
  options: DispatchOptions,
) {
  const by = { by: 'person' as const, person: caller.name, personId: personIdOf(caller), via: caller.via }
  return deleteWithHistory(ctx, input.id, by, { caller, op: 'deleteSession', input, options })
}
