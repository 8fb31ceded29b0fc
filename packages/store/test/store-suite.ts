/** The test suite that every store must pass. */
import type { Change, CrashPoint, EventQuery, Query, Store, StoredEvent } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TimeSource, verifyChain } from '../src/index.ts'
import * as sample from './samples.ts'

export interface OpenOptions {
  readonly clock?: TimeSource
  readonly crashPoint?: CrashPoint
}
/** The location of a store. Opening the same location again finds the same data. */
export interface StoreLocation {
  open(options?: OpenOptions): Promise<Store>
  remove(): Promise<void>
}

export function storeSuite(name: string, makeLocation: () => Promise<StoreLocation>, durable: boolean): void {
  describe(name, () => {
    let location: StoreLocation
    let store: Store
    const opened: Store[] = []
    const open = async (options?: OpenOptions) => {
      const next = await location.open(options)
      opened.push(next)
      return next
    }
    beforeEach(async () => {
      location = await makeLocation()
      store = await open()
    })
    afterEach(async () => {
      for (const each of opened.splice(0)) await each.close()
      await location.remove()
    })

    it('G2: a row and its event become visible together, to listeners too', async () => {
      const seen: unknown[] = []
      store.onCommit(events => seen.push(events?.map(event => event.type)))
      expect(await store.get('request', sample.requestId(1))).toBeUndefined()
      const seq = await store.commit(sample.openRequest(sample.request(1)))
      expect(await store.get('request', sample.requestId(1))).toEqual(sample.request(1))
      const [event] = await store.events({ after: 0, limit: 10 })
      expect(event).toMatchObject({ seq, type: 'request.opened', session: sample.sessionId(1) })
      expect(seen).toEqual([['request.opened']])
    })

    it('a store notifies listeners in log order before the commit resolves', async () => {
      const received: StoredEvent[] = []
      store.onCommit(events => received.push(...(events ?? [])))
      await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          const seq = await store.commit(sample.addMessage(`${n}`))
          expect(received.some(event => event.seq === seq)).toBe(true)
        }),
      )
      expect(received.map(event => event.seq)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
    })

    it('a store rejects only the change whose decide throws, and writes nothing of that change', async () => {
      const refused = new Fault('not_found', 'There is no such session.')
      const outcomes = await Promise.allSettled([
        store.commit(sample.openRequest(sample.request(1))),
        store.commit({
          label: 'refuse',
          reads: [],
          decide: () => {
            throw refused
          },
        }),
        store.commit(sample.openRequest(sample.request(2))),
      ])
      expect(outcomes).toEqual([
        { status: 'fulfilled', value: 1 },
        { status: 'rejected', reason: refused },
        { status: 'fulfilled', value: 2 },
      ])
      expect((await store.head()).seq).toBe(2)
    })

    it('a store rejects only the change that cannot be written, and commits the rest of the batch', async () => {
      await store.commit(sample.openRequest(sample.request(1)))
      const withoutRead = {
        label: 'withoutRead',
        reads: [],
        decide: () => ({ puts: [{ table: 'request', row: sample.request(1, { key: 'other' }) } as const], result: 0 }),
      }
      const [before, failing, after] = await Promise.allSettled([
        store.commit(sample.openRequest(sample.request(2))),
        store.commit(withoutRead),
        store.commit(sample.openRequest(sample.request(3))),
      ])
      expect([before.status, failing.status, after.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect((await store.get('request', sample.requestId(1)))?.key).toBe('key-1')
      expect(await store.count('request', {})).toBe(3)
      expect(await verifyChain(store)).toEqual({ ok: true, events: 3 })
    })

    it('a store rejects a change whose decide uses rows that its reads do not name', async () => {
      const peek = store.commit({
        label: 'peek',
        reads: [],
        decide: view => ({ result: view.get('request', sample.requestId(1)) }),
      })
      await expect(peek).rejects.toThrow('not in the reads')
      const search = store.commit({ label: 'search', reads: [], decide: view => ({ result: view.find('rule', {}) }) })
      await expect(search).rejects.toThrow('not in the reads')
      const deleting = {
        label: 'delete',
        reads: [],
        decide: () => ({ deletes: [{ table: 'rule', id: 'x' } as const], result: 0 }),
      }
      await expect(store.commit(deleting)).rejects.toThrow('has not read')
    })

    it('a store lets each change of a batch see the changes before it, by id and by query', async () => {
      const query: Query = { where: { open: 1 }, limit: 3 }
      const finding = {
        label: 'find',
        reads: [{ table: 'request', query } as const],
        decide: (view: Parameters<ReturnType<typeof sample.openRequest>['decide']>[0]) => ({
          result: view.find('request', query).map(row => row.ord),
        }),
      }
      for (const n of [1, 2, 3, 4, 5]) await store.commit(sample.openRequest(sample.request(n)))
      const [, first, , second, , third] = await Promise.all([
        store.commit(sample.resolveRequest(sample.requestId(1), 'ada')),
        store.commit(finding),
        store.commit(sample.openRequest(sample.request(0))),
        store.commit(finding),
        store.commit(sample.resolveRequest(sample.requestId(2), 'ada')),
        store.commit(finding),
      ])
      expect([first, second, third]).toEqual([
        [2, 3, 4],
        [0, 2, 3],
        [0, 3, 4],
      ])
    })

    it('a store finds the right rows even if a batch changes more rows than were loaded in advance', async () => {
      for (let n = 0; n < 150; n++) void store.commit(sample.openRequest(sample.request(n)))
      const query: Query = { where: { open: 1 }, limit: 2 }
      await store.commit(sample.addMessage('all are committed'))
      for (let n = 0; n < 120; n++) void store.commit(sample.resolveRequest(sample.requestId(n), 'ada'))
      const found = await store.commit({
        label: 'find',
        reads: [{ table: 'request', query }],
        decide: view => ({ result: view.find('request', query).map(row => row.ord) }),
      })
      expect(found).toEqual([120, 121])
    })

    it('G1: exactly one of many concurrent changes resolves a request', async () => {
      await store.commit(sample.openRequest(sample.request(1)))
      const people = ['ada', 'bob', 'cyd', 'dan']
      const won = await Promise.all(
        people.map(person => store.commit(sample.resolveRequest(sample.requestId(1), person))),
      )
      expect(won).toEqual([true, false, false, false])
    })

    it('a store writes nothing and notifies nobody if decide only returns a result', async () => {
      let calls = 0
      store.onCommit(() => calls++)
      const before = await store.head()
      expect(await store.commit({ label: 'look', reads: [], decide: view => ({ result: view.nextSeq }) })).toBe(1)
      expect(await store.head()).toEqual(before)
      expect(calls).toBe(0)
    })

    it('a store finds, orders, pages and counts rows by their columns', async () => {
      const rows = [
        sample.request(1, { session: sample.sessionId(2) }),
        sample.request(2, { deadlineAt: 50 }),
        sample.resolvedRequest(sample.request(3), 'ada'),
        sample.request(4, { deadlineAt: 500 }),
        sample.resolvedRequest(sample.request(5, { session: sample.sessionId(2) }), 'ada'),
      ]
      await store.commit(sample.putRows(...rows.map(row => ({ table: 'request', row }) as const)))
      const ords = async (query: Query) => (await store.find('request', query)).map(row => row.ord)
      const cases: [Query, number[]][] = [
        [{}, [1, 2, 3, 4, 5]],
        [{ newestFirst: true, limit: 2 }, [5, 4]],
        [{ where: { status: 'pending' } }, [1, 2, 4]],
        [{ where: { status: ['pending', 'resolved'], session: sample.sessionId(2) } }, [1, 5]],
        [{ where: { open: null } }, [3, 5]],
        [{ where: { open: [1, null] }, afterOrd: 1, beforeOrd: 5 }, [2, 3, 4]],
        [{ where: { status: [] } }, []],
        [{ atMost: { dueAt: 100 } }, [2]],
        [{ atMost: { dueAt: 1000 }, newestFirst: true }, [4, 2]],
        [{ limit: 0 }, []],
      ]
      for (const [query, expected] of cases) {
        expect(await ords(query), JSON.stringify(query)).toEqual(expected)
        if (query.limit === undefined) expect(await store.count('request', query)).toBe(expected.length)
      }
      await expect(store.find('request', { where: { colour: 'red' } })).rejects.toThrow('no column')
    })

    it('a store finds a text in a column even if the text contains NUL, wildcards or lone surrogates', async () => {
      const title = 'A 100% "odd"\0 title\u2028 with _ and ’ and \ud800'
      await store.commit(
        sample.putRows(
          { table: 'session', row: sample.session(1, { title }) },
          { table: 'session', row: sample.session(2) },
        ),
      )
      const found = async (part: string) =>
        (await store.find('session', { contains: { search: part } })).map(row => row.ord)
      expect(await found('100% "odd"\0')).toEqual([1])
      expect(await found('_')).toEqual([1])
      expect(await found('session')).toEqual([2])
      expect(await found('%')).toEqual([1])
      expect((await store.get('session', sample.sessionId(1)))?.title).toBe(title)
    })

    it('a store updates the changeable fields of a row and keeps its fixed fields', async () => {
      await store.commit(sample.openRequest(sample.request(1)))
      await store.commit(sample.resolveRequest(sample.requestId(1), 'ada'))
      expect(await store.get('request', sample.requestId(1))).toEqual(sample.resolvedRequest(sample.request(1), 'ada'))
      expect(await store.count('request', { where: { status: 'pending' } })).toBe(0)
    })

    it('a store deletes the rows that a change names', async () => {
      await store.commit(sample.putRows({ table: 'rule', row: sample.rule(1) }, { table: 'rule', row: sample.rule(2) }))
      const id = sample.ruleId(1)
      await store.commit({
        label: 'delete',
        reads: [{ table: 'rule', id }],
        decide: () => ({ deletes: [{ table: 'rule', id }], result: null }),
      })
      expect(await store.get('rule', id)).toBeUndefined()
      expect((await store.find('rule', {})).map(row => row.ord)).toEqual([2])
    })

    it('a store increments rulesSeq with every change of the rules and with no other change', async () => {
      const seen = [(await store.head()).rulesSeq]
      for (const row of [sample.rule(1), sample.rule(2), sample.rule(1)]) {
        await store.commit(sample.putRows({ table: 'rule', row }))
        seen.push((await store.head()).rulesSeq)
      }
      expect(new Set(seen).size).toBe(4)
      await store.commit(sample.addMessage('not a rule'))
      expect((await store.head()).rulesSeq).toBe(seen.at(-1))
    })

    it('a store pages through the log, by session and by type', async () => {
      for (let n = 0; n < 6; n++) await store.commit(sample.addMessage(`${n}`, n % 2))
      await store.commit(sample.openRequest(sample.request(1)))
      const seqs = async (query: Parameters<Store['events']>[0]) => (await store.events(query)).map(event => event.seq)
      expect(await seqs({ after: 2, limit: 3 })).toEqual([3, 4, 5])
      expect(await seqs({ after: 0, limit: 10, session: sample.sessionId(0) })).toEqual([1, 3, 5])
      expect(await seqs({ after: 0, limit: 10, types: ['request.opened'] })).toEqual([7])
      expect(await seqs({ after: 1, limit: 2, session: sample.sessionId(1), types: ['message.added'] })).toEqual([2, 4])
      expect(await store.epochAt(7)).toBe((await store.head()).epoch)
      expect(await store.epochAt(8)).toBeUndefined()
    })

    it('a store pages through the log from its end, newest first', async () => {
      for (let n = 0; n < 6; n++) await store.commit(sample.addMessage(`${n}`, n % 2))
      await store.commit(sample.openRequest(sample.request(1)))
      await store.commit(sample.resolveRequest(sample.requestId(1), 'ada'))
      const seqs = async (query: EventQuery) => (await store.events(query)).map(event => event.seq)
      const [even, odd] = [sample.sessionId(0), sample.sessionId(1)]
      const cases: [EventQuery, number[]][] = [
        [{ newestFirst: true, limit: 3 }, [8, 7, 6]],
        [{ newestFirst: true, before: 8, limit: 3 }, [7, 6, 5]],
        [{ newestFirst: true, before: 9, limit: 1 }, [8]],
        [{ newestFirst: true, before: 1000, limit: 1 }, [8]],
        [{ newestFirst: true, before: 2, limit: 3 }, [1]],
        [{ newestFirst: true, before: 1, limit: 3 }, []],
        [{ newestFirst: true, before: 0, limit: 3 }, []],
        [{ newestFirst: true, after: 5, limit: 9 }, [8, 7, 6]],
        [{ newestFirst: true, after: 5, before: 7, limit: 9 }, [6]],
        [{ newestFirst: true, after: 6, before: 7, limit: 9 }, []],
        [{ newestFirst: true, limit: 0 }, []],
        [{ limit: 2 }, [1, 2]],
        [{ before: 4, limit: 9 }, [1, 2, 3]],
        [{ before: 4, limit: 2 }, [1, 2]],
        [{ newestFirst: true, session: odd, limit: 3 }, [8, 7, 6]],
        [{ newestFirst: true, session: even, before: 5, limit: 9 }, [3, 1]],
        [{ newestFirst: true, session: even, before: 1, limit: 9 }, []],
        [{ newestFirst: true, types: ['request.resolved'], limit: 9 }, [8]],
        [{ newestFirst: true, types: ['request.resolved'], before: 8, limit: 9 }, []],
        [{ newestFirst: true, types: ['request.resolved', 'request.opened'], limit: 9 }, [8, 7]],
        [{ newestFirst: true, types: ['request.resolved'], session: odd, limit: 9 }, [8]],
        [{ newestFirst: true, types: ['request.resolved'], session: even, limit: 9 }, []],
        [{ newestFirst: true, types: [], limit: 9 }, []],
      ]
      for (const [query, expected] of cases) expect(await seqs(query), JSON.stringify(query)).toEqual(expected)
    })

    it('a store returns times that never go backwards, even if the clock does', async () => {
      await store.close()
      let now = 5_000_000_000_000
      store = await open({ clock: { now: () => now, monotonic: () => 0 } })
      await store.commit(sample.addMessage('one'))
      now -= 1000
      await store.commit(sample.addMessage('two'))
      expect(await store.now()).toBe(5_000_000_000_000)
      expect((await sample.allEvents(store)).map(event => event.at)).toEqual([5_000_000_000_000, 5_000_000_000_000])
      now += 2000
      await store.commit(sample.addMessage('three'))
      expect((await store.head()).at).toBe(5_000_000_001_000)
    })

    it('F17: a store returns correct times after the clock went two hours forward and back, and reports both jumps', async () => {
      await store.close()
      const time = { now: 5_000_000_000_000, elapsed: 0 }
      const clock = { now: () => time.now, monotonic: () => time.elapsed }
      const hours = 7_200_000
      store = await open({ clock })
      await store.commit(sample.addMessage('before'))
      time.now += hours
      await store.commit(sample.addMessage('forward'))
      time.now -= hours
      await store.commit(sample.addMessage('back'))
      time.now += 2000
      time.elapsed += 2000
      expect(await store.now()).toBe(5_000_000_000_000 + hours + 1960)
      await store.commit(sample.addMessage('later'))
      expect((await store.head()).at).toBe(5_000_000_000_000 + hours + 1960)
      expect(store.takeClockJumps().map(({ ms }) => ms)).toEqual([hours, -hours])
      expect(store.takeClockJumps()).toEqual([])
    })

    it('a store deletes the rows and event texts of a session, and the hash chain stays valid', async () => {
      await store.commit(
        sample.putRows({ table: 'session', row: sample.session(1) }, { table: 'session', row: sample.session(2) }),
      )
      await store.commit(sample.putRows({ table: 'command', row: sample.command(1) }))
      await store.commit(sample.openRequest(sample.request(1)))
      await store.commit(sample.openRequest(sample.request(2, { session: sample.sessionId(2) })))
      const id = sample.sessionId(1)
      const purge: Change<null> = {
        label: 'purge',
        reads: [{ table: 'session', id }],
        decide: () => ({ purge: id, events: [{ session: id, body: { type: 'session.deleted' } }], result: null }),
      }
      await Promise.all([
        store.commit(sample.addMessage('secret')),
        store.commit(purge),
        store.commit(sample.addMessage('later', 3)),
      ])
      const events = await sample.allEvents(store)
      expect(events.map(event => event.body.type)).toEqual([
        'purged',
        'request.opened',
        'purged',
        'session.deleted',
        'message.added',
      ])
      expect(JSON.stringify(events)).not.toContain('secret')
      expect(await store.count('session', {})).toBe(1)
      expect((await store.find('request', {})).map(row => row.ord)).toEqual([2])
      expect(await store.count('command', {})).toBe(0)
      expect(await verifyChain(store)).toEqual({ ok: true, events: 5 })
    })

    it('a store has a log in which verifyChain finds the first event that was tampered with', async () => {
      for (let n = 0; n < 5; n++) await store.commit(sample.addMessage(`${n}`))
      const tampered = (change: (event: StoredEvent) => StoredEvent[]) =>
        verifyChain({ head: () => store.head(), events: async query => (await store.events(query)).flatMap(change) })
      const at3 = (change: (event: StoredEvent) => StoredEvent[]) =>
        tampered(event => (event.seq === 3 ? change(event) : [event]))
      expect(await at3(event => [{ ...event, text: '{}' }])).toMatchObject({
        ok: false,
        seq: 3,
        reason: expect.stringContaining('body'),
      })
      expect(await at3(event => [{ ...event, at: 1 }])).toMatchObject({ ok: false, seq: 3 })
      expect(await at3(() => [])).toMatchObject({ ok: false, seq: 3, reason: expect.stringContaining('missing') })
      expect(await tampered(event => (event.seq > 3 ? [] : [event]))).toMatchObject({ ok: false, seq: 4 })
      expect(await tampered(event => [event])).toEqual({ ok: true, events: 5 })
    })

    it('a store keeps the keys of secret answers until they are deleted, and lists old keys', async () => {
      const id = `${sample.requestId(1)}.a-_B`
      expect(await store.keys.get(id)).toBeUndefined()
      await store.keys.put(id, 'first')
      await store.keys.put(`${sample.requestId(2)}.b`, 'second')
      expect(await store.keys.get(id)).toBe('first')
      expect([...(await store.keys.list(0))].sort()).toEqual([id, `${sample.requestId(2)}.b`])
      expect(await store.keys.list(60_000)).toEqual([])
      await store.keys.share(id)
      await store.keys.delete([id, 'unknown'])
      expect(await store.keys.get(id)).toBeUndefined()
      expect(await store.keys.list(0)).toEqual([`${sample.requestId(2)}.b`])
    })

    it('a store returns the hash of the body of each event', async () => {
      await store.commit(sample.addMessage('one'))
      const [event] = await sample.allEvents(store)
      expect(await store.bodyHashAt(1)).toBe(event?.bodyHash)
      expect(await store.bodyHashAt(2)).toBeUndefined()
    })

    it('a store reports its crash points in order', async () => {
      await store.close()
      const points: string[] = []
      store = await open({ crashPoint: point => points.push(point) })
      await Promise.all([store.commit(sample.addMessage('a')), store.commit(sample.addMessage('b'))])
      const expected = [
        'begun:appendEvents',
        'decided:appendEvents',
        'begun:appendEvents',
        'decided:appendEvents',
        'written:appendEvents',
        'written:appendEvents',
        'committed:appendEvents',
        'committed:appendEvents',
      ]
      expect(points).toEqual(expected)
    })

    it('a store writes queued changes when it is closed, and refuses further changes', async () => {
      const last = store.commit(sample.addMessage('last'))
      await store.close()
      expect(await last).toBe(1)
      await expect(store.commit(sample.addMessage('too late'))).rejects.toMatchObject({ code: 'store_unavailable' })
    })

    if (durable)
      it('G2: a store has the same rows, events and head after reopening, with a new epoch', async () => {
        await store.commit(sample.openRequest(sample.request(1)))
        const before = await store.head()
        await store.close()
        store = await open()
        const after = await store.head()
        expect(after).toEqual({ ...before, epoch: after.epoch })
        expect(after.epoch).not.toBe(before.epoch)
        expect(after.epoch).toMatch(/^[a-z0-9]{8}$/)
        expect(await store.get('request', sample.requestId(1))).toEqual(sample.request(1))
        await store.commit(sample.addMessage('again'))
        expect([await store.epochAt(1), await store.epochAt(2)]).toEqual([before.epoch, after.epoch])
        expect(await verifyChain(store)).toEqual({ ok: true, events: 2 })
      })
  })
}
