/** Opens a subscription, which starts with a snapshot or the missed events and continues with live frames. */
import { Cursor, Fault, formatCursor, limits } from '@holdpoint/protocol'
import { keepLease } from './agent-lease.ts'
import { accessFault, isPerson, maySee, sessionNotFound } from './authorization.ts'
import { type Context, pendingIn } from './context.ts'
import { eventFrame } from './feed.ts'
import type { Caller, FrameListener, SubscribeOptions, Subscription } from './gateway.ts'
import { seqOf } from './operations/events.ts'
import { eventBytes, fillPage, scan, scanEvents } from './paging.ts'
import type { StoredEvent } from './store.ts'
import { pendingCount } from './usage.ts'
import { toRequest } from './wire-views.ts'

export async function subscribe(
  ctx: Context,
  caller: Caller,
  { after, session }: SubscribeOptions,
  listener: FrameListener,
): Promise<Subscription> {
  const denied = accessFault(caller, 'subscribe')
  if (denied) throw denied
  if (!isPerson(caller) && !session)
    throw new Fault(
      'forbidden',
      'An agent can only subscribe to its own session; pass the id of that session in "session"',
    )
  const row = session ? await ctx.store.get('session', session) : undefined
  if (session && (!row || !maySee(caller, row))) throw sessionNotFound(session)
  const release = ctx.quotas.subscriptions.take(caller)
  const unsubscribe = ctx.feed.subscribe(listener, session ?? null)
  // An agent that listens to its session is connected.
  const stopKeeping = caller.role === 'agent' && row ? keepLease(ctx, row) : () => {}
  const stop = () => {
    stopKeeping()
    unsubscribe()
    release()
  }
  try {
    // Live frames begin after this position. The reads below may already include later events, which is harmless because applying an event twice changes nothing.
    const { seq, epoch } = ctx.feed.position
    const from = after !== undefined && Cursor.safeParse(after).success ? await seqOf(ctx.store, after) : undefined
    // Leave out blocks that do not fit. The client receives each of them as an event when the block is finished.
    const { items: blocks } = await fillPage(ctx.streamingBlocks.all(session), snapshotBytes)
    const base = { cursor: formatCursor(epoch, seq), epoch, now: await ctx.store.now(), blocks: [...blocks] }
    const events = from === undefined ? null : await missedBetween(ctx, from, seq, session)
    if (events) {
      const missed = events.map(eventFrame)
      const pending = await pendingCount(ctx.store, session)
      return { hello: { ...base, resume: 'ok', sessions: [], requests: [], pending, more: false }, missed, stop }
    }
    return { hello: { ...base, resume: 'gap', ...(await snapshot(ctx, session)) }, missed: [], stop }
  } catch (error) {
    stop()
    throw error
  }
}

const snapshotBytes = { items: Number.POSITIVE_INFINITY, bytes: limits.snapshotMaxBytes }
const snapshotPage = { items: limits.snapshotMax, bytes: limits.snapshotMaxBytes }
const resumePage = { items: limits.resumeEventsMax, bytes: limits.resumeMaxBytes }

/** Resolves with the events after `from` up to and including `to`, or null if there are too many or they are too large. */
async function missedBetween(
  ctx: Context,
  from: number,
  to: number,
  session: SubscribeOptions['session'],
): Promise<readonly StoredEvent[] | null> {
  if (from > to || to - from > limits.resumeEventsMax) return null
  const upToEnd = async function* () {
    for await (const event of scanEvents(ctx, { after: from, ...(session ? { session } : {}) })) {
      if (event.seq > to) return
      yield event
    }
  }
  const { items, more } = await fillPage(upToEnd(), resumePage, eventBytes)
  return more ? null : items
}

async function snapshot(ctx: Context, session: SubscribeOptions['session']) {
  const where = pendingIn(session)
  const only = session ? await ctx.store.get('session', session) : undefined
  const [requests, pending, sessions] = await Promise.all([
    fillPage(scan(ctx, 'request', { where }), snapshotPage),
    pendingCount(ctx.store, session),
    fillPage(session ? (only ? [only] : []) : scan(ctx, 'session', { newestFirst: true }), snapshotPage),
  ])
  return {
    sessions: await ctx.toSessions(sessions.items),
    requests: requests.items.map(row => toRequest(row)),
    pending,
    more: requests.more || sessions.more,
  }
}
