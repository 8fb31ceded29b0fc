/** The lease of an external agent. Every call of the agent renews it, and a call that waits keeps it. When it expires, the sweep disconnects the session, and the next call of the agent connects it again. */
import { Fault, type ParsedInput, type SessionId } from '@holdpoint/protocol'
import { externalDriver, requireAgentAccess } from './authorization.ts'
import type { ChangeBuilder } from './change-builder.ts'
import type { Context } from './context.ts'
import type { Caller } from './gateway.ts'
import type { Lease, SessionRow } from './rows.ts'
import { applySessionTransition, putSession } from './session-transitions.ts'

/** Returns a new lease for the agent of an external session. */
export function agentLease(ctx: Context, change: ChangeBuilder, fence: number): Lease {
  return { runner: null, incarnation: fence, expiresAt: change.now + ctx.settings.agentTtlMs }
}

/** Returns the lease of the agent of a new session; null if there is no external agent, or if a person opened the session for an agent that has not called yet. */
export function firstAgentLease(
  ctx: Context,
  change: ChangeBuilder,
  { driver, options }: ParsedInput<'startSession'>,
): Lease | null {
  return driver === externalDriver && options?.agent === undefined ? agentLease(ctx, change, 0) : null
}

/** Returns the session if the caller may write on behalf of its agent now, or else a Fault. Renews the lease of an external agent. */
export function agentSession(
  ctx: Context,
  change: ChangeBuilder,
  caller: Caller,
  { id, fence }: { readonly id: SessionId; readonly fence?: number | undefined },
  ended?: 'allowEnded',
): SessionRow | Fault {
  const row = requireAgentAccess(change.get('session', id), caller, id, fence, ended)
  return row instanceof Fault ? row : renewLease(ctx, change, row)
}

/** Renews the lease of an external agent. Writes nothing while most of the lease is left, so that frequent calls cost nothing. */
export function renewLease(ctx: Context, change: ChangeBuilder, row: SessionRow): SessionRow {
  if (!needsRenewal(ctx, row, change.now)) return row
  const next = { ...applySessionTransition(change, row, 'attach'), lease: agentLease(ctx, change, row.fence) }
  return next.state === row.state ? change.put('session', next) : putSession(change, next)
}

function needsRenewal(ctx: Context, { driver, state, lease }: SessionRow, now: number): boolean {
  if (driver !== externalDriver || state === 'ended') return false
  return (lease?.expiresAt ?? now) - now < (ctx.settings.agentTtlMs * 2) / 3
}

/** Renews the lease of an external agent now and at intervals, until the returned function is called. Used for calls that wait. Stops if another process of the agent attaches the session. */
export function keepLease(ctx: Context, { id, driver, fence }: SessionRow): () => void {
  if (driver !== externalDriver) return () => {}
  let isStopped = false
  let cancelTimer = () => {}
  const renew = async () => {
    const row = await ctx.store.get('session', id)
    if (row && row.fence === fence && needsRenewal(ctx, row, await ctx.store.now())) await commitRenewal(ctx, row)
  }
  const repeat = () => {
    if (isStopped) return
    // Ignore an error of the store, because the call that waits reports it, and the next renewal comes soon.
    void renew().catch(() => {})
    cancelTimer = ctx.clock.after(ctx.settings.agentTtlMs / 3, repeat, { background: true })
  }
  repeat()
  return () => {
    isStopped = true
    cancelTimer()
  }
}

function commitRenewal(ctx: Context, { id, fence }: SessionRow): Promise<unknown> {
  return ctx.commit({
    label: 'renewLease',
    reads: [
      { table: 'session', id },
      { table: 'usage', id },
    ],
    decide: change => {
      const row = change.get('session', id)
      if (row && row.fence === fence) renewLease(ctx, change, row)
      return { status: 200, body: {} }
    },
  })
}
