/** Requests: opened once per key, resolved once, handed at most once where it is an allow. */

import { createHash } from 'node:crypto'
import {
  type Answer,
  canonical,
  digestText,
  Fault,
  limits,
  misfit,
  type Parsed,
  type RequestId,
  spellId,
} from '@holdpoint/protocol'
import { judge } from '@holdpoint/rules'
import { type Context, sha256 } from '../context.ts'
import type { Caller, DispatchOptions, Reply } from '../desk.ts'
import { agentSide, externalDriver, maySee, noRequest } from '../guard.ts'
import {
  cellOf,
  deliver,
  keepPartials,
  moved,
  openRequestsOf,
  putSession,
  resolve,
  settleByAgent,
  want,
} from '../moves.ts'
import type { Pen } from '../pen.ts'
import type { Read } from '../port.ts'
import type { RequestRow, SessionRow } from '../rows.ts'
import { showRequest } from '../shown.ts'

/** Same session, same key: same id. Asking twice cannot make two rows (G4). */
function requestId(session: string, key: string): RequestId {
  return spellId('req', createHash('sha256').update(`${session}\0${key}`).digest())
}

export async function openRequest(
  ctx: Context,
  caller: Caller,
  input: Parsed<'openRequest'>,
  options: DispatchOptions,
) {
  const id = requestId(input.id, input.key)
  const digest = sha256(digestText(input.id, input.ask))
  if ((await ctx.pendingOf(input.id)) >= limits.pendingPerSessionMax && !(await ctx.store.get('request', id)))
    throw new Fault(
      'too_many',
      `Session ${input.id} has ${limits.pendingPerSessionMax} requests waiting; wait for answers first`,
    )
  const reads: Read[] = [
    { table: 'session', id: input.id },
    { table: 'request', id },
  ]
  // Only an agent that lives elsewhere shows that it works by asking; that changes its session.
  const session = await ctx.store.get('session', input.id)
  if (session?.driver === externalDriver) reads.push(openRequestsOf(input.id))
  return ctx.change<ReturnType<typeof showRequest>>(
    {
      label: 'open',
      reads,
      decide: pen => {
        const session = agentSide(pen.get('session', input.id), caller, input.id, input.fence)
        if (session instanceof Fault) return session
        const known = pen.get('request', id)
        if (!known)
          return {
            status: 201,
            body: showRequest(insert(ctx, pen, session, { ...input, requestId: id, digest }), caller),
          }
        if (known.digest === digest) return { status: 200, body: showRequest(known, caller) }
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

function insert(
  ctx: Context,
  pen: Pen,
  session: SessionRow,
  input: Parsed<'openRequest'> & { requestId: RequestId; digest: string },
): RequestRow {
  keepPartials(ctx, pen, session.id)
  if (session.driver === externalDriver && (session.state === 'idle' || session.state === 'starting'))
    putSession(pen, moved(pen, session, 'working'))
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
  pen.event(session.id, { type: 'request.opened', value: showRequest(row, null) })
  return byRule(ctx, pen, session, row)
}

/** A rule's answer is a resolution like any other. Questions and forms are always a person's. */
function byRule(ctx: Context, pen: Pen, session: SessionRow, row: RequestRow): RequestRow {
  if (row.ask.kind !== 'approval') return row
  const verdict = judge(ctx.rules(pen), row.ask, { driver: session.driver, session: session.id, now: pen.now })
  if (verdict.verdict === 'ask' || !verdict.rule) return row
  const answer: Answer =
    verdict.verdict === 'allow' ? { kind: 'allow' } : { kind: 'deny', reason: `Refused by a rule: ${verdict.reason}` }
  return resolve(pen, row, 'rule', { by: 'rule', rule: verdict.rule, answer })
}

/** At or after its deadline only the deadline can win, swept or not (G1). */
export function passDeadline(pen: Pen, row: RequestRow): RequestRow {
  if (row.status !== 'pending' || row.deadlineAt === null || pen.now < row.deadlineAt) return row
  if (row.onDeadline === 'deny') {
    want(pen, row.session)
    return resolve(pen, row, 'deadline', { by: 'deadline', reason: 'nobody answered' })
  }
  if (row.overdue) return row
  pen.event(row.session, { type: 'request.overdue', request: row.id })
  return pen.put('request', { ...row, overdue: true })
}

type AnswerItem = Parsed<'answerRequests'>['items'][number]

function decideAnswer(ctx: Context, pen: Pen, caller: Caller, item: AnswerItem): RequestRow | Fault {
  const found = pen.get('request', item.id)
  if (!found) return noRequest(item.id)
  const row = passDeadline(pen, found)
  if (cellOf(row, 'answer') === 'winner') {
    const said = row.resolution
    if (
      said?.by === 'person' &&
      said.person === caller.name &&
      said.answer &&
      canonical(said.answer) === canonical(item.answer)
    )
      return row
    return new Fault('already_resolved', `Request ${item.id} was resolved by ${winner(row)} already`, {
      request: showRequest(row, caller),
    })
  }
  if (item.digest !== row.digest)
    return new Fault(
      'digest_mismatch',
      `Request ${item.id} is not what you read: its digest is ${row.digest}. Read it again`,
      { digest: row.digest },
    )
  const wrong = misfit(row.ask, item.answer)
  if (wrong)
    return new Fault('answer_mismatch', `The answer does not fit request ${item.id}: ${wrong}`, { id: item.id })
  const edited = editedDigest(ctx, pen, row, item.answer)
  if (edited instanceof Fault) return edited
  want(pen, row.session)
  for (const draft of pen.find('draft', { where: { request: row.id } })) pen.del('draft', draft.id)
  const resolution = { by: 'person' as const, person: caller.name, via: caller.via, answer: item.answer }
  return resolve(pen, row, 'answer', edited === null ? resolution : { ...resolution, editedDigest: edited })
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
function editedDigest(ctx: Context, pen: Pen, row: RequestRow, answer: Answer): string | null | Fault {
  if (answer.kind !== 'allow' || !answer.input || row.ask.kind !== 'approval') return null
  const ask = { ...row.ask, input: answer.input }
  const driver = pen.get('session', row.session)?.driver ?? ''
  const verdict = judge(ctx.rules(pen), ask, { driver, session: row.session, now: pen.now })
  if (verdict.verdict === 'deny')
    return new Fault('answer_mismatch', `The edited input is refused by rule ${verdict.rule}: ${verdict.reason}`, {
      id: row.id,
    })
  return sha256(digestText(row.session, ask))
}

async function answerReads(ctx: Context, ids: readonly RequestId[]): Promise<Read[]> {
  const reads: Read[] = []
  for (const id of new Set(ids)) {
    const row = await ctx.store.get('request', id)
    reads.push({ table: 'request', id }, { table: 'draft', query: { where: { request: id } } })
    if (row) reads.push({ table: 'session', id: row.session })
  }
  return reads
}

function refuseRemember(answer: Answer): void {
  if (answer.kind === 'allow' && answer.remember)
    throw new Fault('unsupported', 'remember is not understood yet; add the rule by itself, then answer')
}

export async function answerRequest(
  ctx: Context,
  caller: Caller,
  input: Parsed<'answerRequest'>,
  options: DispatchOptions,
) {
  refuseRemember(input.answer)
  return ctx.change<ReturnType<typeof showRequest>>(
    {
      label: 'answer',
      reads: await answerReads(ctx, [input.id]),
      decide: pen => {
        const row = decideAnswer(ctx, pen, caller, input)
        return row instanceof Fault ? row : { status: 200, body: showRequest(row, caller) }
      },
    },
    { caller, op: 'answerRequest', input, options },
  )
}

/** Several at once: one change, a result per item; one failing fails no other. */
export async function answerRequests(
  ctx: Context,
  caller: Caller,
  input: Parsed<'answerRequests'>,
  options: DispatchOptions,
) {
  for (const item of input.items) refuseRemember(item.answer)
  return ctx.change(
    {
      label: 'answer',
      reads: await answerReads(
        ctx,
        input.items.map(item => item.id),
      ),
      decide: pen => {
        const items = input.items.map(item => {
          const row = decideAnswer(ctx, pen, caller, item)
          return row instanceof Fault
            ? { id: item.id, status: row.status, ...row.toJSON() }
            : { id: item.id, status: 200, request: showRequest(row, caller) }
        })
        return { status: 200, body: { items } }
      },
    },
    { caller, op: 'answerRequests', input, options },
  )
}

export async function withdrawRequest(
  ctx: Context,
  caller: Caller,
  input: Parsed<'withdrawRequest'>,
  options: DispatchOptions,
) {
  return agentChange(ctx, caller, 'withdrawRequest', 'withdraw', input, options, (pen, row) => {
    const fresh = passDeadline(pen, row)
    settleByAgent(pen, [fresh], 'withdraw')
    return pen.get('request', row.id) ?? fresh
  })
}

export async function reportDelivery(
  ctx: Context,
  caller: Caller,
  input: Parsed<'reportDelivery'>,
  options: DispatchOptions,
) {
  return agentChange(
    ctx,
    caller,
    'reportDelivery',
    input.state,
    input,
    options,
    (pen, row, session) => {
      const command = ({ handed: 'hand', taken: 'take', unknown: 'doubt', undeliverable: 'drop' } as const)[input.state]
      const cell = cellOf(row, command)
      const extra = input.reason === undefined ? {} : { reason: input.reason }
      if (cell === 'stay') return row
      if (cell === 'again' && row.resolution?.answer?.kind !== 'allow')
        return deliver(pen, row, 'handed', { ...extra, fence: session.fence })
      if (cell === 'refuse' || cell === 'again' || cell === 'winner' || cell === 'pending' || cell === 'waiting')
        return new Fault('already_resolved', deliveryRefused(row, command), { request: showRequest(row, caller) })
      return deliver(pen, row, cell, { ...extra, ...(cell === 'handed' ? { fence: session.fence } : {}) })
    },
    'ended',
  )
}

function deliveryRefused(row: RequestRow, command: string): string {
  if (row.status === 'pending') return `Request ${row.id} is still pending: there is nothing to ${command} yet`
  if (row.delivery.state === 'unknown')
    return `Request ${row.id} was handed before a crash and its outcome is unknown: an allow is never handed twice`
  return `Request ${row.id} is ${row.delivery.state} already`
}

/** What withdraw and delivery share: the request, its session, and the right to write for its agent. */
async function agentChange(
  ctx: Context,
  caller: Caller,
  op: string,
  label: string,
  input: { readonly id: RequestId; readonly fence?: number | undefined },
  options: DispatchOptions,
  move: (pen: Pen, row: RequestRow, session: SessionRow) => RequestRow | Fault,
  even?: 'ended',
): Promise<Reply<ReturnType<typeof showRequest>>> {
  const before = await ctx.store.get('request', input.id)
  if (!before) throw noRequest(input.id)
  return ctx.change(
    {
      label,
      reads: [
        { table: 'request', id: input.id },
        { table: 'session', id: before.session },
      ],
      decide: pen => {
        const session = agentSide(pen.get('session', before.session), caller, before.session, input.fence, even)
        if (session instanceof Fault) return session
        const row = pen.get('request', input.id)
        if (!row) return noRequest(input.id)
        const next = move(pen, row, session)
        return next instanceof Fault ? next : { status: 200, body: showRequest(next, caller) }
      },
    },
    { caller, op, input, options },
  )
}

export async function getRequest(ctx: Context, caller: Caller, input: Parsed<'getRequest'>, options: DispatchOptions) {
  const look = async () => {
    const row = await ctx.store.get('request', input.id)
    if (!row) throw noRequest(input.id)
    return { ready: row.status === 'resolved', value: row }
  }
  const row = input.wait
    ? await ctx.until(`request:${input.id}`, input.wait, options.signal, look)
    : (await look()).value
  if (caller.role === 'agent') {
    const session = await ctx.store.get('session', row.session)
    if (!session || !maySee(caller, session)) throw noRequest(input.id)
  }
  return { status: 200, body: showRequest(row, caller) }
}

export async function listRequests(ctx: Context, caller: Caller, input: Parsed<'listRequests'>) {
  const limit = input.limit ?? limits.pageDefault
  if (caller.role === 'agent') {
    const session = input.session ? await ctx.store.get('session', input.session) : undefined
    if (!session || !maySee(caller, session))
      throw new Fault('forbidden', 'An agent lists the requests of its own session: name it')
  }
  const after = input.after ? await ctx.store.get('request', input.after) : undefined
  if (input.after && !after) throw noRequest(input.after)
  const rows = await ctx.store.find('request', {
    where: { ...(input.status ? { status: input.status } : {}), ...(input.session ? { session: input.session } : {}) },
    ...(after ? { afterOrd: after.ord } : {}),
    limit: limit + 1,
  })
  const items = rows.slice(0, limit).map(row => showRequest(row, caller))
  return { status: 200, body: { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null } }
}
