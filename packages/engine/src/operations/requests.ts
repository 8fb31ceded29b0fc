/** Operations on requests: open (once per key), get and list. */
import { createHash } from 'node:crypto'
import {
  digestText,
  Fault,
  formatId,
  limits,
  type ParsedInput,
  type Request,
  type RequestId,
  type Risk,
  requestIdText,
  type SessionId,
  withFolder,
} from '@holdpoint/protocol'
import { agentSession, keepLease } from '../agent-lease.ts'
import { followedRequest, forgetAskedBack } from '../asked-back.ts'
import {
  agentAccessFault,
  externalDriver,
  isPerson,
  maySee,
  requestNotFound,
  requireShownAction,
  sessionNotFound,
} from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, committedCallId, pendingIn, sha256 } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import { fillPage, jsonBytes, scan } from '../paging.ts'
import type { RequestRow, SessionRow } from '../rows.ts'
import { refreshRuleFiles, resolveByRule, riskIn } from '../rule-answers.ts'
import { withSecrets } from '../secrets.ts'
import { applySessionTransition, persistPartialBlocks, putSession, resetIdleAttaches } from '../session-transitions.ts'
import type { Query, Read } from '../store.ts'
import { accountOf, pendingFault, putRequest, usageReads } from '../usage.ts'
import { toRequest } from '../wire-views.ts'

function requestId(session: SessionId, key: string): RequestId {
  return formatId('req', createHash('sha256').update(requestIdText(session, key)).digest())
}

export async function openRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'openRequest'>,
  options: DispatchOptions,
) {
  const session = await ctx.store.get('session', input.id)
  if (!session) throw sessionNotFound(input.id, caller)
  const denied = agentAccessFault(caller, session)
  if (denied) throw denied
  const ask = withFolder(input.ask, session.cwd)
  if (ask.kind === 'approval') requireShownAction(caller, ask)
  await refreshRuleFiles(ctx, session)
  const opened = {
    id: requestId(input.id, input.key),
    digest: sha256(digestText(input.id, ask)),
    bytes: jsonBytes(ask),
    // The change has its own turn of the event loop, so nobody waits for both. Its check of the fence ensures that it sees the same runner as this session has here.
    risk: await ctx.computing.run(() => riskIn(ctx, session, ask)),
  }
  const { status, body } = await commitRequest(ctx, caller, { ...input, ask }, options, opened, accountOf(session))
  return { status, body: await withSecrets(ctx, caller, body) }
}

/** The facts about a request before it is opened. */
interface NewRequest {
  readonly id: RequestId
  readonly digest: string
  readonly bytes: number
  readonly risk: Risk | undefined
}

function commitRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'openRequest'>,
  options: DispatchOptions,
  opened: NewRequest,
  account: string,
) {
  const { id, digest, bytes } = opened
  const { afterEvents } = input
  const events = afterEvents === undefined ? null : committedCallId(caller, 'appendEvents', afterEvents)
  const reads: Read[] = [
    { table: 'session', id: input.id },
    { table: 'request', id },
    ...(events === null ? [] : [{ table: 'idempotency' as const, id: events }]),
    ...usageReads(input.id, account),
  ]
  return ctx.commit<Request>(
    {
      label: 'open',
      reads,
      decide: change => {
        const session = agentSession(ctx, change, caller, input)
        if (session instanceof Fault) return session
        if (events !== null && !change.get('idempotency', events)) return eventsMissing(input.id)
        const known = change.get('request', id)
        if (!known) {
          const full = pendingFault(change, session, bytes)
          if (full) return full
          return { status: 201, body: toRequest(insertRequest(ctx, change, session, input, opened)) }
        }
        if (known.digest === digest) return { status: 200, body: toRequest(known) }
        return new Fault(
          'key_conflict',
          `Key "${input.key}" was already used for request ${id} with other content; use a new key for a new ask`,
          {
            id,
            digest: known.digest,
          },
        )
      },
    },
    { caller, op: 'openRequest', input, options },
  )
}

function eventsMissing(session: SessionId): Fault {
  return new Fault(
    'out_of_order',
    `The events that "afterEvents" names are not stored in session ${session}; wait for the reply to appendEvents, then open the request`,
    { id: session },
  )
}

