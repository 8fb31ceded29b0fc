/** What every operation works with: the archive, the feed, time, and the way a change is made once per idempotency key. */
import { hash, randomBytes } from 'node:crypto'
import { type Clock, Fault, formatId, type IdPrefix, type Rule, type SessionId } from '@holdpoint/protocol'
import { ChangeBuilder } from './change-builder.ts'
import type { Feed } from './feed.ts'
import type { Caller, DispatchOptions, OperationResult } from './gateway.ts'
import { scan } from './paging.ts'
import { PendingQuota } from './pending-quota.ts'
import type { IdempotencyRow, SessionRow } from './rows.ts'
import type { Query, Read, Store } from './store.ts'
import type { StreamingBlocks } from './streaming-blocks.ts'
import { toSession } from './wire-views.ts'

export interface Settings {
  readonly ownerName: string
  readonly defaultCwd: string
  readonly deadlineMs: number | null
  readonly onDeadline: 'deny' | 'wait'
  readonly parkAfterMs: number | null
  readonly runnerTtlMs: number
  readonly sweepMs: number
  /** Ended sessions older than this are deleted; null keeps them. */
  readonly retentionMs: number | null
}
export const defaultSettings: Settings = {
  ownerName: 'owner',
  defaultCwd: '',
  deadlineMs: null,
  onDeadline: 'deny',
  parkAfterMs: 120_000,
  runnerTtlMs: 15_000,
  sweepMs: 500,
  retentionMs: null,
}

export interface Mutation<T> {
  readonly label: string
  readonly reads: readonly Read[]
  /** Returns the reply, or the Fault that the caller gets; what the pen holds is written either way. */
  readonly decide: (pen: ChangeBuilder) => OperationResult<T> | Fault
  /** For a reply that is not to be kept under its idempotency key (it holds a secret): what a repeated call is shown instead. */
  readonly replay?: { readonly instead: (body: T) => boolean; readonly show: (pen: ChangeBuilder) => T | Fault }
}

export function sha256(text: string): string {
  return hash('sha256', text)
}

/** Requests that wait, of all sessions or of one. Of one, the index of what is open serves: its past costs nothing. */
export function pendingIn(session?: SessionId): NonNullable<Query['where']> {
  return session ? { open: 1, session, status: 'pending' } : { status: 'pending' }
}

class StaleRules extends Error {}

export class Context {
  readonly store: Store
  readonly feed: Feed
  readonly live: StreamingBlocks
  readonly clock: Clock
  readonly settings: Settings
  readonly #random: (bytes: number) => Uint8Array
  #rules: { readonly at: number; readonly rules: readonly Rule[] } = { at: -1, rules: [] }
  readonly pendingQuota: PendingQuota
  #closing = false

  constructor(parts: {
    store: Store
    feed: Feed
    live: StreamingBlocks
    clock: Clock
    settings: Settings
    random?: (bytes: number) => Uint8Array
  }) {
    this.store = parts.store
    this.feed = parts.feed
    this.live = parts.live
    this.clock = parts.clock
    this.settings = parts.settings
    this.#random = parts.random ?? randomBytes
    this.pendingQuota = new PendingQuota({
      count: session => this.pendingOf(session),
      asks: session => scan(this.store, 'request', { where: pendingIn(session) }),
    })
    this.feed.tap(event => this.live.see(event))
  }

  newId<P extends IdPrefix>(prefix: P) {
    return formatId(prefix, this.#random(20))
  }
  secret(bytes = 32): string {
    return Buffer.from(this.#random(bytes)).toString('base64url')
  }

  /** Commits a plan: once per idempotency key, scoped to the caller and the operation. */
  async commit<T>(
    plan: Mutation<T>,
    once?: { caller: Caller; op: string; input: unknown; options: DispatchOptions },
  ): Promise<OperationResult<T>> {
    const key = once?.options.idempotencyKey
    const kept = key === undefined ? undefined : sha256(JSON.stringify([once?.caller.token, once?.op, key]))
    const bodyHash = kept === undefined ? '' : sha256(JSON.stringify(once?.input))
    const reads = kept === undefined ? plan.reads : [...plan.reads, { table: 'idem' as const, id: kept }]
    for (;;) {
      try {
        const result = await this.store.commit({
          label: plan.label,
          reads,
          decide: view => {
            const pen = new ChangeBuilder(view)
            const before = kept === undefined ? undefined : pen.get('idem', kept)
            if (before) return { result: idempotentReplay(pen, plan, before, bodyHash) }
            const result = plan.decide(pen)
            if (kept !== undefined && !(result instanceof Fault)) {
              const body = plan.replay?.instead(result.body) ? null : result.body
              pen.put('idem', { id: kept, ord: pen.nextSeq, at: pen.now, bodyHash, status: result.status, body })
            }
            return { ...pen.writes(), result }
          },
        })
        if (result instanceof Fault) throw result
        return result
      } catch (error) {
        if (!(error instanceof StaleRules)) throw error
        await this.#reloadRules()
      }
    }
  }

  /** The rules as of this transaction; where they have changed since they were read, the change is decided again with the new ones. */
  rules(pen: ChangeBuilder): readonly Rule[] {
    if (pen.view.rulesAt !== this.#rules.at) throw new StaleRules()
    return this.#rules.rules
  }
  async #reloadRules(): Promise<void> {
    // Read the place first: a change in between makes the next comparison fail again, never succeed wrongly.
    const { rulesAt } = await this.store.head()
    this.#rules = { at: rulesAt, rules: await this.store.find('rule', {}) }
  }

  pendingOf(session: SessionId): Promise<number> {
    return this.store.count('request', { where: pendingIn(session) })
  }
  async toSession(row: SessionRow) {
    return toSession(row, await this.pendingOf(row.id))
  }

  close(): void {
    this.#closing = true
  }
  /** Waits for a topic until `ready` says so, the time is over, or the caller is gone. `look` is asked once before and once after each wake. */
  async longPoll<T>(
    topic: string,
    waitMs: number,
    signal: AbortSignal | undefined,
    look: () => Promise<{ ready: boolean; value: T }>,
  ): Promise<T> {
    if (waitMs === 0) return (await look()).value
    // One timer says that the time is over; the clock on the wall may be set meanwhile.
    let over = false
    let wake = () => {}
    const awake = () => wake()
    const cancelTimer = this.clock.after(waitMs, () => {
      over = true
      wake()
    })
    signal?.addEventListener('abort', awake)
    try {
      for (;;) {
        const waiter = this.feed.waitFor(topic)
        wake = waiter.cancel
        const { ready, value } = await look()
        if (ready || over) return value
        if (signal?.aborted || this.#closing)
          throw new Fault('draining', 'The gateway is stopping; ask again in a moment')
        await waiter.woken
      }
    } finally {
      cancelTimer()
      signal?.removeEventListener('abort', awake)
      wake()
    }
  }
}

function idempotentReplay<T>(
  pen: ChangeBuilder,
  plan: Mutation<T>,
  before: IdempotencyRow,
  bodyHash: string,
): OperationResult<T> | Fault {
  if (before.bodyHash !== bodyHash)
    return new Fault(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body; use a new key for a new call',
    )
  if (before.body !== null || !plan.replay) return { status: before.status, body: before.body as T } // kept by the same operation, whose output it was
  const body = plan.replay.show(pen)
  return body instanceof Fault ? body : { status: before.status, body }
}
