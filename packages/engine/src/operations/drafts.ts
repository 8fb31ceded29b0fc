/** Operations on drafts. A draft is an unfinished answer that a person's devices share; other people only see that someone is answering. */
import { type Draft, Fault, limits, type ParsedInput, type RequestId } from '@holdpoint/protocol'
import { requestNotFound } from '../authorization.ts'
import { type Context, sha256 } from '../context.ts'
import type { Caller } from '../gateway.ts'
import type { DraftRow, RequestRow } from '../rows.ts'
import { ephemeralFrame } from '../streaming-blocks.ts'

function draftId(request: RequestId, person: string): string {
  return sha256(`${request}\0${person}`)
}
function toDraft({ request, person, draft, at }: DraftRow): Draft {
  return { request, person, draft, at }
}
async function loadRequest(ctx: Context, id: RequestId): Promise<RequestRow> {
  const row = await ctx.store.get('request', id)
  if (!row) throw requestNotFound(id)
  return row
}
function sendAnswering(ctx: Context, row: RequestRow, person: string, active: boolean): void {
  ctx.feed.send(ephemeralFrame(row.session, { frame: 'answering', request: row.id, person, active }))
}

export async function putDraft(ctx: Context, caller: Caller, input: ParsedInput<'putDraft'>) {
  if (JSON.stringify(input.draft ?? null).length > limits.draftMaxBytes)
    throw new Fault('body_too_large', `This draft is too long; the limit is ${limits.draftMaxBytes} characters`)
  const request = await loadRequest(ctx, input.id)
  const id = draftId(request.id, caller.name)
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
          draft: input.draft ?? null,
          at: change.now,
        }
        return { status: 200, body: toDraft(change.put('draft', row)) }
      },
    },
    // Drafts need no idempotency key, because putting a draft twice is harmless and a stored reply could outlive the draft.
  )
  sendAnswering(ctx, request, caller.name, true)
  return reply
}

export async function getDraft(ctx: Context, caller: Caller, input: ParsedInput<'getDraft'>) {
  const request = await loadRequest(ctx, input.id)
  const rows = await ctx.store.find('draft', { where: { request: request.id } })
  const own = rows.find(row => row.person === caller.name)
  return {
    status: 200,
    body: { draft: own ? toDraft(own) : null, others: rows.filter(row => row !== own).map(row => row.person) },
  }
}

export async function deleteDraft(ctx: Context, caller: Caller, input: ParsedInput<'deleteDraft'>) {
  const request = await loadRequest(ctx, input.id)
  const id = draftId(request.id, caller.name)
  await ctx.commit({
    label: 'draft',
    reads: [{ table: 'draft', id }],
    decide: change => {
      if (change.get('draft', id)) change.delete('draft', id)
      return { status: 200, body: {} }
    },
  })
  sendAnswering(ctx, request, caller.name, false)
  return { status: 200, body: {} }
}
