/** Operations on requests: open (once per key), get and list. */
import { hash } from 'node:crypto'
import {
  digestText,
  Fault,
  formatId,
  isGatewayRequest,
  limits,
  type ParsedInput,
  type Request,
  type RequestId,
  type Risk,
  requestIdText,
  type SessionId,
  watchKeyPrefix,
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
import { type Context, pendingIn, sha256 } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import { fillPage, jsonBytes, scan } from '../paging.ts'
import type { RequestRow, SessionRow, WatchReply } from '../rows.ts'
import { refreshRuleFiles, resolveByRule, resolveByWatcher, riskIn } from '../rule-answers.ts'
import { withSecrets } from '../secrets.ts'
import { applySessionTransition, persistPartialBlocks, putSession, resetIdleAttaches } from '../session-transitions.ts'
import type { Query, Read } from '../store.ts'
import { accountOf, pendingFault, putRequest, usageReads } from '../usage.ts'
import { beforeCall, beforeQuestion, digestBefore, watchReads } from '../watch/watch-passes.ts'
import { toRequest } from '../wire-views.ts'
import { applyEvents } from './agent-events.ts'

function requestId(session: SessionId, key: string): RequestId {
  return formatId('req', hash('sha256', requestIdText(session, key), 'buffer'))
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
  if (isGatewayRequest(input))
    throw new Fault(
      'bad_input',
      `key: keys that begin with "${watchKeyPrefix}" are those of the gateway; use another key`,
    )
  await refreshRuleFiles(ctx, session)
  const opened = {
    id: requestId(input.id, input.key),
    digest: sha256(digestText(input.id, ask)),
    bytes: jsonBytes(ask),
    // The risk is computed in an earlier turn of the event loop than the change, so that other calls do not wait for both at once. The change checks the fence, so the session still has the same runner then.
    risk: await ctx.computing.run(() => riskIn(ctx, session, ask)),
    callDigest: ask.kind === 'approval' ? await digestBefore(ctx, ask) : undefined,
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
  /** The digest with which watchers compare calls. */
  readonly callDigest: string | undefined
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
  const reads: Read[] = [
    { table: 'session', id: input.id },
    { table: 'request', id },
    ...usageReads(input.id, account),
    ...watchReads(ctx, input.id),
  ]
  return ctx.commit<Request>(
    {
      label: 'open',
      reads,
      decide: change => {
        const found = agentSession(ctx, change, caller, input)
        if (found instanceof Fault) return found
        const known = change.get('request', id)
        const refused = known ? keyConflict(known, input.key, digest) : pendingFault(change, found, bytes)
        if (refused) return refused
        const session = applyEvents(ctx, change, found, input.events ?? [])
        if (known) return { status: 200, body: toRequest(known) }
        return { status: 201, body: toRequest(insertRequest(ctx, change, session, input, opened)) }
      },
    },
    { caller, op: 'openRequest', input, options },
  )
}

function keyConflict({ id, digest }: RequestRow, key: string, asked: string): Fault | null {
  if (digest === asked) return null
  const message = `Key "${key}" was already used for request ${id} with other content; use a new key for a new ask`
  return new Fault('key_conflict', message, { id, digest })
}

function insertRequest(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  input: ParsedInput<'openRequest'>,
  opened: NewRequest,
): RequestRow {
  const { id, digest, bytes, risk } = opened
  persistPartialBlocks(ctx, change, session.id, input.events)
  resetIdleAttaches(change, session)
  if (session.driver === externalDriver && session.state !== 'working')
    putSession(change, { ...applySessionTransition(change, session, 'startTurn'), turnOpen: true })
  const deadlineMs = input.deadlineMs ?? session.deadlineMs
  const agentPath = input.agentPath ?? []
  const follows = followedRequest(session, agentPath)
  const watched = beforeAsk(ctx, change, session, input, opened)
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
    ...askedBecause(watched),
    resolution: null,
    delivery: { state: 'waiting', at: change.now },
    ord: change.nextSeq,
    handedFence: null,
    account: accountOf(session),
    bytes,
  }
  putRequest(change, undefined, row)
  change.event(session.id, { type: 'request.opened', value: toRequest(row) })
  if (watched?.verdict === 'deny') return resolveByWatcher(change, row, watched)
  const evaluated = resolveByRule(ctx, change, session, row)
  if (follows && evaluated.status === 'pending') forgetAskedBack(change, session.id, follows)
  return evaluated
}

/** Evaluates the watchers of the moment before an ask. */
function beforeAsk(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  { key, ask, agentPath }: ParsedInput<'openRequest'>,
  { risk, callDigest: digest }: NewRequest,
): WatchReply | null {
  if (ask.kind !== 'approval') return beforeQuestion(ctx, change, session, { key, ask, agentPath })
  const { tool, input, cwd, action } = ask
  const call = { tool, input, cwd, action }
  return beforeCall(ctx, change, session, { key, call, agentPath, risk, digest, givesTextsLater: true })
}

/** Returns the fields of a request that a watcher wants people to decide. */
function askedBecause(watched: WatchReply | null): Pick<RequestRow, 'watcher' | 'limits'> {
  if (watched?.verdict !== 'ask' || !watched.watcher) return {}
  const { watcher, reason = '', limits: raised } = watched
  return { watcher: { ...watcher, text: reason }, ...(raised ? { limits: raised } : {}) }
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

/** Adds `disconnectedAt` to pending requests whose agent is disconnected. */
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
