/** Reads complete lists from the gateway, page by page. */
import {
  type Call,
  limits,
  type Request,
  type RequestId,
  type Session,
  type SessionId,
  type SessionState,
} from '@holdpoint/protocol'

const liveStates: readonly SessionState[] = ['starting', 'working', 'idle', 'parked', 'disconnected']

/** Returns all pending requests, oldest first. */
export async function pendingRequests(call: Call, session?: SessionId): Promise<readonly Request[]> {
  const all: Request[] = []
  for (let after: RequestId | undefined; ; ) {
    const { items, next } = await call('listRequests', {
      status: 'pending',
      limit: limits.pageMax,
      ...(session && { session }),
      ...(after && { after }),
    })
    all.push(...items)
    after = items.at(-1)?.id
    if (next === null || !after) return all
  }
}

/** Returns the sessions that have not ended, with those that need a person first. Fetches them by state, so that a long history of ended sessions is not read. */
export async function liveSessions(call: Call, search?: string): Promise<readonly Session[]> {
  const lists = await Promise.all(liveStates.map(state => sessionsIn(call, state, search)))
  return byUrgency(lists.flat())
}

export function byUrgency(sessions: readonly Session[]): readonly Session[] {
  return sessions.toSorted(
    (a, b) => Number(b.pending > 0) - Number(a.pending > 0) || b.stateChangedAt - a.stateChangedAt,
  )
}

async function sessionsIn(call: Call, state: SessionState, search = ''): Promise<readonly Session[]> {
  const all: Session[] = []
  for (let before: SessionId | undefined; ; ) {
    const page = { limit: limits.pageMax, ...(before && { before }) }
    const { items, next } = await call('listSessions', { state, ...page, ...(search && { q: search }) })
    all.push(...items)
    before = items.at(-1)?.id
    if (next === null || !before) return all
  }
}

/** Returns the modes of a driver, or undefined if no runner offers the driver now. */
export async function modesOf(call: Call, driver: string): Promise<readonly string[] | undefined> {
  const { items } = await call('listDrivers', {})
  return items.find(({ name }) => name === driver)?.modes
}
