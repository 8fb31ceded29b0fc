/** Operations on requests: open (once per key), answer (once), get and list. */
import { createHash } from 'node:crypto'
import {
  type Answer,
  answerProblem,
  canonicalJson,
  digestText,
  Fault,
  formatId,
  limits,
  type ParsedInput,
  type RequestId,
  requestIdText,
  type SessionId,
} from '@holdpoint/protocol'
import { evaluateRules } from '@holdpoint/rules'
import {
  agentAccessFault,
  externalDriver,
  isPerson,
  maySee,
  personIdOf,
  requestNotFound,
  requireAgentAccess,
  sessionNotFound,
} from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, pendingIn, sha256 } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import { fillPage, scan } from '../paging.ts'
import {
  expireIfDue,
  markNeedsRunner,
  openRequestsOf,
  requestTransitionFor,
  resolveRequest,
} from '../request-transitions.ts'
import type { RequestRow, SessionRow } from '../rows.ts'
import { applySessionTransition, persistPartialBlocks, putSession, resetIdleAttaches } from '../session-transitions.ts'
import type { Read } from '../store.ts'
import { hasSecret, toRequest } from '../wire-views.ts'
import { modeProblem, runnersRead } from './runners.ts'

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
  const id = requestId(input.id, input.key)
  const reservation = ctx.pendingQuota.reserve(input.id, input.ask)
  try {
    const problem = await reservation.problem()
    if (problem && !(await ctx.store.get('request', id))) throw new Fault('too_many', problem)
    return await commitRequest(ctx, caller, input, options, id, session.driver === externalDriver)
  } finally {
    reservation.release()
  }
}

function commitRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'openRequest'>,
  options: DispatchOptions,
  id: RequestId,
  external: boolean,
) {
  const digest = sha256(digestText(input.id, input.ask))
  const reads: Read[] = [
    { table: 'session', id: input.id },
    { table: 'request', id },
  ]
  // External agents do not report turns, so opening a request starts one. That writes the session, and `putSession` needs the open requests.
  if (external) reads.push(openRequestsOf(input.id))
  return ctx.commit<ReturnType<typeof toRequest>>(
    {
      label: 'open',
      reads,
      replay: replayedRequest(id, caller),
      decide: change => {
        const session = requireAgentAccess(change.get('session', input.id), caller, input.id, input.fence)
        if (session instanceof Fault) return session
        const known = change.get('request', id)
        if (!known)
          return {
            status: 201,
            body: toRequest(insertRequest(ctx, change, session, { ...input, requestId: id, digest }), caller),
          }
        if (known.digest === digest) return { status: 200, body: toRequest(known, caller) }
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

/** Returns the replay options of calls that reply with a request. A reply with a secret is not stored under its idempotency key, and a repeated call returns the current request instead. */
export function replayedRequest(id: RequestId, caller: Caller) {
  return {
    omitBody: hasSecret,
    rebuild: (change: ChangeBuilder) => {
      const row = change.get('request', id)
      return row ? toRequest(row, caller) : requestNotFound(id)
    },
  }
}

function insertRequest(
  ctx: Context,
  change: ChangeBuilder,
  session: SessionRow,
  input: ParsedInput<'openRequest'> & { requestId: RequestId; digest: string },
): RequestRow {
  persistPartialBlocks(ctx, change, session.id)
  resetIdleAttaches(change, session)
  if (session.driver === externalDriver && session.state !== 'working')
    putSession(change, applySessionTransition(change, session, 'startTurn'))
  const deadlineMs = input.deadlineMs ?? session.deadlineMs
  const row: RequestRow = {
    id: input.requestId,
    session: session.id,
    key: input.key,
    agentPath: input.agentPath ?? [],
    ask: input.ask,
    digest: input.digest,
    openedAt: change.now,
    deadlineAt: deadlineMs === null ? null : change.now + deadlineMs,
    onDeadline: input.onDeadline ?? session.onDeadline,
    overdue: false,
    status: 'pending',
    needs: 1,
    endorsements: [],
    resolution: null,
    delivery: { state: 'waiting', at: change.now },
    ord: change.nextSeq,
    handedFence: null,
  }
  change.put('request', row)
  change.event(session.id, { type: 'request.opened', value: toRequest(row, null) })
  return resolveByRule(ctx, change, session, row)
}

/** Resolves a new request if a rule matches it. Rules answer approvals only, never questions or forms. */
function resolveByRule(ctx: Context, change: ChangeBuilder, session: SessionRow, row: RequestRow): RequestRow {
  if (row.ask.kind !== 'approval') return row
  const verdict = evaluateRules(ctx.rules(change), row.ask, ctx.ruleContext(session, change.now))
  if (verdict.verdict === 'ask' || !verdict.rule) return row
  const answer: Answer =
    verdict.verdict === 'allow' ? { kind: 'allow' } : { kind: 'deny', reason: `Denied by a rule: ${verdict.reason}` }
  return resolveRequest(change, row, 'rule', { by: 'rule', rule: verdict.rule, answer }, [])
}

type AnswerItem = ParsedInput<'answerRequests'>['items'][number]

function decideAnswer(ctx: Context, change: ChangeBuilder, caller: Caller, item: AnswerItem): RequestRow | Fault {
  const found = change.get('request', item.id)
  if (!found) return requestNotFound(item.id)
  const drafts = change.find('draft', draftsFor(item.id).query)
  const row = expireIfDue(change, found, drafts)
  if (requestTransitionFor(row, 'answer') === 'alreadyResolved') {
    const { resolution } = row
    if (
      resolution?.by === 'person' &&
      resolution.personId === caller.id &&
      resolution.answer &&
      canonicalJson(resolution.answer) === canonicalJson(item.answer)
    )
      return item.digest === row.digest ? row : digestMismatch(row)
    return new Fault('already_resolved', `Request ${item.id} was already resolved by ${resolvedBy(row)}`, {
      request: toRequest(row, caller),
    })
  }
  if (item.digest !== row.digest) return digestMismatch(row)
  const problem = answerProblem(row.ask, item.answer) ?? newModeProblem(change, row, item.answer)
  if (problem)
    return new Fault('answer_mismatch', `The answer does not fit request ${item.id}: ${problem}`, { id: item.id })
  const edited = editedDigest(ctx, change, row, item.answer)
  if (edited instanceof Fault) return edited
  markNeedsRunner(change, row.session)
  const who = { person: caller.name, personId: personIdOf(caller), via: caller.via }
  const resolution = { by: 'person' as const, ...who, answer: item.answer }
  return resolveRequest(
    change,
    row,
    'answer',
    edited === null ? resolution : { ...resolution, editedDigest: edited },
    drafts,
  )
}

function newModeProblem(change: ChangeBuilder, row: RequestRow, answer: Answer): string | null {
  const session = change.get('session', row.session)
  return session && answer.kind === 'allow' ? modeProblem(change, session, answer.mode) : null
}

function digestMismatch({ id, digest }: RequestRow): Fault {
  return new Fault(
    'digest_mismatch',
    `Request ${id} has digest ${digest}, not the one you sent. Read the request again before you answer`,
    {
      digest,
    },
  )
}

function resolvedBy({ resolution }: RequestRow): string {
  if (resolution?.by === 'person') return resolution.person ?? 'a person'
  return resolution?.by === 'rule'
    ? `rule ${resolution.rule}`
    : resolution?.by === 'deadline'
      ? 'its deadline'
      : 'the agent'
}

/** Returns the digest of an edited input for the audit log (G7), a Fault if a rule denies that input, or null if nothing was edited. */
function editedDigest(ctx: Context, change: ChangeBuilder, row: RequestRow, answer: Answer): string | null | Fault {
  if (answer.kind !== 'allow' || !answer.input || row.ask.kind !== 'approval') return null
  const ask = { ...row.ask, input: answer.input }
  const session = change.get('session', row.session) ?? { id: row.session, driver: '', cwd: row.ask.cwd }
  const verdict = evaluateRules(ctx.rules(change), ask, ctx.ruleContext(session, change.now))
  if (verdict.verdict === 'deny')
    return new Fault('answer_mismatch', `The edited input is denied by rule ${verdict.rule}: ${verdict.reason}`, {
      id: row.id,
    })
  return sha256(digestText(row.session, ask))
}

export function draftsFor(request: RequestId) {
  return { table: 'draft', query: { where: { request } } } as const
}

/** Resolves with the reads for answering requests, and the ids of the requests that exist. A request that does not exist yet counts as not found even if it is opened before the answer is decided, because the reads do not include it. */
async function answerReads(
  ctx: Context,
  items: readonly Pick<AnswerItem, 'id' | 'answer'>[],
): Promise<{ reads: Read[]; found: Set<RequestId> }> {
  const choosesMode = items.some(({ answer }) => answer.kind === 'allow' && answer.mode !== undefined)
  const reads: Read[] = choosesMode ? [runnersRead] : []
  const found = new Set<RequestId>()
  for (const id of new Set(items.map(item => item.id))) {
    const row = await ctx.store.get('request', id)
    if (!row) continue
    reads.push({ table: 'request', id }, draftsFor(id), { table: 'session', id: row.session })
    found.add(id)
  }
  return { reads, found }
}

function refuseRemember(answer: Answer): void {
  if (answer.kind === 'allow' && answer.remember)
    throw new Fault('unsupported', 'remember is not supported yet; add the rule first, then answer')
}

export async function answerRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'answerRequest'>,
  options: DispatchOptions,
) {
  refuseRemember(input.answer)
  const { reads, found } = await answerReads(ctx, [input])
  if (!found.has(input.id)) throw requestNotFound(input.id)
  return ctx.commit<ReturnType<typeof toRequest>>(
    {
      label: 'answer',
      reads,
      decide: change => {
        const row = decideAnswer(ctx, change, caller, input)
        return row instanceof Fault ? row : { status: 200, body: toRequest(row, caller) }
      },
    },
    { caller, op: 'answerRequest', input, options },
  )
}

/** Answers several requests in one change, with one result per item; a failing item does not affect the others. */
export async function answerRequests(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'answerRequests'>,
  options: DispatchOptions,
) {
  for (const item of input.items) refuseRemember(item.answer)
  const { reads, found } = await answerReads(ctx, input.items)
  return ctx.commit(
    {
      label: 'answer',
      reads,
      decide: change => {
        const items = input.items.map(item => {
          const row = found.has(item.id) ? decideAnswer(ctx, change, caller, item) : requestNotFound(item.id)
          return row instanceof Fault
            ? { id: item.id, status: row.status, ...row.toJSON() }
            : { id: item.id, status: 200, request: toRequest(row, caller) }
        })
        return { status: 200, body: { items } }
      },
    },
    { caller, op: 'answerRequests', input, options },
  )
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
  const row = await ctx.longPoll(caller, options, `request:${input.id}`, input.wait ?? 0, check)
  return { status: 200, body: toRequest(row, caller) }
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
  const rows = scan(ctx.store, 'request', {
    where: status === 'pending' ? pendingIn(session) : { ...(status && { status }), ...(session && { session }) },
    ...(after ? { afterOrd: after.ord } : {}),
  })
  const page = await fillPage(rows, { items: limit, bytes: limits.pageMaxBytes })
  const items = page.items.map(row => toRequest(row, caller))
  return { status: 200, body: { items, next: page.more ? (items.at(-1)?.id ?? null) : null } }
}
