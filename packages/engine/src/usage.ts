/** Counts the open requests and sessions of each session and account, and measures how long each session waits for people, in the same change that writes the request or session. Refuses more open sessions and pending requests than the limits allow. */
import { Fault, limits, type SessionId } from '@holdpoint/protocol'
import type { ChangeBuilder } from './change-builder.ts'
import type { RequestRow, SessionRow, UsageRow } from './rows.ts'
import type { Read, Store } from './store.ts'

/** The account of sessions and requests of schema 3. */
const earlierAccount = 'earlier'

export function accountOf({ account = earlierAccount }: Pick<SessionRow | RequestRow, 'account'>): string {
  return account
}

/** Returns the reads that every change of a request needs, besides the request itself. */
export function usageReads(session: SessionId, account: string): Read[] {
  return [
    { table: 'usage', id: session },
    { table: 'usage', id: account },
  ]
}

const noUsage = { sessions: 0, pending: 0, pendingBytes: 0, waiting: 0, handed: 0 }
type Counts = typeof noUsage
/** The part of a usage row that the API shows with the session. */
export type ShownUsage = Pick<UsageRow, 'pending' | 'waitedMs' | 'waitingSince'>

export function usageIn(change: ChangeBuilder, id: string): Counts & ShownUsage {
  return change.get('usage', id) ?? noUsage
}

function addUsage(change: ChangeBuilder, id: string, session: SessionId | null, added: Partial<Counts>): void {
  const known = change.get('usage', id)
  const before: UsageRow = known ?? { id, ord: change.nextSeq, session, ...noUsage }
  const pending = before.pending + (added.pending ?? 0)
  change.put('usage', {
    id,
    ord: before.ord,
    session: before.session,
    ...(session === null ? {} : waitAfter(pending, before, change.now)),
    sessions: before.sessions + (added.sessions ?? 0),
    pending,
    pendingBytes: before.pendingBytes + (added.pendingBytes ?? 0),
    waiting: before.waiting + (added.waiting ?? 0),
    handed: before.handed + (added.handed ?? 0),
  })
}

/** Returns how long a session has waited for people. Times in which several requests are pending count once. */
function waitAfter(
  pending: number,
  { waitedMs = 0, waitingSince }: Pick<ShownUsage, 'waitedMs' | 'waitingSince'>,
  now: number,
): Omit<ShownUsage, 'pending'> {
  if (pending) return { waitedMs, waitingSince: waitingSince ?? now }
  return { waitedMs: waitedMs + (waitingSince === undefined ? 0 : Math.max(0, now - waitingSince)) }
}

/** Writes a request and updates the counts of its session and its account. `before` is undefined for a new request. */
export function putRequest(change: ChangeBuilder, before: RequestRow | undefined, after: RequestRow): RequestRow {
  const was = before && countsOf(before)
  const is = countsOf(after)
  const pending = is.pending - (was?.pending ?? 0)
  const pendingBytes = is.pendingBytes - (was?.pendingBytes ?? 0)
  const waiting = is.waiting - (was?.waiting ?? 0)
  const handed = is.handed - (was?.handed ?? 0)
  if (pending !== 0 || waiting !== 0 || handed !== 0)
    addUsage(change, after.session, after.session, { pending, pendingBytes, waiting, handed })
  if (pending !== 0) addUsage(change, accountOf(after), null, { pending, pendingBytes })
  return change.put('request', after)
}

function countsOf({ status, delivery, bytes = 0 }: RequestRow) {
  const isPending = status === 'pending'
  return {
    pending: isPending ? 1 : 0,
    pendingBytes: isPending ? bytes : 0,
    waiting: !isPending && delivery.state === 'waiting' ? 1 : 0,
    handed: !isPending && delivery.state === 'handed' ? 1 : 0,
  }
}

/** Counts a session that starts, is reopened or ends. */
export function countSession(change: ChangeBuilder, row: SessionRow, added: 1 | -1): void {
  addUsage(change, accountOf(row), null, { sessions: added })
}

/** Returns the Fault that refuses another open session of an account, or null. */
export function sessionsFault(change: ChangeBuilder, account: string, isAgent: boolean): Fault | null {
  const max = isAgent ? limits.sessionsPerAgentMax : limits.sessionsPerPersonMax
  if (usageIn(change, account).sessions < max) return null
  return new Fault('too_many', `This credential has ${max} open sessions; end some before you start another`)
}

/** Returns the Fault that refuses another pending request of a session, or null. */
export function pendingFault(change: ChangeBuilder, session: SessionRow, bytes: number): Fault | null {
  const own = usageIn(change, session.id)
  if (own.pending >= limits.pendingPerSessionMax)
    return tooMany(`Session ${session.id} has ${limits.pendingPerSessionMax} pending requests`)
  if (own.pendingBytes + bytes > limits.pendingBytesPerSessionMax)
    return tooMany(
      `The pending requests of session ${session.id} would exceed ${limits.pendingBytesPerSessionMax} bytes`,
    )
  const all = usageIn(change, accountOf(session))
  const max = session.agent === null ? limits.pendingPerPersonMax : limits.pendingPerAgentMax
  if (all.pending >= max) return tooMany(`The sessions of this credential have ${max} pending requests`)
  const maxBytes = session.agent === null ? limits.pendingBytesPerPersonMax : limits.pendingBytesPerAgentMax
  if (all.pendingBytes + bytes > maxBytes)
    return tooMany(`The pending requests of this credential would exceed ${maxBytes} bytes`)
  return null
}
function tooMany(problem: string): Fault {
  return new Fault('too_many', `${problem}; wait for answers before you ask again`)
}

/** Resolves with the number of pending requests of one session or of all sessions. */
export async function pendingCount(store: Store, session?: SessionId): Promise<number> {
  if (session) return (await store.get('usage', session))?.pending ?? 0
  const accounts = await store.find('usage', { where: { session: null } })
  return accounts.reduce((sum, { pending }) => sum + pending, 0)
}

/** Resolves with the usage of each of the given sessions that has any. */
export async function usageOf(store: Store, sessions: readonly SessionId[]): Promise<Map<SessionId, UsageRow>> {
  const rows = sessions.length === 0 ? [] : await store.find('usage', { where: { session: sessions } })
  return new Map(rows.flatMap(row => (row.session ? [[row.session, row] as const] : [])))
}
