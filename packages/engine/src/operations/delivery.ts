/** Operations on requests from the agent's side: withdraw a request, and report the delivery of its answer. */
import { Fault, type ParsedInput, type RequestId } from '@holdpoint/protocol'
import { hideSession, requestNotFound, requireAgentAccess } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions, OperationResult } from '../gateway.ts'
import { requestTransitionFor, resolveByAgent, setDelivery } from '../request-transitions.ts'
import type { RequestRow, SessionRow } from '../rows.ts'
import type { Read } from '../store.ts'
import { toRequest } from '../wire-views.ts'
import { draftsFor, replayedRequest } from './requests.ts'

export async function withdrawRequest(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'withdrawRequest'>,
  options: DispatchOptions,
) {
  const drafts = draftsFor(input.id)
  return agentChange(ctx, caller, 'withdrawRequest', 'withdraw', [drafts], input, options, (change, row) => {
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
  return agentChange(
    ctx,
    caller,
    'reportDelivery',
    input.state,
    [],
    input,
    options,
    (change, row, session) => {
      const trigger = deliveryTriggers[input.state]
      const transition = requestTransitionFor(row, trigger)
      const extra = input.reason === undefined ? {} : { reason: input.reason }
      if (transition === 'stay') return row
      if (transition === 'handAgain' && row.resolution?.answer?.kind !== 'allow')
        // Do not hand an answer after the session has ended, because nothing would mark it as taken or unknown afterwards.
        return session.state === 'ended'
          ? new Fault(
              'session_ended',
              `Session ${session.id} has ended; the answer to request ${row.id} can no longer be handed`,
            )
          : setDelivery(change, row, 'handed', { ...extra, fence: session.fence })
      if (
        transition === 'refuse' ||
        transition === 'handAgain' ||
        transition === 'alreadyResolved' ||
        transition === 'pending' ||
        transition === 'waiting'
      )
        return deliveryRefused(row, caller)
      return setDelivery(change, row, transition, {
        ...extra,
        ...(transition === 'handed' ? { fence: session.fence } : {}),
      })
    },
    'allowEnded',
  )
}

const deliveryTriggers = {
  handed: 'hand',
  taken: 'take',
  unknown: 'markUnknown',
  undeliverable: 'markUndeliverable',
} as const

function deliveryRefused(row: RequestRow, caller: Caller): Fault {
  if (row.status === 'pending')
    return new Fault('not_resolved', `Request ${row.id} is still pending; report its delivery after it is resolved`, {
      id: row.id,
    })
  const message =
    row.delivery.state === 'unknown'
      ? `The answer to request ${row.id} was handed before a crash, so its outcome is unknown; an allow is never handed twice`
      : `The answer to request ${row.id} is already ${row.delivery.state}`
  return new Fault('already_resolved', message, { request: toRequest(row, caller) })
}

/** Commits a change of one request, with the access check that `withdrawRequest` and `reportDelivery` share. */
async function agentChange(
  ctx: Context,
  caller: Caller,
  op: string,
  label: string,
  moreReads: readonly Read[],
  input: { readonly id: RequestId; readonly fence?: number | undefined },
  options: DispatchOptions,
  apply: (change: ChangeBuilder, row: RequestRow, session: SessionRow) => RequestRow | Fault,
  ended?: 'allowEnded',
): Promise<OperationResult<ReturnType<typeof toRequest>>> {
  const before = await ctx.store.get('request', input.id)
  if (!before) throw requestNotFound(input.id)
  return ctx.commit(
    {
      label,
      reads: [{ table: 'request', id: input.id }, { table: 'session', id: before.session }, ...moreReads],
      replay: replayedRequest(input.id, caller),
      decide: change => {
        const session = hideSession(
          requireAgentAccess(change.get('session', before.session), caller, before.session, input.fence, ended),
          requestNotFound(input.id),
        )
        if (session instanceof Fault) return session
        const row = change.get('request', input.id)
        if (!row) return requestNotFound(input.id)
        const next = apply(change, row, session)
        return next instanceof Fault ? next : { status: 200, body: toRequest(next, caller) }
      },
    },
    { caller, op, input, options },
  )
}
