/** Operations that read sessions: one session, or a page of a list. */
import { limits, type ParsedInput } from '@holdpoint/protocol'
import { mayRead, maySee, sessionNotFound, visibleSessions } from '../authorization.ts'
import type { Context } from '../context.ts'
import type { Caller } from '../gateway.ts'
import { fillPage, scan } from '../paging.ts'

export async function getSession(ctx: Context, caller: Caller, input: ParsedInput<'getSession'>) {
  const row = await ctx.store.get('session', input.id)
  if (!row || !mayRead(caller, row)) throw sessionNotFound(input.id)
  return { status: 200, body: await ctx.toSession(row) }
}

export async function listSessions(ctx: Context, caller: Caller, input: ParsedInput<'listSessions'>) {
  const limit = input.limit ?? limits.pageDefault
  const before = input.before ? await ctx.store.get('session', input.before) : undefined
  if (input.before && (!before || !maySee(caller, before))) throw sessionNotFound(input.before)
  const rows = scan(ctx, 'session', {
    where: { ...visibleSessions(caller), ...(input.state && { state: input.state }) },
    ...(input.q ? { contains: { search: input.q.toLowerCase() } } : {}),
    ...(before ? { beforeOrd: before.ord } : {}),
    newestFirst: true,
  })
  const page = await fillPage(rows, { items: limit, bytes: limits.pageMaxBytes })
  const items = await ctx.toSessions(page.items)
  return { status: 200, body: { items, next: page.more ? (page.items.at(-1)?.id ?? null) : null } }
}
