/** Requests: opened once per key, resolved once. */
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
} from '@holdpoint/protocol'
import { evaluateRules } from '@holdpoint/rules'
import {
  agentAccessFault,
  externalDriver,
  maySee,
  requestNotFound,
  requireAgentAccess,
  sessionNotFound,
} from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, pendingIn, sha256 } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import {
  applyTransition,
  expireIfDue,
  markNeedsRunner,
  openRequestsOf,
  persistPartialBlocks,
  putSession,
  resetIdleAttaches,
  resolve,
  transitionFor,
} from '../moves.ts'
import { fillPage, scan } from '../paging.ts'
import type { RequestRow, SessionRow } from '../rows.ts'
import type { Read } from '../store.ts'
import { hasSecret, toRequest } from '../wire-views.ts'
import { modeProblem, runnersRead } from './runners.ts'

/** Same session, same key: same id. Asking twice cannot make two rows (G4). */
function requestId(session: string, key: string): RequestId {
  return formatId('req', createHash('sha256').update(`${session}\0${key}`).digest())
}

export async function openRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'openRequest'>,
  options: DispatchOptions,
) {
  const session = await ctx.store.get('session', input.id)
  if (!session) throw sessionNotFound(input.id, caller)
  const foreign = agentAccessFault(caller, session)
  if (foreign) throw foreign
  const id = requestId(input.id, input.key)
  const place = ctx.pendingQuota.enter(input.id, input.ask)
  try {
    const full = await place.full()
    if (full && !(await ctx.store.get('request', id))) throw new Fault('too_many', full)
    return await open(ctx, caller, input, options, id, session.driver === externalDriver)
  } finally {
    place.leave()
  }
}

