/** The periodic sweep records that the clock was set, reads changed files with rules, applies deadlines, releases expired leases and deletes old rows. Its queries only find candidates, and each candidate is checked again inside its own change. */
import { Fault, limits } from '@holdpoint/protocol'
import type { Context } from './context.ts'
import { deleteUnsentAttachment } from './operations/attachments.ts'
import { releaseIfLost, releaseLostSessions } from './operations/runners.ts'
import { expireIfDue } from './request-transitions.ts'
import { deleteWithHistory } from './session-deletion.ts'
import { accountOf, usageReads } from './usage.ts'

const sweepMax = 200
const runnerRetentionMs = 24 * 3600 * 1000

/** Sweeps now and again after each pause, until the returned function is called. */
export function startSweeping(ctx: Context, onError: (error: unknown) => void): () => Promise<void> {
  let cancel = () => {}
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  const next = () => {
    if (stopped) return
    running = sweep(ctx).catch(onError)
    void running.then(() => {
      if (!stopped) cancel = ctx.clock.after(ctx.settings.sweepMs, next, { background: true })
    })
  }
  next()
  return () => {
    stopped = true
    cancel()
    return running
  }
}

async function sweep(ctx: Context): Promise<void> {
  const now = await ctx.store.now()
  await ctx.clockJumps.record(ctx)
  await ctx.keySweep.run(ctx, now)
  await ctx.refusedAttempts.recordOmitted()
  await ctx.ruleFiles?.refreshAll()
  await Promise.all(
    [
      sweepDeadlines,
      sweepRunners,
      sweepAgentLeases,
      sweepIdempotencyKeys,
      sweepTokens,
      sweepSessions,
      sweepAttachments,
    ].map(each => each(ctx, now)),
  )
  await ctx.tokenUse.store(ctx, now)
  await ctx.endedRules.remove(ctx)
}

async function sweepDeadlines(ctx: Context, now: number): Promise<void> {
  const due = await ctx.store.find('request', { atMost: { dueAt: now }, limit: sweepMax })
  await Promise.all(
    due.map(({ id, session, account }) => {
      const drafts = { where: { request: id } }
      return ctx.commit({
        label: 'deadline',
        reads: [
          { table: 'request', id },
          { table: 'session', id: session },
          ...usageReads(session, accountOf({ account })),
          { table: 'draft', query: drafts },
        ],
        decide: change => {
          const row = change.get('request', id)
          if (row) expireIfDue(change, row, change.find('draft', drafts))
          return { status: 200, body: {} }
        },
      })
    }),
  )
}

async function sweepRunners(ctx: Context, now: number): Promise<void> {
  for (const runner of await ctx.store.find('runner', { atMost: { expiresAt: now } })) {
    await releaseLostSessions(ctx, runner.id)
    if (runner.expiresAt > now - runnerRetentionMs) continue
    await ctx.commit({
      label: 'sweep',
      reads: [{ table: 'runner', id: runner.id }],
      decide: change => {
        // The runner may have announced itself again since the query.
        if ((change.get('runner', runner.id)?.expiresAt ?? change.now) <= change.now - runnerRetentionMs)
          change.delete('runner', runner.id)
        return { status: 200, body: {} }
      },
    })
  }
}

async function sweepAgentLeases(ctx: Context, now: number): Promise<void> {
  const expired = await ctx.store.find('session', { atMost: { leaseExpiresAt: now }, limit: sweepMax })
  await Promise.all(expired.map(session => releaseIfLost(ctx, session)))
}

async function sweepIdempotencyKeys(ctx: Context, now: number): Promise<void> {
  const keys = await ctx.store.find('idempotency', { atMost: { at: now - limits.idempotencyKeepMs }, limit: sweepMax })
  if (keys.length === 0) return
  await ctx.commit({
    label: 'sweep',
    reads: keys.map(({ id }) => ({ table: 'idempotency', id })),
    decide: change => {
      for (const { id } of keys) if (change.get('idempotency', id)) change.delete('idempotency', id)
      return { status: 200, body: {} }
    },
  })
}

async function sweepTokens(ctx: Context, now: number): Promise<void> {
  const tokens = await ctx.store.find('token', { atMost: { expiresAt: now }, limit: sweepMax })
  if (tokens.length === 0) return
  await ctx.commit({
    label: 'sweep',
    reads: tokens.map(({ id }) => ({ table: 'token', id })),
    decide: change => {
      for (const { id } of tokens) {
        const row = change.get('token', id)
        // A revoked token of the data folder may have become valid again since the query.
        if (!row || row.expiresAt === null || row.expiresAt > change.now) continue
        change.delete('token', id)
        // The event ends the streams of the token. A link has no streams, and the event of a revoked token was written when it was revoked.
        if (row.kind !== 'link' && row.revokedAt === null)
          change.event(null, { type: 'token.removed', token: row.token })
      }
      return { status: 200, body: {} }
    },
  })
}

async function sweepSessions(ctx: Context, now: number): Promise<void> {
  if (ctx.settings.retentionMs === null) return
  // A message may have reopened the session since the query.
  for (const { id } of await ctx.store.find('session', {
    atMost: { endedAt: now - ctx.settings.retentionMs },
    limit: sweepMax,
  }))
    await deleteWithHistory(ctx, id, { by: 'retention' }).catch(ignoreRefusal)
}

async function sweepAttachments(ctx: Context, now: number): Promise<void> {
  const before = now - limits.unsentAttachmentKeepMs
  for (const { id } of await ctx.store.find('attachment', { atMost: { unsentSince: before }, limit: sweepMax }))
    await deleteUnsentAttachment(ctx, id)
}

/** Ignores that a session cannot be deleted, because the next sweep finds it again when it can. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Fault && (error.code === 'session_live' || error.code === 'not_found'))) throw error
}
