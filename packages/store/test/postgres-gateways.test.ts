/** Tests several gateways on one PostgreSQL, and lost connections. */
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import { auditTypes, type Caller, callAs, type EventQuery, openGateway, type Store } from '@holdpoint/engine'
import { type Call, limits } from '@holdpoint/protocol'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { hasPostgres } from '../../../test/support/postgres.ts'
import { checkUsage } from '../../../test/support/usage-check.ts'
import { openPostgres, verifyChain } from '../src/index.ts'
import { postgresDialect, selectEvents } from '../src/sql.ts'
import { usePostgres } from './postgres-fixture.ts'
import * as sample from './samples.ts'

if (await hasPostgres()) describe('several gateways on one PostgreSQL', gatewaysSuite)

function gatewaysSuite(): void {
  const database = usePostgres()
  const { open } = database
  const nextNotification = (store: Store) =>
    new Promise<void>(resolve => {
      const stop = store.onCommit(events => {
        if (events !== null) return
        stop()
        resolve()
      })
    })
  const killConnections = (query = '%') => database.admin`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'holdpoint' AND datname = current_database() AND query ILIKE ${query}`

  it('several gateways on one PostgreSQL read the newest events of a long log with an index', async () => {
    await open()
    const [short, long] = [sample.sessionId(1), sample.sessionId(2)]
    await database.admin`
      INSERT INTO holdpoint.event (seq, epoch, at, session, type, text, body_hash, hash)
      SELECT n, 'e', n, CASE WHEN n % 50 = 0 THEN ${short} ELSE ${long} END,
        CASE WHEN n % 500 < 2 THEN 'request.resolved' ELSE 'message.added' END, '{}', '', ''
      FROM generate_series(1, 100000) AS n`
    await database.admin`ANALYZE holdpoint.event`
    const plan = async (query: EventQuery) => {
      const { text, params } = selectEvents(query, postgresDialect)
      const rows = await database.admin.unsafe(`EXPLAIN ${text}`, [...params])
      return rows.map(row => String(row['QUERY PLAN'])).join('\n')
    }
    const types = auditTypes
    for (const range of [{ newestFirst: true }, { before: 90_000, newestFirst: true }, { after: 10 }]) {
      const plans: [EventQuery, string][] = [
        [{ ...range, session: short, limit: 100 }, 'event_session'],
        // Nearly all events belong to this session, so scanning the primary key is fine too.
        [{ ...range, session: long, limit: 100 }, 'event_(?:session|pkey)'],
        [{ ...range, types, limit: 100 }, 'event_audit'],
        [{ ...range, types, session: long, limit: 100 }, 'event_audit(?:_session)?'],
      ]
      for (const [query, index] of plans) {
        const queryPlan = await plan(query)
        expect(queryPlan).toMatch(new RegExp(`Index Scan (?:Backward )?using ${index} on`))
        expect(queryPlan).not.toMatch(/Sort|Seq Scan|Bitmap/)
      }
    }
  })

  it('X10: several gateways on one PostgreSQL count the pending requests of a credential together', async () => {
    const robot: Caller = { role: 'agent', id: 'tok_robot', name: 'robot', token: 'tok_robot', via: 'api' }
    const stores = await Promise.all([open(), open()])
    const gateways = await Promise.all(stores.map(store => openGateway({ store })))
    const [one, two] = gateways.map(gateway => callAs(gateway, robot)) as [Call, Call] // there are two gateways
    const { id } = await one('startSession', { driver: 'external' })
    const ask = { kind: 'approval' as const, tool: 'T', input: {}, title: 't', cwd: '', editable: false }
    const asked = await Promise.allSettled(
      Array.from({ length: limits.pendingPerAgentMax + 20 }, (_, i) =>
        (i % 2 ? one : two)('openRequest', { id, key: `k${i}`, ask }),
      ),
    )
    expect(asked.filter(result => result.status === 'fulfilled')).toHaveLength(limits.pendingPerAgentMax)
    await checkUsage(stores[0] as Store) // there are two stores
    for (const gateway of gateways) await gateway.close()
  })

  it('G3: a reader never finds a new event at or before a seq it has read', async () => {
    const [one, two, reader] = await Promise.all([open(), open(), open()])
    const total = 600
    let written = 0
    const writing = [one, two].map(async (store, s) => {
      for (let n = 0; n < total / 2; n += 3) {
        await Promise.all([0, 1, 2].map(k => store.commit(sample.addMessage(`${s} ${n + k}`))))
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

  it('G1: of two gateways that resolve the same request, exactly one wins, 200 times', async () => {
    const [one, two] = await Promise.all([open(), open()])
    for (let n = 0; n < 200; n++) {
      await one.commit(sample.openRequest(sample.request(n)))
      const won = await Promise.all([
        one.commit(sample.resolveRequest(sample.requestId(n), 'ada')),
        two.commit(sample.resolveRequest(sample.requestId(n), 'bob')),
      ])
      expect(won.filter(Boolean).length, `round ${n}`).toBe(1)
      const row = await two.get('request', sample.requestId(n))
      expect(row?.resolution?.person).toBe(won[0] ? 'ada' : 'bob')
    }
    expect((await one.events({ after: 0, limit: 1000, types: ['request.resolved'] })).length).toBe(200)
  })

  it('several gateways on one PostgreSQL can open an empty database at the same time', async () => {
    const stores = await Promise.all([open(), open(), open()])
    await Promise.all(stores.map(store => store.commit(sample.addMessage('hello'))))
    expect(await verifyChain(stores[0])).toEqual({ ok: true, events: 3 })
  })

  it('several gateways on one PostgreSQL write events with the new epoch after another gateway has opened the database', async () => {
    const one = await open()
    await one.commit(sample.addMessage('first'))
    const two = await open()
    await one.commit(sample.addMessage('second'))
    const { epoch } = await two.head()
    expect(await one.epochAt(2)).toBe(epoch)
    expect(await one.epochAt(1)).not.toBe(epoch)
  })

  it('several gateways on one PostgreSQL are notified of commits of other gateways, and not of their own', async () => {
    const [one, two] = await Promise.all([open({ pollMs: 20 }), open({ pollMs: 20 })])
    const received: unknown[] = []
    one.onCommit(events => received.push(events?.length ?? null))
    const notified = nextNotification(two)
    for (let n = 0; n < 30; n++) await one.commit(sample.addMessage(`${n}`))
    await notified
    expect(received).toEqual(Array(30).fill(1))
  })

  it('several gateways on one PostgreSQL find a commit of another gateway by polling if no notification arrives', async () => {
    const store = await open({ pollMs: 20 })
    const notified = nextNotification(store)
    await database.admin`UPDATE holdpoint.head SET commits = commits + 1`
    await notified
  })

  it('C12: several gateways on one PostgreSQL find a commit of another gateway behind a pooler that passes on no notification', async () => {
    const proxy = await silentProxy(database.url)
    const reader = await open({ url: proxy.url, pollMs: 50 })
    const writer = await open({ pollMs: 50 })
    for (let n = 0; n < 3; n++) {
      const notified = nextNotification(reader)
      await writer.commit(sample.addMessage(`${n}`))
      await notified
      expect((await reader.events({ after: n, limit: 1 })).map(({ seq }) => seq)).toEqual([n + 1])
    }
    expect(proxy.swallowed()).toBeGreaterThan(0)
    await reader.close()
    proxy.close()
  })

  it('C13: several gateways on one PostgreSQL notify each other with a few ids, however large a change is, and a stuck listener does not block the others', async () => {
    const [writer, reader] = [await open({ pollMs: 60_000 }), await open({ pollMs: 60_000 })]
    const payloads: string[] = []
    const listener = postgres(database.url, { max: 1, onnotice: () => {} })
    await listener.listen('holdpoint', payload => payloads.push(payload))
    // A session that listens and then stays in a transaction receives nothing, so the server has to keep its notifications.
    const stuck = postgres(database.url, { max: 1, onnotice: () => {} })
    const held = await stuck.reserve()
    await held`LISTEN holdpoint`
    await held`BEGIN`
    await held`SELECT 1`
    const commits = 300
    for (let n = 0; n < commits; n++) await writer.commit(sample.addMessage(n === 0 ? 'x'.repeat(1_000_000) : `${n}`))
    await expect.poll(() => payloads.length).toBe(commits)
    expect(Math.max(...payloads.map(payload => payload.length))).toBeLessThan(100)
    expect(payloads.every(payload => /^\S+ \d+$/.test(payload))).toBe(true)
    await expect.poll(async () => (await reader.head()).seq).toBe(commits)
    const [queue] = await database.admin<{ used: number }[]>`SELECT pg_notification_queue_usage() AS used`
    expect(queue?.used).toBeLessThan(0.01)
    await held`ROLLBACK`
    held.release()
    await Promise.all([listener.end(), stuck.end()])
  })

  it('several gateways on one PostgreSQL are notified of commits again after the connection that listens was killed', async () => {
    const [one, two] = await Promise.all([open({ pollMs: 50 }), open({ pollMs: 50 })])
    expect((await killConnections('listen%')).count).toBe(2)
    for (let n = 0; n < 3; n++) {
      const notified = nextNotification(two)
      await one.commit(sample.addMessage('still there'))
      await notified
    }
  })

  it('several gateways on one PostgreSQL store every acknowledged change exactly once while connections are killed', async () => {
    const store = await open()
    const acknowledged: string[] = []
    for (let n = 0; n < 30; n++) {
      const commit = store.commit(sample.addMessage(`<${n}>`)).then(
        () => acknowledged.push(`<${n}>`),
        error => expect(error).toMatchObject({ code: 'store_unavailable' }),
      )
      if (n % 3 === 0) await killConnections()
      await commit
    }
    await store.commit(sample.addMessage('later commits work'))
    const texts = (await sample.allEvents(store)).map(event => event.text)
    for (const mark of acknowledged) expect(texts.filter(text => text.includes(mark)).length, mark).toBe(1)
    expect(acknowledged.length).toBeGreaterThan(20)
    expect(await verifyChain(store)).toMatchObject({ ok: true })
  })

  it.each([
    ['after the database has committed the change', true],
    ['before the database receives the COMMIT', false],
  ])('a store saves a change exactly once if the connection is lost %s', async (_when, delivered) => {
    const proxy = await breakingProxy(database.url, delivered)
    const store = await open({ url: proxy.url })
    proxy.arm()
    await store.commit(sample.openRequest(sample.request(1)))
    expect(proxy.cuts()).toBe(1)
    expect((await sample.allEvents(store)).length).toBe(1)
    expect(await store.count('request', {})).toBe(1)
    await store.close()
    proxy.close()
  })

  it('several gateways on one PostgreSQL report what is wrong with a database URL without showing its password', async () => {
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

  it('several gateways on one PostgreSQL refuse a database with a newer or pre-release schema, and tell the person to use pg_dump for backups', async () => {
    const store = await open()
    await expect(store.backup('/tmp/x')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('pg_dump'),
    })
    await database.admin`UPDATE holdpoint.meta SET version = 99`
    await expect(openPostgres({ url: database.url })).rejects.toMatchObject({ code: 'store_newer' })
    await database.admin`UPDATE holdpoint.meta SET version = 2`
    await expect(openPostgres({ url: database.url })).rejects.toMatchObject({ code: 'store_older' })
  })
}

/** Starts a proxy that swallows notifications, as a pooler in transaction mode does: LISTEN succeeds, and nothing arrives. */
async function silentProxy(url: string) {
  const target = new URL(url)
  let swallowed = 0
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const upstream = connectSocket(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0)
    upstream.on('data', chunk => {
      rest = Buffer.concat([rest, chunk])
      // Each message of the server has a type of one byte and a length that counts itself.
      while (rest.length >= 5 && rest.length >= rest.readUInt32BE(1) + 1) {
        const length = rest.readUInt32BE(1) + 1
        const isNotification = rest[0] === 'A'.charCodeAt(0)
        if (isNotification) swallowed++
        else client.write(rest.subarray(0, length))
        rest = rest.subarray(length)
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const through = new URL(url)
  through.port = String(typeof address === 'object' && address?.port)
  return {
    url: through.href,
    swallowed: () => swallowed,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Starts a proxy that, once armed, drops the connection at the first COMMIT, either after or before the COMMIT reaches the database. */
async function breakingProxy(url: string, delivered: boolean) {
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
    // Drop the connection instead of passing on the reply to that COMMIT.
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
