/** What becomes of a request on the agent's side: withdrawn, or its resolution handed, taken, in doubt, or not to be delivered. */
import { Fault, type ParsedInput, type RequestId } from '@holdpoint/protocol'
import { requestNotFound, requireAgentAccess } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context } from '../context.ts'
import type { Caller, DispatchOptions, OperationResult } from '../gateway.ts'
import { deliver, resolveByAgent, transitionFor } from '../moves.ts'
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
  return agentChange(ctx, caller, 'withdrawRequest', 'withdraw', [drafts], input, options, (pen, row) => {
    resolveByAgent(pen, [row], 'withdraw', pen.find('draft', drafts.query))
    return pen.get('request', row.id) ?? row
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
    (pen, row, session) => {
      const command = ({ handed: 'hand', taken: 'take', unknown: 'doubt', undeliverable: 'drop' } as const)[input.state]
      const cell = transitionFor(row, command)
      const extra = input.reason === undefined ? {} : { reason: input.reason }
      if (cell === 'stay') return row
      if (cell === 'again' && row.resolution?.answer?.kind !== 'allow')
        // Nobody would ever take it, nor doubt it: the end has accounted for everything.
        return session.state === 'ended'
          ? new Fault('session_ended', `Session ${session.id} has ended; request ${row.id} goes to nobody any more`)
          : deliver(pen, row, 'handed', { ...extra, fence: session.fence })
      if (cell === 'refuse' || cell === 'again' || cell === 'winner' || cell === 'pending' || cell === 'waiting')
        return deliveryRefused(row, command, caller)
      return deliver(pen, row, cell, { ...extra, ...(cell === 'handed' ? { fence: session.fence } : {}) })
    },
    'ended',
  )
}

function deliveryRefused(row: RequestRow, command: string, caller: Caller): Fault {
  if (row.status === 'pending')
    return new Fault('not_resolved', `Request ${row.id} is still pending: there is nothing to ${command} yet`, {
      id: row.id,
    })
  const said =
    row.delivery.state === 'unknown'
      ? `Request ${row.id} was handed before a crash and its outcome is unknown: an allow is never handed twice`
      : `Request ${row.id} is ${row.delivery.state} already`
  return new Fault('already_resolved', said, { request: toRequest(row, caller) })
}

/** What withdraw and delivery share: the request, its session, and the right to write for its agent. */
async function agentChange(
  ctx: Context,
  caller: Caller,
  op: string,
  label: string,
  more: readonly Read[],
  input: { readonly id: RequestId; readonly fence?: number | undefined },
  options: DispatchOptions,
  move: (pen: ChangeBuilder, row: RequestRow, session: SessionRow) => RequestRow | Fault,
  even?: 'ended',
): Promise<OperationResult<ReturnType<typeof toRequest>>> {
  const before = await ctx.store.get('request', input.id)
  if (!before) throw requestNotFound(input.id)
  return ctx.commit(
    {
      label,
      reads: [{ table: 'request', id: input.id }, { table: 'session', id: before.session }, ...more],
      replay: replayedRequest(input.id, caller),
      decide: pen => {
        const session = requireAgentAccess(
          pen.get('session', before.session),
          caller,
          before.session,
          input.fence,
          even,
        )
        if (session instanceof Fault) return session
        const row = pen.get('request', input.id)
        if (!row) return requestNotFound(input.id)
        const next = move(pen, row, session)
        return next instanceof Fault ? next : { status: 200, body: toRequest(next, caller) }
      },
    },
    { caller, op, input, options },
  )
}
