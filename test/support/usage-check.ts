/** Checks that the counts of open requests and sessions in a store equal the rows that they count. */
import type { Rows, Store, Table } from '@holdpoint/engine'
import { expect } from 'vitest'

type Counts = Record<'sessions' | 'pending' | 'pendingBytes' | 'waiting' | 'handed', number>

export async function checkUsage(store: Store): Promise<void> {
  const counted = new Map<string, Counts>()
  const countsOf = (id: string): Counts => {
    const known = counted.get(id) ?? { sessions: 0, pending: 0, pendingBytes: 0, waiting: 0, handed: 0 }
    counted.set(id, known)
    return known
  }
  for (const { status, delivery, session, account = 'earlier', bytes = 0 } of await allRows(store, 'request')) {
    if (status === 'pending')
      for (const counts of [countsOf(session), countsOf(account)]) {
        counts.pending++
        counts.pendingBytes += bytes
      }
    else if (delivery.state === 'waiting' || delivery.state === 'handed') countsOf(session)[delivery.state]++
  }
  for (const { state, account = 'earlier' } of await allRows(store, 'session'))
    if (state !== 'ended') countsOf(account).sessions++
  const stored = new Map<string, Counts>()
  for (const { id, session, sessions, pending, pendingBytes, waiting, handed, waitingSince } of await allRows(
    store,
    'usage',
  )) {
    expect(waitingSince !== undefined, `${id} measures how long it waits`).toBe(session !== null && pending > 0)
    if (sessions + pending + waiting + handed > 0) stored.set(id, { sessions, pending, pendingBytes, waiting, handed })
  }
  expect(stored).toEqual(counted)
}

async function allRows<K extends Table>(store: Store, table: K): Promise<readonly Rows[K][]> {
  return store.find(table, {})
}
