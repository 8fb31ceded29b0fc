/** Makes a store safe to use after it has lost events, because it was restored from a backup or because files of it were lost. A crash alone loses no events and needs no recovery. A lost event may have handed an allow, revoked a credential or given out a fence. */
import { hash } from 'node:crypto'
import { type EventBody, type Rule, systemClock } from '@holdpoint/protocol'
import { ChangeBuilder } from './change-builder.ts'
import { chunksOf, scan, scanEvents } from './paging.ts'
import { requestTransitionFor, setDelivery } from './request-transitions.ts'
import { openCodes, type RequestRow, type Rows, type RunnerRow, type SessionRow, type Table } from './rows.ts'
import type { Read, Store } from './store.ts'
import { revokeToken } from './token-transitions.ts'
import { toRule } from './wire-views.ts'

/** The fences and incarnations that the lost events gave out are unknown. The next ones must be higher than any of them. */
const fenceStep = 1_000_000
/** The number of rows that one commit writes. */
const chunkMax = 100

/** The changes in the previous store after the last event that the restored store has in common with it. */
export interface UndoneChanges {
  readonly events: number
  readonly answers: number
  readonly revokedTokens: number
  /** Rules that were added after that event and are gone. */
  readonly lostRules: readonly Rule[]
  /** Rules that were removed after that event and apply again. */
  readonly revivedRules: readonly Rule[]
  /** Requests that were resolved after that event and are pending again. */
  readonly pendingAgain: number
}

/** Compares the restored store with the store that it replaces. Resolves with null if the two do not have a common history. */
export async function undoneChanges(restored: Store, previous: Store): Promise<UndoneChanges | null> {
  const common = Math.min((await restored.head()).seq, (await previous.head()).seq)
  if (common > 0 && (await hashAt(restored, common)) !== (await hashAt(previous, common))) return null
  const undone = { events: 0, answers: 0, revokedTokens: 0, pendingAgain: 0 }
  const lostRules = new Map<string, Rule>()
  /** Rules of the backup that were removed or changed since. */
  const revivedRules = new Map<string, Rule>()
  for await (const { body } of scanEvents({ store: previous, clock: systemClock }, { after: common })) {
    undone.events++
    if (body.type === 'token.removed') undone.revokedTokens++
    if (body.type === 'rule.added') lostRules.set(body.value.id, body.value)
    if (body.type === 'rule.changed' && lostRules.has(body.value.id)) lostRules.set(body.value.id, body.value)
    const changed = body.type === 'rule.removed' ? body.rule : body.type === 'rule.changed' ? body.value.id : null
    const isLost = body.type === 'rule.removed' && lostRules.delete(body.rule)
    const revived = changed === null || isLost ? undefined : await restored.get('rule', changed)
    if (revived) revivedRules.set(revived.id, toRule(revived, undefined))
    if (body.type !== 'request.resolved') continue
    if (body.resolution.by === 'person') undone.answers++
    if ((await restored.get('request', body.request))?.status === 'pending') undone.pendingAgain++
  }
  return { ...undone, lostRules: [...lostRules.values()], revivedRules: [...revivedRules.values()] }
}

async function hashAt(store: Store, seq: number): Promise<string | undefined> {
  const [event] = await store.events({ after: seq - 1, limit: 1 })
  return event?.seq === seq ? event.hash : undefined
}

type RecoveryEvent = Extract<EventBody, { type: 'store.restored' | 'store.lost' }>
/** How many credentials were revoked, and how many answers became unknown. */
export type Recovery = Pick<RecoveryEvent, 'tokens' | 'unknown'>

export interface RecoveryOptions {
  /** The secret of the owner's token, which stays valid. */
  readonly ownerSecret: string
  /** Returns the event that records the loss. */
  readonly event: (recovery: Recovery) => RecoveryEvent
}

/** Revokes all credentials but the owner's, marks allows that may have been used as unknown, invalidates all fences and leases, and records the loss. No gateway may use the store while this runs. */
export async function recoverFromLoss(store: Store, { ownerSecret, event }: RecoveryOptions): Promise<Recovery> {
  const ownerId = hash('sha256', ownerSecret)
  // Rows of these two tables can share an `ord`, so they cannot be read page by page.
  const [tokens, runners] = await Promise.all([store.find('token', {}), store.find('runner', {})])
  const revoked = tokens.filter(({ id, revokedAt }) => id !== ownerId && revokedAt === null)
  for (const rows of chunksOf(revoked, chunkMax))
    await updateRows(store, 'token', rows, (change, row) => revokeToken(change, row))
  for (const rows of chunksOf(runners, chunkMax)) await updateRows(store, 'runner', rows, expireRunner)
  const source = { store, clock: systemClock }
  const allows: RequestRow[] = []
  for await (const row of scan(source, 'request', { where: { open: Object.values(openCodes) } }))
    if (mayHaveBeenUsed(row)) allows.push(row)
  for (const rows of chunksOf(allows, chunkMax))
    await updateRows(store, 'request', rows, markUnknown, rows.map(usageRead))
  const sessions: Pick<SessionRow, 'id'>[] = []
  for await (const { id } of scan(source, 'session', {})) sessions.push({ id })
  for (const rows of chunksOf(sessions, chunkMax)) await updateRows(store, 'session', rows, raiseFence)
  const recovery = { tokens: revoked.length, unknown: allows.length }
  await commit(store, [], change => change.event(null, { ...event(recovery), fenceStep }))
  return recovery
}

function expireRunner(change: ChangeBuilder, row: RunnerRow): void {
  change.put('runner', { ...row, incarnation: row.incarnation + fenceStep, expiresAt: change.now })
}
function mayHaveBeenUsed(row: RequestRow): boolean {
  return row.resolution?.answer?.kind === 'allow' && requestTransitionFor(row, 'storeLost') === 'unknown'
}
function usageRead({ session }: RequestRow): Read {
  return { table: 'usage', id: session }
}
function markUnknown(change: ChangeBuilder, row: RequestRow): void {
  setDelivery(change, row, 'unknown', { reason: 'events were lost, and the agent may have used the answer before' })
}
function raiseFence(change: ChangeBuilder, row: SessionRow): void {
  change.put('session', { ...row, fence: row.fence + fenceStep })
}

function updateRows<K extends Table>(
  store: Store,
  table: K,
  rows: readonly { readonly id: string }[],
  update: (change: ChangeBuilder, row: Rows[K]) => void,
  moreReads: readonly Read[] = [],
): Promise<void> {
  const reads = rows.map(({ id }) => ({ table, id }))
  return commit(store, [...reads, ...moreReads], change => {
    for (const { id } of rows) {
      const row = change.get(table, id)
      if (row) update(change, row)
    }
  })
}

function commit(store: Store, reads: readonly Read[], apply: (change: ChangeBuilder) => void): Promise<void> {
  return store.commit({
    label: 'recover',
    reads,
    decide: view => {
      const change = new ChangeBuilder(view)
      apply(change)
      return change.writes(undefined)
    },
  })
}
