/** Operations on requests from the agent's side: withdraw a request, get its answer, and report the delivery of the answer. */
import {
  type AgentReason,
  answerForAgent,
  Fault,
  isGatewayRequest,
  type Output,
  type ParsedInput,
  type Request,
  type RequestId,
} from '@holdpoint/protocol'
import { agentSession, keepLease } from '../agent-lease.ts'
import { hideSession, requestNotFound, requireAgentAccess } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import { decisionFault } from '../decision-check.ts'
import type { Caller, DispatchOptions, OperationResult } from '../gateway.ts'
import { draftsFor, requestTransitionFor, resolveByAgent, setDelivery } from '../request-transitions.ts'
import type { RequestRow, SessionRow } from '../rows.ts'
import { isStillAllowed, refreshRuleFiles } from '../rule-answers.ts'
import { hasLostSecrets, withSecrets } from '../secrets.ts'
import type { Read } from '../store.ts'
import { accountOf, usageReads } from '../usage.ts'
import { toRequest } from '../wire-views.ts'

export async function withdrawRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'withdrawRequest'>,
  options: DispatchOptions,
) {
  const before = await storedRequest(ctx, input.id)
  const drafts = draftsFor(input.id)
  const call = { caller, op: 'withdrawRequest', input, options }
  return agentChange(ctx, call, before, { label: 'withdraw', moreReads: [drafts] }, (change, row) => {
    if (isGatewayRequest(row))
      return new Fault('forbidden', `Request ${row.id} comes from the gateway itself, so the agent cannot withdraw it`)
    resolveByAgent(change, [row], 'withdraw', change.find('draft', drafts.query))
    return change.get('request', row.id) ?? row
  })
}

export async function reportDelivery(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'reportDelivery'>,
  options: DispatchOptions,
) {
  const before = await storedRequest(ctx, input.id)
  const check = input.state === 'handed' ? await checkAnswer(ctx, before) : null
  const call = { caller, op: 'reportDelivery', input, options }
  const extra = input.reason === undefined ? {} : { reason: input.reason }
  return agentChange(
    ctx,
    call,
    before,
    { label: input.state, ended: 'allowEnded' },
    (change, row, session, isRepeat) => {
      // Only the agent that attached the session knows the fence, so an agent that sends it may report the same hand-over again.
      const isSame = isRepeat || (input.fence !== undefined && input.fence === row.handedFence)
      if (check) return handAnswer(ctx, change, row, session, { isSame, ...extra, ...check })
      const transition = requestTransitionFor(row, deliveryTriggers[input.state])
      if (transition === 'stay') return row
      if (transition === 'taken' || transition === 'unknown' || transition === 'undeliverable')
        return setDelivery(change, row, transition, extra)
      return deliveryRefused(row)
    },
  )
}

/** Waits for the answer, returns it, and records in the same change that it was handed, so that of two agents only one gets an allow. */
export async function handOverRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'handOverRequest'>,
  options: DispatchOptions,
) {
  const readSession = async ({ session: id }: RequestRow) => {
    const stored = await ctx.store.get('session', id)
    const session = requireAgentAccess(stored, caller, id, input.fence, 'allowEnded')
    const visible = hideSession(session, () => requestNotFound(input.id))
    if (visible instanceof Fault) throw visible
    return visible
  }
  const stopKeeping = keepLease(ctx, await readSession(await storedRequest(ctx, input.id)))
  const isResolved = async () => {
    const value = await storedRequest(ctx, input.id)
    // Check this again after every wait, because another runner may have taken over the session.
    await readSession(value)
    return { ready: value.status === 'resolved', value }
  }
  const before = await ctx
    .longPoll(caller, options, `request:${input.id}`, input.wait ?? 0, isResolved)
    .finally(stopKeeping)
  // A request that is pending or that the agent's side resolved has no answer to hand.
  if (before.resolution === null || before.resolution.by === 'agent')
    return { status: 200, body: toHandover(toRequest(before)) }
  const check = await checkAnswer(ctx, before)
  const call = { caller, op: 'handOverRequest', input, options }
  const apply: Apply = (change, row, session, isSame) => handAnswer(ctx, change, row, session, { isSame, ...check })
  const { status, body } = await agentChange(ctx, call, before, { label: 'handed', ended: 'allowEnded' }, apply)
  return { status, body: toHandover(body) }
}

function toHandover(request: Request): Output<'handOverRequest'> {
  const { resolution } = request
  if (!resolution) return { outcome: 'pending', request }
  const { by, effective } = resolution
  if (by === 'agent') return { outcome: resolution.reason as AgentReason, request } // the gateway writes only reasons that AgentReason lists
  const answer = resolution.answer && answerForAgent(request.ask, resolution.answer)
  const reason = answer && 'reason' in answer ? answer.reason : resolution.reason
  const note = answer?.kind === 'allow' ? answer.note : undefined
  return {
    outcome: answer?.kind ?? 'nobody',
    ...(effective && { effective }),
    ...(reason === undefined ? {} : { reason }),
    ...(note === undefined ? {} : { note }),
    request,
  }
}

interface AnswerCheck {
  /** Whether the request was resolved when it was checked. */
  readonly isChecked: boolean
  readonly damaged: Fault | null
  readonly secretsLost: boolean
}

/** Checks a stored answer before it is handed. This happens before the commit, because the log cannot be read inside it. A resolved request never gets another resolution. The result is used only after the access check, so that it reveals nothing to others. */
async function checkAnswer(ctx: Context, before: RequestRow): Promise<AnswerCheck> {
  if (before.status === 'pending') return { isChecked: false, damaged: null, secretsLost: false }
  const session = isAllowByRule(before) ? await ctx.store.get('session', before.session) : undefined
  if (session) await refreshRuleFiles(ctx, session)
  return { isChecked: true, damaged: await decisionFault(ctx, before), secretsLost: await hasLostSecrets(ctx, before) }
}

