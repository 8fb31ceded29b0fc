/** Random histories, run against the memory store and the others: whatever can be asked of them, they say the same. */
import type { Change, EventQuery, Query, Store } from '@holdpoint/engine'
import type { EventType } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasPostgres } from '../../../test/support/postgres.ts'
import { openMemory, verifyChain } from '../src/index.ts'
import * as sample from './samples.ts'
import type { Place } from './store-suite.ts'
import { postgresPlace, sqlitePlace } from './stores.ts'

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

/** A change that puts, deletes, finds, says or forgets, and returns what it saw. */
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
          const row = done ? sample.resolved(fresh, `p${s}`) : { ...fresh, handedFence: s }
          return {
            puts: [{ table: 'request', row }],
            events: [{ session: row.session, body: sample.said(`${n}`) }],
            result: known ?? null,
          }
        },
      }),
  ),
  small.map(
    (n): Step =>
      () => ({
        label: 'del',
        reads: [{ table: 'request', id: sample.requestId(n) }],
        decide: () => ({ dels: [{ table: 'request', id: sample.requestId(n) }], result: null }),
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
        label: 'refuse',
        reads: [],
        decide: () => {
          throw new Error(`refused ${n}`)
        },
      }),
  ),
  small.map(
    (n): Step =>
      () => ({
        label: 'forget',
        reads: [],
        decide: () => ({
          purge: sample.sessionId(n),
          events: [{ session: null, body: { type: 'session.deleted' } }],
          result: n,
        }),
      }),
  ),
)

async function play(store: Store, turns: readonly (readonly Step[])[]): Promise<unknown[]> {
  const said: unknown[] = []
  for (const turn of turns) {
    const outcomes = await Promise.allSettled(turn.map(make => store.commit(make())))
    said.push(outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))))
  }
  return said
}

async function shown(store: Store, queries: readonly Query[], pages: readonly EventQuery[]): Promise<unknown> {
  const events = (await sample.allEvents(store)).map(({ seq, at, session, type, text, bodyHash }) => ({
    seq,
    at,
    session,
    type,
    text,
    bodyHash,
  }))
  const { seq, at, rulesAt } = await store.head()
  return {
    head: { seq, at, rulesAt },
    events,
    pages: await Promise.all(pages.map(async each => (await store.events(each)).map(event => event.seq))),
    chain: await verifyChain(store),
    rows: await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(n => store.get('request', sample.requestId(n)))),
    found: await Promise.all(queries.map(each => store.find('request', each))),
    counts: await Promise.all(queries.map(each => store.count('request', each))),
  }
}

function sameAsMemory(name: string, makePlace: () => Promise<Place>, numRuns: number): void {
  it(`${name} says what the memory store says`, async () => {
    const asked = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 5 })
    const turns = fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(turns, asked(query), asked(eventQuery), async (history, queries, pages) => {
        const clock = { now: () => 1_000_000 }
        const place = await makePlace()
        const [model, store] = await Promise.all([openMemory({ clock }), place.open({ clock })])
        try {
          expect(await play(store, history)).toEqual(await play(model, history))
          expect(await shown(store, queries, pages)).toEqual(await shown(model, queries, pages))
        } finally {
          await store.close()
          await place.remove()
        }
      }),
      { numRuns },
    )
  })
}

describe('random histories', () => sameAsMemory('SQLite', sqlitePlace, 150))

if (await hasPostgres())
  describe('random histories, over the wire', () => sameAsMemory('PostgreSQL', postgresPlace, 40))