function insertRequest(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  input: ParsedInput<'openRequest'>,
  { id, digest, bytes, risk }: NewRequest,
): RequestRow {
  persistPartialBlocks(ctx, change, session.id)
  resetIdleAttaches(change, session)
  if (session.driver === externalDriver && session.state !== 'working')
    putSession(change, { ...applySessionTransition(change, session, 'startTurn'), turnOpen: true })
  const deadlineMs = input.deadlineMs ?? session.deadlineMs
  const agentPath = input.agentPath ?? []
  const follows = followedRequest(session, agentPath)
  const row: RequestRow = {
    id,
    session: session.id,
    key: input.key,
    agentPath,
    ask: input.ask,
    digest,
    ...(risk ? { risk } : {}),
    openedAt: change.now,
    deadlineAt: deadlineMs === null ? null : change.now + deadlineMs,
    onDeadline: input.onDeadline ?? session.onDeadline,
    overdue: false,
    status: 'pending',
    needs: 1,
    endorsements: [],
    ...(follows ? { follows } : {}),
    resolution: null,
    delivery: { state: 'waiting', at: change.now },
    ord: change.nextSeq,
    handedFence: null,
    account: accountOf(session),
    bytes,
  }
  putRequest(change, undefined, row)
  change.event(session.id, { type: 'request.opened', value: toRequest(row) })
  const opened = resolveByRule(ctx, change, session, row)
  if (follows && opened.status === 'pending') forgetAskedBack(change, session.id, follows)
  return opened
}

export async function getRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'getRequest'>,
  options: DispatchOptions,
) {
  const check = async () => {
    const row = await ctx.store.get('request', input.id)
    // Check this again after every wait, because another runner may have taken over the session.
    if (!row || !(await maySeeSession(ctx, caller, row.session))) throw requestNotFound(input.id)
    return { ready: row.status === 'resolved', value: row }
  }
  // A person may look at the request of an agent that is disconnected.
  const stopKeeping = caller.role === 'agent' ? await keepLeaseOf(ctx, (await check()).value) : () => {}
  const row = await ctx.longPoll(caller, options, `request:${input.id}`, input.wait ?? 0, check).finally(stopKeeping)
  const [request = toRequest(row)] = await withConnection(ctx, [toRequest(row)])
  return { status: 200, body: await withSecrets(ctx, caller, request) }
}

async function keepLeaseOf(ctx: Context, { session }: RequestRow): Promise<() => void> {
  const row = await ctx.store.get('session', session)
  return row ? keepLease(ctx, row) : () => {}
}

async function maySeeSession(ctx: Context, caller: Caller, id: SessionId): Promise<boolean> {
  if (isPerson(caller)) return true
  const row = await ctx.store.get('session', id)
  return row !== undefined && maySee(caller, row)
}

export async function listRequests(ctx: Context, caller: Caller, input: ParsedInput<'listRequests'>) {
  const limit = input.limit ?? limits.pageDefault
  if (!isPerson(caller)) {
    if (!input.session)
      throw new Fault(
        'forbidden',
        `${caller.role === 'agent' ? 'An agent' : 'A runner'} can only list the requests of one of its own sessions; pass the id of that session in "session"`,
      )
    if (!(await maySeeSession(ctx, caller, input.session))) throw sessionNotFound(input.session)
  }
  const after = input.after ? await ctx.store.get('request', input.after) : undefined
  if (input.after && (!after || !(await maySeeSession(ctx, caller, after.session)))) throw requestNotFound(input.after)
  const { status, session } = input
  const requests = scanRequests(ctx, {
    where: status === 'pending' ? pendingIn(session) : { ...(status && { status }), ...(session && { session }) },
    ...(after ? { afterOrd: after.ord } : {}),
  })
  const { items, more } = await fillPage(requests, { items: limit, bytes: limits.pageMaxBytes })
  return {
    status: 200,
    body: { items: await withConnection(ctx, items), next: more ? (items.at(-1)?.id ?? null) : null },
  }
}

/** Adds to pending requests since when their agent is disconnected. */
async function withConnection(ctx: Context, requests: readonly Request[]): Promise<Request[]> {
  const ids = new Set(requests.filter(({ status }) => status === 'pending').map(({ session }) => session))
  const sessions = await Promise.all([...ids].map(id => ctx.store.get('session', id)))
  const disconnected = new Map(
    sessions.flatMap(row => (row?.state === 'disconnected' ? [[row.id, row.stateChangedAt] as const] : [])),
  )
  return requests.map(request => {
    const disconnectedAt = request.status === 'pending' ? disconnected.get(request.session) : undefined
    return disconnectedAt === undefined ? request : { ...request, disconnectedAt }
  })
}

async function* scanRequests(ctx: Context, query: Query): AsyncGenerator<Request, void> {
  for await (const row of scan(ctx, 'request', query)) yield toRequest(row)
}
