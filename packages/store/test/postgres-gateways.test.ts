/** Several gateways on one PostgreSQL, and what happens when connections are lost. */
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import type { EventQuery, Store } from '@holdpoint/engine'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres, type TestDatabase } from '../../../test/support/postgres.ts'
import { openPostgres, type PostgresOptions, verifyChain } from '../src/index.ts'
import { postgresDialect, selectEvents } from '../src/sql.ts'
import * as sample from './samples.ts'

if (await hasPostgres()) describe('gateways on one PostgreSQL', gateways)

function gateways(): void {
  let database: TestDatabase
  let admin: postgres.Sql
  const opened: Store[] = []
  const open = async (over: Partial<PostgresOptions> = {}) => {
    const store = await openPostgres({ url: database.url, ...over })
    opened.push(store)
    return store
  }
  beforeEach(async () => {
    database = await freshDatabase()
    admin = postgres(database.url, { max: 1, onnotice: () => {} })
  })
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
    await admin.end()
    await database.drop()
  })
  const hinted = (store: Store) =>
    new Promise<void>(resolve => {
      const stop = store.onCommit(events => {
        if (events !== null) return
        stop()
        resolve()
      })
    })
  const cut = (query = '%') => admin`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'holdpoint' AND datname = current_database() AND query ILIKE ${query}`

  it('finds the newest of a long log by an index, whatever else the log holds', async () => {
    await open()
    const [short, long] = [sample.sessionId(1), sample.sessionId(2)]
    await admin`
      INSERT INTO holdpoint.event (seq, epoch, at, session, type, text, body_hash, hash)
      SELECT n, 'e', n, CASE WHEN n % 50 = 0 THEN ${short} ELSE ${long} END,
        CASE WHEN n % 500 < 2 THEN 'request.resolved' ELSE 'message.added' END, '{}', '', ''
      FROM generate_series(1, 100000) AS n`
    await admin`ANALYZE holdpoint.event`
    const plan = async (query: EventQuery) => {
      const { text, params } = selectEvents(query, postgresDialect)
      const rows = await admin.unsafe(`EXPLAIN ${text}`, [...params])
      return rows.map(row => String(row['QUERY PLAN'])).join('\n')
    }
    const types: EventQuery['types'] = ['request.resolved']
    for (const range of [{ newestFirst: true }, { before: 90_000, newestFirst: true }, { after: 10 }]) {
      const plans: [EventQuery, string][] = [
        [{ ...range, session: short, limit: 100 }, 'event_session'],
        // Nearly all of the log is this session's: the log itself is in order, too.
        [{ ...range, session: long, limit: 100 }, 'event_(?:session|pkey)'],
        [{ ...range, types, limit: 100 }, 'event_resolved'],
        [{ ...range, types, session: long, limit: 100 }, 'event_resolved(?:_session)?'],
      ]
      for (const [query, index] of plans) {
        const said = await plan(query)
        expect(said).toMatch(new RegExp(`Index Scan (?:Backward )?using ${index} on`))
        expect(said).not.toMatch(/Sort|Seq Scan|Bitmap/)
      }
    }
  })

  it('G3: a reader never finds an event at or before a place it has seen', async () => {
    const [one, two, reader] = await Promise.all([open(), open(), open()])
    const total = 600
    let written = 0
    const writing = [one, two].map(async (store, s) => {
      for (let n = 0; n < total / 2; n += 3) {
        await Promise.all([0, 1, 2].map(k => store.commit(sample.saying(`${s} ${n + k}`))))
        written += 3
      }
    })
    let cursor = 0
    while (cursor < total) {
      const page = await reader.events({ after: cursor, limit: 50 })
      for (const event of page) expect(event.seq).toBe(++cursor)
    }
    await Promise.all(writing)
    expect(written).toBe(total)
    expect(await verifyChain(reader)).toEqual({ ok: true, events: total })
  })

  it('G1: of two gateways that decide on the same row, exactly one wins, 200 times', async () => {
    const [one, two] = await Promise.all([open(), open()])
    for (let n = 0; n < 200; n++) {
      await one.commit(sample.opening(sample.request(n)))
      const won = await Promise.all([
        one.commit(sample.resolving(sample.requestId(n), 'ada')),
        two.commit(sample.resolving(sample.requestId(n), 'bob')),
      ])
      expect(won.filter(Boolean).length, `round ${n}`).toBe(1)
      const row = await two.get('request', sample.requestId(n))
      expect(row?.resolution?.person).toBe(won[0] ? 'ada' : 'bob')
    }
    expect((await one.events({ after: 0, limit: 1000, types: ['request.resolved'] })).length).toBe(200)
  })

  it('opens an empty database from several gateways at once', async () => {
    const stores = await Promise.all([open(), open(), open()])
    await Promise.all(stores.map(store => store.commit(sample.saying('hello'))))
    expect(await verifyChain(stores[0])).toEqual({ ok: true, events: 3 })
  })

  it('renews the epoch for everybody when another gateway opens', async () => {
    const one = await open()
    await one.commit(sample.saying('first'))
    const two = await open()
    await one.commit(sample.saying('second'))
    const { epoch } = await two.head()
    expect(await one.epochAt(2)).toBe(epoch)
    expect(await one.epochAt(1)).not.toBe(epoch)
  })

  it('hints at what others commit, and not at what it commits itself', async () => {
    const [one, two] = await Promise.all([open({ pollMs: 20 }), open({ pollMs: 20 })])
    const told: unknown[] = []
    one.onCommit(events => told.push(events?.length ?? null))
    const hint = hinted(two)
    for (let n = 0; n < 30; n++) await one.commit(sample.saying(`${n}`))
    await hint
    expect(told).toEqual(Array(30).fill(1))
  })

  it('finds out by looking where no notification comes', async () => {
    const store = await open({ pollMs: 20 })
    const hint = hinted(store)
    await admin`UPDATE holdpoint.head SET commits = commits + 1`
    await hint
  })

  it('hints again after its listening connection was killed', async () => {
    const [one, two] = await Promise.all([open({ pollMs: 50 }), open({ pollMs: 50 })])
    expect((await cut('listen%')).count).toBe(2)
    for (let n = 0; n < 3; n++) {
      const hint = hinted(two)
      await one.commit(sample.saying('still there'))
      await hint
    }
  })

  it('keeps every acknowledged change exactly once while its connections are killed', async () => {
    const store = await open()
    const kept: string[] = []
    for (let n = 0; n < 30; n++) {
      const commit = store.commit(sample.saying(`<${n}>`)).then(
        () => kept.push(`<${n}>`),
        error => expect(error).toMatchObject({ code: 'store_unavailable' }),
      )
      if (n % 3 === 0) await cut()
      await commit
    }
    await store.commit(sample.saying('later commits work'))
    const texts = (await sample.allEvents(store)).map(event => event.text)
    for (const mark of kept) expect(texts.filter(text => text.includes(mark)).length, mark).toBe(1)
    expect(kept.length).toBeGreaterThan(20)
    expect(await verifyChain(store)).toMatchObject({ ok: true })
  })

  it.each([
    ['and the database has committed', true],
    ['before the database got it', false],
  ])('finds out what became of a COMMIT whose answer was lost, %s', async (_when, delivered) => {
    const wire = await brittleWire(database.url, delivered)
    const store = await open({ url: wire.url })
    wire.arm()
    await store.commit(sample.opening(sample.request(1)))
    expect(wire.cuts()).toBe(1)
    expect((await sample.allEvents(store)).length).toBe(1)
    expect(await store.count('request', {})).toBe(1)
    await store.close()
    wire.close()
  })

  it('says what is wrong with the place, and never the password', async () => {
    const wrong = new URL(database.url)
    wrong.password = 'hunter2'
    const missing = new URL(database.url)
    missing.pathname = '/nowhere'
    const closed = 'postgres://ada:hunter2@127.0.0.1:1/holdpoint'
    for (const url of [missing.href, closed]) {
      const fault = await openPostgres({ url }).catch(error => error)
      expect(fault).toMatchObject({ code: 'store_unavailable' })
      expect(fault.message).not.toContain('hunter2')
    }
    await expect(openPostgres({ url: 'nonsense' })).rejects.toMatchObject({
      code: expect.stringMatching(/bad_input|store_unavailable/),
    })
    const refused = await openPostgres({ url: wrong.href }).catch(error => error)
    expect(refused).toMatchObject({ code: 'store_unavailable', message: expect.stringContaining('password') })
    expect(refused.message).not.toContain('hunter2')
  })

  it('refuses a database that a newer version or one before the first release wrote, and leaves backups to pg_dump', async () => {
    const store = await open()
    await expect(store.backup('/tmp/x')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('pg_dump'),
    })
    await admin`UPDATE holdpoint.meta SET version = 99`
    await expect(openPostgres({ url: database.url })).rejects.toMatchObject({ code: 'store_newer' })
    await admin`UPDATE holdpoint.meta SET version = 2`
    await expect(openPostgres({ url: database.url })).rejects.toMatchObject({ code: 'store_older' })
  })
}

/** A wire that, once armed, breaks at the first COMMIT: behind it, or before it is passed on. */
async function brittleWire(url: string, delivered: boolean) {
  const target = new URL(url)
  let armed = false
  let cuts = 0
  const sockets = new Set<Socket>()
  const server: Server = createServer(client => {
    const upstream = connectSocket(Number(target.port), target.hostname)
    let severed = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', chunk => {
      if (armed && !severed && chunk.includes('commit\0')) {
        armed = false
        severed = true
        cuts++
        if (delivered) upstream.write(chunk)
        else client.destroy()
      } else upstream.write(chunk)
    })
    // The answer to that COMMIT is where the wire breaks.
    upstream.on('data', chunk => (severed ? client.destroy() : client.write(chunk)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const through = new URL(url)
  through.port = String(typeof address === 'object' && address?.port)
  return {
    url: through.href,
    arm: () => {
      armed = true
    },
    cuts: () => cuts,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