/** Hands an answer. An allow is handed once (G5): only a report of the same hand-over is accepted again. An allow by a rule is handed only if the rules still allow the call. */
function handAnswer(
  ctx: Context,
  change: ChangeBuilder,
  row: RequestRow,
  session: SessionRow,
  {
    isChecked,
    damaged,
    secretsLost,
    isSame,
    reason,
  }: AnswerCheck & { readonly isSame: boolean; readonly reason?: string },
): RequestRow | Fault {
  if (damaged) return damaged
  const transition = requestTransitionFor(row, 'hand')
  if (transition === 'stay') return isSame || !isAllow(row) ? row : deliveryRefused(row)
  if (transition !== 'handed' && (transition !== 'handAgain' || isAllow(row))) return deliveryRefused(row)
  // The request was resolved after the check.
  if (!isChecked) return deliveryRefused({ ...row, status: 'pending' })
  if (secretsLost) return refuseLostSecrets(change, row)
  // Do not hand an answer after the session has ended, because nothing would mark it as taken or unknown afterwards.
  if (session.state === 'ended') return sessionEndedFirst(row, session)
  if (isAllowByRule(row) && !isStillAllowed(ctx, change, session, row)) return refuseChangedRules(change, row)
  return setDelivery(change, row, 'handed', { ...(reason === undefined ? {} : { reason }), fence: session.fence })
}

async function storedRequest(ctx: Context, id: RequestId): Promise<RequestRow> {
  const row = await ctx.store.get('request', id)
  if (!row) throw requestNotFound(id)
  return row
}

function isAllow({ resolution }: RequestRow): boolean {
  return resolution?.answer?.kind === 'allow'
}

function isAllowByRule(row: RequestRow): boolean {
  return row.resolution?.by === 'rule' && isAllow(row)
}

const deliveryTriggers = {
  handed: 'hand',
  taken: 'take',
  unknown: 'markUnknown',
  undeliverable: 'markUndeliverable',
} as const

function deliveryRefused(row: RequestRow): Fault {
  if (row.status === 'pending')
    return new Fault('not_resolved', `Request ${row.id} is still pending; report its delivery after it is resolved`, {
      id: row.id,
    })
  const message =
    row.delivery.state === 'unknown'
      ? `The answer to request ${row.id} was handed before a crash, so its outcome is unknown; an allow is never handed twice`
      : `The answer to request ${row.id} is already ${row.delivery.state}`
  return new Fault('already_resolved', message, { request: toRequest(row) })
}

function sessionEndedFirst(row: RequestRow, { id }: SessionRow): Fault {
  return new Fault('session_ended', `Session ${id} has ended; the answer to request ${row.id} can no longer be handed`)
}

/** Refuses to hand an answer whose secrets cannot be decrypted, because the agent would mistake the mask for the secret. */
function refuseLostSecrets(change: ChangeBuilder, row: RequestRow): Fault {
  const reason = 'the secret in the answer is no longer available'
  if (requestTransitionFor(row, 'markUndeliverable') === 'undeliverable')
    setDelivery(change, row, 'undeliverable', { reason })
  return new Fault('gone', `The answer to request ${row.id} cannot be handed: ${reason}. Ask again with a new key`, {
    id: row.id,
  })
}

/** Refuses to hand an allow by a rule that was removed, paused, ended or narrowed, or that another rule overrides by now. */
function refuseChangedRules(change: ChangeBuilder, row: RequestRow): Fault {
  const reason = 'the rules no longer allow it'
  setDelivery(change, row, 'undeliverable', { reason })
  return new Fault('gone', `A rule allowed request ${row.id}, but ${reason}. Ask again with a new key`, { id: row.id })
}

/** Returns the changed request. `isRepeat` is true if a call with the same idempotency key was already decided. */
type Apply = (change: ChangeBuilder, row: RequestRow, session: SessionRow, isRepeat: boolean) => RequestRow | Fault

/** Commits a change of one request, with the access check that the operations of this file share. A repeated call with the same idempotency key is decided again, because the request may have changed since: an allow that became unknown is not handed again. */
async function agentChange(
  ctx: Context,
  call: {
    readonly caller: Caller
    readonly op: string
    readonly input: { readonly id: RequestId; readonly fence?: number | undefined }
    readonly options: DispatchOptions
  },
  before: RequestRow,
  { label, moreReads = [], ended }: { label: string; moreReads?: readonly Read[]; ended?: 'allowEnded' },
  apply: Apply,
): Promise<OperationResult<Request>> {
  const { caller, input } = call
  const decide = (change: ChangeBuilder, isRepeat: boolean): OperationResult<Request> | Fault => {
    const target = { id: before.session, fence: input.fence }
    const session = hideSession(agentSession(ctx, change, caller, target, ended), () => requestNotFound(input.id))
    if (session instanceof Fault) return session
    const row = change.get('request', input.id)
    if (!row) return requestNotFound(input.id)
    const next = apply(change, row, session, isRepeat)
    return next instanceof Fault ? next : { status: 200, body: toRequest(next) }
  }
  const reads: Read[] = [
    { table: 'request', id: input.id },
    { table: 'session', id: before.session },
    ...usageReads(before.session, accountOf(before)),
    ...moreReads,
  ]
  const mutation = {
    label,
    reads,
    decide: (change: ChangeBuilder) => decide(change, false),
    repeat: (change: ChangeBuilder) => decide(change, true),
  }
  const { status, body } = await ctx.commit<Request>(mutation, call)
  return { status, body: await withSecrets(ctx, caller, body) }
}
