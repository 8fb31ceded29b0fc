/** The sweep: what time does by itself. It only looks for rows whose time has come; each is decided on its own (timers merely wake it). */
import { limits } from '@holdpoint/protocol'
import type { Context } from './context.ts'
import { expireIfDue, sessionReads } from './moves.ts'
import { releaseLostSessions } from './operations/runners.ts'

const sweepMax = 200
const runnerKeepMs = 24 * 3600 * 1000

export async function sweep(ctx: Context): Promise<void> {
  const now = await ctx.store.now()
  await Promise.all([sweepDeadlines(ctx, now), sweepRunners(ctx, now), sweepOld(ctx, now), sweepSessions(ctx, now)])
}

async function sweepDeadlines(ctx: Context, now: number): Promise<void> {
  const due = await ctx.store.find('request', { atMost: { dueAt: now }, limit: sweepMax })
  await Promise.all(
    due.map(({ id, session }) => {
      const drafts = { where: { request: id } }
      return ctx.commit({
        label: 'deadline',
        reads: [
          { table: 'request', id },
          { table: 'session', id: session },
          { table: 'draft', query: drafts },
        ],
        decide: pen => {
          const row = pen.get('request', id)
          if (row) expireIfDue(pen, row, pen.find('draft', drafts))
          return { status: 200, body: {} }
        },
      })
    }),
  )
}

async function sweepRunners(ctx: Context, now: number): Promise<void> {
  for (const runner of await ctx.store.find('runner', { atMost: { expiresAt: now } })) {
    await releaseLostSessions(ctx, runner.id)
    if (runner.expiresAt > now - runnerKeepMs) continue
    await ctx.commit({
      label: 'sweep',
      reads: [{ table: 'runner', id: runner.id }],
      decide: pen => {
        // It may have come back since it was found.
        if ((pen.get('runner', runner.id)?.expiresAt ?? pen.now) <= pen.now - runnerKeepMs) pen.del('runner', runner.id)
        return { status: 200, body: {} }
      },
    })
  }
}

async function sweepOld(ctx: Context, now: number): Promise<void> {
  const kept = await ctx.store.find('idem', { atMost: { at: now - limits.idempotencyKeepMs }, limit: sweepMax })
  if (kept.length > 0)
    await erase(
      ctx,
      'idem',
      kept.map(row => row.id),
    )
  const tokens = await ctx.store.find('token', { atMost: { expiresAt: now }, limit: sweepMax })
  if (tokens.length > 0)
    await erase(
      ctx,
      'token',
      tokens.map(row => row.id),
    )
}

function erase(ctx: Context, table: 'idem' | 'token', ids: readonly string[]) {
  return ctx.commit({
    label: 'sweep',
    reads: ids.map(id => ({ table, id })),
    decide: pen => {
      for (const id of ids) if (pen.get(table, id)) pen.del(table, id)
      return { status: 200, body: {} }
    },
  })
}

async function sweepSessions(ctx: Context, now: number): Promise<void> {
  if (ctx.settings.retentionMs === null) return
  for (const { id } of await ctx.store.find('session', {
    atMost: { endedAt: now - ctx.settings.retentionMs },
    limit: sweepMax,
  }))
    await ctx.commit({
      label: 'retention',
      reads: sessionReads(id),
      decide: pen => {
        // A message may have opened it again since it was found.
        if (pen.get('session', id)?.state === 'ended') {
          pen.purge(id)
          pen.event(id, { type: 'session.deleted' })
        }
        return { status: 200, body: {} }
      },
    })
}
