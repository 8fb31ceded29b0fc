/** Runs random histories against the memory store and each other store, and compares everything that can be read. */
import type { Change, EventQuery, Query, Store } from '@holdpoint/engine'
import type { EventType } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasPostgres } from '../../../test/support/postgres.ts'
import { openMemory, verifyChain } from '../src/index.ts'
import * as sample from './samples.ts'
import type { StoreLocation } from './store-suite.ts'
import { postgresLocation, sqliteLocation } from './stores.ts'

/** `npm run histories` checks ten times as many. */
const rounds = Number(process.env.HOLDPOINT_ROUNDS ?? 1)

const small = fc.integer({ min: 0, max: 7 })
const query = fc.record<Query>(
  {
    where: fc.record(
      {
        open: fc.constantFrom(1, null),
        session: small.map(sample.sessionId),
        status: fc.constantFrom('pending', 'resolved'),
      },
      { requiredKeys: [] },
    ),
    atMost: fc.record({ dueAt: fc.integer({ min: 0, max: 9 }) }, { requiredKeys: [] }),
    newestFirst: fc.boolean(),
    limit: fc.integer({ min: 0, max: 4 }),
    afterOrd: small,
    beforeOrd: small,
  },
  { requiredKeys: [] },
)

const eventQuery: fc.Arbitrary<EventQuery> = fc.record(
  {
    after: small,
    before: fc.integer({ min: 0, max: 20 }),
    newestFirst: fc.boolean(),
    limit: fc.integer({ min: 0, max: 5 }),
    session: small.map(sample.sessionId),
    types: fc.subarray<EventType>(['message.added', 'session.deleted', 'request.resolved']),
  },
  { requiredKeys: ['limit'] },
)

/** A random change: a put, a delete, a find, an error or a purge. */
type Step = () => Change<unknown>
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ n: small, s: small, due: fc.option(fc.integer({ min: 0, max: 9 })), done: fc.boolean() }).map(
    ({ n, s, due, done }): Step =>
      () => ({
        label: 'put',
        reads: [{ table: 'request', id: sample.requestId(n) }],
        decide: view => {
          const known = view.get('request', sample.requestId(n))
          const fresh = known ?? sample.request(n, { session: sample.sessionId(s), deadlineAt: due })
          const row = done ? sample.resolvedRequest(fresh, `p${s}`) : { ...fresh, handedFence: s }
          return {
            puts: [{ table: 'request', row }],
            events: [{ session: row.session, body: sample.messageEvent(`${n}`) }],
            result: known ?? null,
          }
        },
      }),
  ),
  small.map(
    (n): Step =>
      () => ({
        label: 'delete',
        reads: [{ table: 'request', id: sample.requestId(n) }],
        decide: () => ({ deletes: [{ table: 'request', id: sample.requestId(n) }], result: null }),
      }),
  ),
  query.map(
    (wanted): Step =>
      () => ({
        label: 'find',
        reads: [{ table: 'request', query: wanted }],
        decide: view => ({ result: view.find('request', wanted) }),
      }),
  ),
  small.map(
    (n): Step =>
      () => ({
        label: 'throw',
        reads: [],
        decide: () => {
          throw new Error(`refused ${n}`)
        },
      }),
  ),
  small.map(
    (n): Step =>
      () => ({
        label: 'purge',
        reads: [],
        decide: () => ({
          purge: sample.sessionId(n),
          events: [{ session: null, body: { type: 'session.deleted' } }],
          result: n,
        }),
      }),
  ),
)

async function runHistory(store: Store, turns: readonly (readonly Step[])[]): Promise<unknown[]> {
  const history: unknown[] = []
  for (const turn of turns) {
    const outcomes = await Promise.allSettled(turn.map(make => store.commit(make())))
    history.push(outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))))
  }
  return history
}

async function readEverything(store: Store, queries: readonly Query[], pages: readonly EventQuery[]): Promise<unknown> {
  const events = (await sample.allEvents(store)).map(({ seq, at, session, type, text, bodyHash }) => ({
    seq,
    at,
    session,
    type,
    text,
    bodyHash,
  }))
  const { seq, at, rulesSeq } = await store.head()
  return {
    head: { seq, at, rulesSeq },
    events,
    pages: await Promise.all(pages.map(async each => (await store.events(each)).map(event => event.seq))),
    chain: await verifyChain(store),
    rows: await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(n => store.get('request', sample.requestId(n)))),
    found: await Promise.all(queries.map(each => store.find('request', each))),
    counts: await Promise.all(queries.map(each => store.count('request', each))),
  }
}

function compareWithMemory(name: string, makeLocation: () => Promise<StoreLocation>, numRuns: number): void {
  it(`the ${name} store and the memory store return the same results`, async () => {
    const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 5 })
    const turns = fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(turns, few(query), few(eventQuery), async (history, queries, pages) => {
        const clock = { now: () => 1_000_000, monotonic: () => 0 }
        const location = await makeLocation()
        const [model, store] = await Promise.all([openMemory({ clock }), location.open({ clock })])
        try {
          expect(await runHistory(store, history)).toEqual(await runHistory(model, history))
          expect(await readEverything(store, queries, pages)).toEqual(await readEverything(model, queries, pages))
        } finally {
          await store.close()
          await location.remove()
        }
      }),
      { numRuns },
    )
  })
}

describe('random histories on SQLite', () => compareWithMemory('SQLite', sqliteLocation, 50 * rounds))

if (await hasPostgres())
  describe('random histories on PostgreSQL', () => compareWithMemory('PostgreSQL', postgresLocation, 15 * rounds))
