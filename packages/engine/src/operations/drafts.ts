/** Drafts: an unfinished answer, shared by a person's devices; others see that someone is answering. */
import { type Draft, Fault, limits, type ParsedInput, type RequestId } from '@holdpoint/protocol'
import { requestNotFound } from '../authorization.ts'
import { type Context, sha256 } from '../context.ts'
import type { Caller } from '../gateway.ts'
import type { DraftRow, RequestRow } from '../rows.ts'
import { ephemeralFrame } from '../streaming-blocks.ts'

function draftId(request: RequestId, person: string): string {
  return sha256(`${request}\0${person}`)
}
function showDraft({ request, person, draft, at }: DraftRow): Draft {
  return { request, person, draft, at }
}
async function requestOf(ctx: Context, id: RequestId): Promise<RequestRow> {
  const row = await ctx.store.get('request', id)
  if (!row) throw requestNotFound(id)
  return row
}
function tell(ctx: Context, row: RequestRow, person: string, active: boolean): void {
  ctx.feed.send(ephemeralFrame(row.session, { frame: 'answering', request: row.id, person, active }))
}

export async function putDraft(ctx: Context, caller: Caller, input: ParsedInput<'putDraft'>) {
  if (JSON.stringify(input.draft ?? null).length > limits.draftMaxBytes)
    throw new Fault('body_too_large', `A draft may hold ${limits.draftMaxBytes} characters`)
  const request = await requestOf(ctx, input.id)
  const id = draftId(request.id, caller.name)
  const reply = await ctx.commit<Draft>(
    {
      label: 'draft',
      reads: [
        { table: 'draft', id },
        { table: 'request', id: request.id },
      ],
      decide: pen => {
        const now = pen.get('request', request.id)
        if (!now || now.status === 'resolved')
          return new Fault('already_resolved', `Request ${request.id} is resolved; there is nothing left to draft`, {
            id: request.id,
          })
        const row: DraftRow = {
          id,
          ord: pen.nextSeq,
          request: request.id,
          session: request.session,
          person: caller.name,
          draft: input.draft ?? null,
          at: pen.now,
        }
        return { status: 200, body: showDraft(pen.put('draft', row)) }
      },
    },
    // No idempotency: a draft that is put again is the same one, and no reply may outlive it.
  )
  tell(ctx, request, caller.name, true)
  return reply
}

export async function getDraft(ctx: Context, caller: Caller, input: ParsedInput<'getDraft'>) {
  const request = await requestOf(ctx, input.id)
  const rows = await ctx.store.find('draft', { where: { request: request.id } })
  const own = rows.find(row => row.person === caller.name)
  return {
    status: 200,
    body: { draft: own ? showDraft(own) : null, others: rows.filter(row => row !== own).map(row => row.person) },
  }
}

export async function deleteDraft(ctx: Context, caller: Caller, input: ParsedInput<'deleteDraft'>) {
  const request = await requestOf(ctx, input.id)
  const id = draftId(request.id, caller.name)
  await ctx.commit({
    label: 'draft',
    reads: [{ table: 'draft', id }],
    decide: pen => {
      if (pen.get('draft', id)) pen.del('draft', id)
      return { status: 200, body: {} }
    },
  })
  tell(ctx, request, caller.name, false)
  return { status: 200, body: {} }
}
