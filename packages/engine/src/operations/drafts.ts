/** Operations on drafts. A draft is an unfinished answer that a person's devices share; other people only see that someone is answering. */
import { type Draft, Fault, limits, type ParsedInput, type PersonId, type RequestId } from '@holdpoint/protocol'
import { personIdOf, requestNotFound } from '../authorization.ts'
import type { Context } from '../context.ts'
import type { Caller } from '../gateway.ts'
import type { DraftRow, RequestRow } from '../rows.ts'
import { draftHasSecret } from '../secrets.ts'
import { ephemeralFrame } from '../streaming-blocks.ts'

function draftId(request: RequestId, person: PersonId): string {
  return `${request}/${person}`
}
function toDraft({ request, person, personId, draft, at }: DraftRow): Draft {
  return { request, person, personId, draft, at }
}
async function loadRequest(ctx: Context, id: RequestId): Promise<RequestRow> {
  const row = await ctx.store.get('request', id)
  if (!row) throw requestNotFound(id)
  return row
}
function sendAnswering(ctx: Context, row: RequestRow, caller: Caller, active: boolean): void {
  const who = { person: caller.name, personId: personIdOf(caller) }
  ctx.feed.send(ephemeralFrame(row.session, { frame: 'answering', request: row.id, ...who, active }))
}

export async function putDraft(ctx: Context, caller: Caller, input: ParsedInput<'putDraft'>) {
  if (JSON.stringify(input.draft ?? null).length > limits.draftMaxBytes)
    throw new Fault('body_too_large', `This draft is too long; the limit is ${limits.draftMaxBytes} characters`)
  const request = await loadRequest(ctx, input.id)
  if (draftHasSecret(request.ask, input.draft))
    throw new Fault(
      'bad_input',
      'draft: leave out the answers to secret questions and fields; drafts are not encrypted',
    )
  const id = draftId(request.id, personIdOf(caller))
  const reply = await ctx.commit<Draft>(
    {
      label: 'draft',
      reads: [
        { table: 'draft', id },
        { table: 'request', id: request.id },
      ],
      decide: change => {
        const current = change.get('request', request.id)
        if (!current || current.status === 'resolved')
          return new Fault('already_resolved', `Request ${request.id} is already resolved; the draft was not saved`, {
            id: request.id,
          })
        const row: DraftRow = {
          id,
          ord: change.nextSeq,
          request: request.id,
          session: request.session,
          person: caller.name,
          personId: personIdOf(caller),
          draft: input.draft ?? null,
          at: change.now,
        }
        return { status: 200, body: toDraft(change.put('draft', row)) }
      },
    },
    // Drafts need no idempotency key, because putting a draft twice is harmless and a stored reply could outlive the draft.
    { caller, op: 'putDraft', input, options: {} },
  )
  sendAnswering(ctx, request, caller, true)
  return reply
}

export async function getDraft(ctx: Context, caller: Caller, input: ParsedInput<'getDraft'>) {
  const request = await loadRequest(ctx, input.id)
  const rows = await ctx.store.find('draft', { where: { request: request.id } })
  const own = rows.find(row => row.personId === caller.id)
  return {
    status: 200,
    body: {
      draft: own ? toDraft(own) : null,
      others: rows.filter(row => row !== own).map(({ personId: id, person: name }) => ({ id, name })),
    },
  }
}

export async function deleteDraft(ctx: Context, caller: Caller, input: ParsedInput<'deleteDraft'>) {
  const request = await loadRequest(ctx, input.id)
  const id = draftId(request.id, personIdOf(caller))
  await ctx.commit(
    {
      label: 'draft',
      reads: [{ table: 'draft', id }],
      decide: change => {
        if (change.get('draft', id)) change.delete('draft', id)
        return { status: 200, body: {} }
      },
    },
    { caller, op: 'deleteDraft', input, options: {} },
  )
  sendAnswering(ctx, request, caller, false)
  return { status: 200, body: {} }
}