function open(
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
  // Only an agent that lives elsewhere shows that it works by asking; that changes its session.
  if (external) reads.push(openRequestsOf(input.id))
  return ctx.commit<ReturnType<typeof toRequest>>(
    {
      label: 'open',
      reads,
      replay: replayedRequest(id, caller),
      decide: pen => {
        const session = requireAgentAccess(pen.get('session', input.id), caller, input.id, input.fence)
        if (session instanceof Fault) return session
        const known = pen.get('request', id)
        if (!known)
          return {
            status: 201,
            body: toRequest(insert(ctx, pen, session, { ...input, requestId: id, digest }), caller),
          }
        if (known.digest === digest) return { status: 200, body: toRequest(known, caller) }
        return new Fault(
          'key_conflict',
          `Request ${id} was asked under key "${input.key}" with other content; use a new key for a new ask`,
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

/** A secret is not kept under an idempotency key: who repeats the call is shown the request as it stands. */
export function replayedRequest(id: RequestId, caller: Caller) {
  return {
    instead: hasSecret,
    show: (pen: ChangeBuilder) => {
      const row = pen.get('request', id)
      return row ? toRequest(row, caller) : requestNotFound(id)
    },
  }
}

function insert(
  ctx: Context,
  pen: ChangeBuilder,
  session: SessionRow,
  input: ParsedInput<'openRequest'> & { requestId: RequestId; digest: string },
): RequestRow {
  persistPartialBlocks(ctx, pen, session.id)
  resetIdleAttaches(pen, session)
  if (session.driver === externalDriver && session.state !== 'working')
    putSession(pen, applyTransition(pen, session, 'begin'))
  const deadlineMs = input.deadlineMs ?? session.deadlineMs
  const row: RequestRow = {
    id: input.requestId,
    session: session.id,
    key: input.key,
    agentPath: input.agentPath ?? [],
    ask: input.ask,
    digest: input.digest,
    openedAt: pen.now,
    deadlineAt: deadlineMs === null ? null : pen.now + deadlineMs,
    onDeadline: input.onDeadline ?? session.onDeadline,
    overdue: false,
    status: 'pending',
    needs: 1,
    endorsements: [],
    resolution: null,
    delivery: { state: 'waiting', at: pen.now },
    ord: pen.nextSeq,
    handedFence: null,
  }
  pen.put('request', row)
  pen.event(session.id, { type: 'request.opened', value: toRequest(row, null) })
  return byRule(ctx, pen, session, row)
}

/** A rule's answer is a resolution like any other. Questions and forms are always a person's. */
function byRule(ctx: Context, pen: ChangeBuilder, session: SessionRow, row: RequestRow): RequestRow {
  if (row.ask.kind !== 'approval') return row
  const verdict = evaluateRules(ctx.rules(pen), row.ask, { driver: session.driver, session: session.id, now: pen.now })
  if (verdict.verdict === 'ask' || !verdict.rule) return row
  const answer: Answer =
    verdict.verdict === 'allow' ? { kind: 'allow' } : { kind: 'deny', reason: `Refused by a rule: ${verdict.reason}` }
  return resolve(pen, row, 'rule', { by: 'rule', rule: verdict.rule, answer }, [])
}

type AnswerItem = ParsedInput<'answerRequests'>['items'][number]

function decideAnswer(ctx: Context, pen: ChangeBuilder, caller: Caller, item: AnswerItem): RequestRow | Fault {
  const found = pen.get('request', item.id)
  if (!found) return requestNotFound(item.id)
  const drafts = pen.find('draft', draftsFor(item.id).query)
  const row = expireIfDue(pen, found, drafts)
  if (transitionFor(row, 'answer') === 'winner') {
    const said = row.resolution
    if (
      said?.by === 'person' &&
      said.person === caller.name &&
      said.answer &&
      canonicalJson(said.answer) === canonicalJson(item.answer)
    )
      return item.digest === row.digest ? row : anotherDigest(row)
    return new Fault('already_resolved', `Request ${item.id} was resolved by ${winner(row)} already`, {
      request: toRequest(row, caller),
    })
  }
  if (item.digest !== row.digest) return anotherDigest(row)
  const wrong = answerProblem(row.ask, item.answer) ?? misfitOfNewMode(pen, row, item.answer)
  if (wrong)
    return new Fault('answer_mismatch', `The answer does not fit request ${item.id}: ${wrong}`, { id: item.id })
  const edited = editedDigest(ctx, pen, row, item.answer)
  if (edited instanceof Fault) return edited
  markNeedsRunner(pen, row.session)
  const resolution = { by: 'person' as const, person: caller.name, via: caller.via, answer: item.answer }
  return resolve(pen, row, 'answer', edited === null ? resolution : { ...resolution, editedDigest: edited }, drafts)
}

function misfitOfNewMode(pen: ChangeBuilder, row: RequestRow, answer: Answer): string | null {
  const session = pen.get('session', row.session)
  return session && answer.kind === 'allow' ? modeProblem(pen, session, answer.mode) : null
}

function anotherDigest({ id, digest }: RequestRow): Fault {
  return new Fault('digest_mismatch', `Request ${id} is not what you read: its digest is ${digest}. Read it again`, {
    digest,
  })
}

function winner({ resolution }: RequestRow): string {
  if (resolution?.by === 'person') return resolution.person ?? 'a person'
  return resolution?.by === 'rule'
    ? `rule ${resolution.rule}`
    : resolution?.by === 'deadline'
      ? 'its deadline'
      : 'the agent’s side'
}

/** What a person edited is what runs: it must not be what a rule forbids, and the record names it by its own digest (G7). */
function editedDigest(ctx: Context, pen: ChangeBuilder, row: RequestRow, answer: Answer): string | null | Fault {
  if (answer.kind !== 'allow' || !answer.input || row.ask.kind !== 'approval') return null
  const ask = { ...row.ask, input: answer.input }
  const driver = pen.get('session', row.session)?.driver ?? ''
  const verdict = evaluateRules(ctx.rules(pen), ask, { driver, session: row.session, now: pen.now })
  if (verdict.verdict === 'deny')
    return new Fault('answer_mismatch', `The edited input is refused by rule ${verdict.rule}: ${verdict.reason}`, {
      id: row.id,
    })
  return sha256(digestText(row.session, ask))
}

export function draftsFor(request: RequestId) {
  return { table: 'draft', query: { where: { request } } } as const
}

/** A request that is not there when the answer comes is not found, also where it is opened before the answer is decided. */
async function answerReads(
  ctx: Context,
  items: readonly Pick<AnswerItem, 'id' | 'answer'>[],
): Promise<{ reads: Read[]; there: Set<RequestId> }> {
  const choosesMode = items.some(({ answer }) => answer.kind === 'allow' && answer.mode !== undefined)
  const reads: Read[] = choosesMode ? [runnersRead] : []
  const there = new Set<RequestId>()
  for (const id of new Set(items.map(item => item.id))) {
    const row = await ctx.store.get('request', id)
    if (!row) continue
    reads.push({ table: 'request', id }, draftsFor(id), { table: 'session', id: row.session })
    there.add(id)
  }
  return { reads, there }
}

function refuseRemember(answer: Answer): void {
  if (answer.kind === 'allow' && answer.remember)
    throw new Fault('unsupported', 'remember is not understood yet; add the rule by itself, then answer')
}

export async function answerRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'answerRequest'>,
  options: DispatchOptions,
) {
  refuseRemember(input.answer)
  const { reads, there } = await answerReads(ctx, [input])
  if (!there.has(input.id)) throw requestNotFound(input.id)
  return ctx.commit<ReturnType<typeof toRequest>>(
    {
      label: 'answer',
      reads,
      decide: pen => {
        const row = decideAnswer(ctx, pen, caller, input)
        return row instanceof Fault ? row : { status: 200, body: toRequest(row, caller) }
      },
    },
    { caller, op: 'answerRequest', input, options },
  )
}

/** Several at once: one change, a result per item; one failing fails no other. */
export async function answerRequests(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'answerRequests'>,
  options: DispatchOptions,
) {
  for (const item of input.items) refuseRemember(item.answer)
  const { reads, there } = await answerReads(ctx, input.items)
  return ctx.commit(
    {
      label: 'answer',
      reads,
      decide: pen => {
        const items = input.items.map(item => {
          const row = there.has(item.id) ? decideAnswer(ctx, pen, caller, item) : requestNotFound(item.id)
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
  const look = async () => {
    const row = await ctx.store.get('request', input.id)
    if (!row) throw requestNotFound(input.id)
    return { ready: row.status === 'resolved', value: row }
  }
  if (caller.role === 'agent') {
    const session = await ctx.store.get('session', (await look()).value.session)
    if (!session || !maySee(caller, session)) throw requestNotFound(input.id)
  }
  const row = await ctx.longPoll(`request:${input.id}`, input.wait ?? 0, options.signal, look)
  return { status: 200, body: toRequest(row, caller) }
}

export async function listRequests(ctx: Context, caller: Caller, input: ParsedInput<'listRequests'>) {
  const limit = input.limit ?? limits.pageDefault
  if (caller.role === 'agent') {
    if (!input.session) throw new Fault('forbidden', 'An agent lists the requests of its own session: name it')
    const session = await ctx.store.get('session', input.session)
    if (!session || !maySee(caller, session)) throw sessionNotFound(input.session)
  }
  const after = input.after ? await ctx.store.get('request', input.after) : undefined
  if (input.after && !after) throw requestNotFound(input.after)
  const { status, session } = input
  const rows = scan(ctx.store, 'request', {
    where: status === 'pending' ? pendingIn(session) : { ...(status && { status }), ...(session && { session }) },
    ...(after ? { afterOrd: after.ord } : {}),
  })
  const page = await fillPage(rows, { items: limit, bytes: limits.pageMaxBytes })
  const items = page.items.map(row => toRequest(row, caller))
  return { status: 200, body: { items, next: page.more ? (items.at(-1)?.id ?? null) : null } }
}
