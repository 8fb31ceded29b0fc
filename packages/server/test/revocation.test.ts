/** A12: revoking a credential ends its streams, sockets, long polls and running operations within two seconds, on the gateway that revoked it and on another gateway with the same PostgreSQL. */
import { connect } from 'node:net'
import { type Gateway, openGateway, type Store } from '@holdpoint/engine'
import {
  apiRoot,
  type Request as HoldpointRequest,
  type Output,
  pageSecretHeader,
  type Session,
  type Token,
} from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { openMemory, openPostgres } from '@holdpoint/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { approval, authHeaders, openSocket, readSse, request, secrets, type TestServer } from './test-server.ts'

/** A12 promises two seconds, on a machine that has time for the gateways. */
const promisedMs = 2000
/** How long the slowest request of the running test took before the revocation. It tells how busy the machine and its database are. */
let slowestMs = 0

interface Watch {
  /** Returns the time since the start, and how much of it is due to a busy machine: the timers of this process were late, or requests took long. */
  stop(): { readonly elapsedMs: number; readonly allowanceMs: number }
}
function startWatch(): Watch {
  const stepMs = 20
  const startedAt = performance.now()
  let lateMs = 0
  let tickedAt = startedAt
  const tick = () => {
    const now = performance.now()
    lateMs += Math.max(0, now - tickedAt - stepMs)
    tickedAt = now
  }
  const timer = setInterval(tick, stepMs).unref()
  // A revocation needs fewer than 10 replies of the database, whose processes are slow if this process is slow.
  const allowanceBeforeMs = 10 * slowestMs
  return {
    stop() {
      clearInterval(timer)
      tick()
      return { elapsedMs: performance.now() - startedAt, allowanceMs: allowanceBeforeMs + 3 * lateMs }
    },
  }
}

/** The stores of two gateways, and how to clean them up. The first gateway revokes, and the second has the streams. */
interface Stores {
  readonly stores: readonly [Store, Store]
  close(): Promise<void>
}
async function oneStore(): Promise<Stores> {
  const store = await openMemory()
  return { stores: [store, store], close: () => store.close() }
}
async function sharedDatabase(): Promise<Stores> {
  const { url, drop } = await freshDatabase()
  const stores = [await openPostgres({ url }), await openPostgres({ url })] as const
  return {
    stores,
    close: async () => {
      for (const store of stores) await store.close()
      await drop()
    },
  }
}
const setups: [string, () => Promise<Stores>][] = [['one gateway', oneStore]]
if (await hasPostgres()) setups.push(['two gateways on one PostgreSQL', sharedDatabase])

interface WatchedServer extends TestServer {
  /** How often the server has checked a credential, and how many operations it has started. */
  readonly counts: { authenticated: number; dispatched: number }
}

async function serve(store: Store): Promise<WatchedServer> {
  const gateway = await openGateway({ store })
  await gateway.ensureToken(secrets.person, 'owner', 'ada')
  await gateway.ensureToken(secrets.agent, 'agent', 'robot')
  const counts = { authenticated: 0, dispatched: 0 }
  const watched: Gateway = {
    ...gateway,
    authenticate: (...args) => gateway.authenticate(...args).finally(() => counts.authenticated++),
    dispatchUnparsed: (...args) => {
      counts.dispatched++
      return gateway.dispatchUnparsed(...args)
    },
  }
  const server = createServer({ gateway: watched, log: () => {} })
  const listening = await server.listen({ port: 0, host: '127.0.0.1' })
  return {
    ...listening,
    gateway,
    server,
    counts,
    async close() {
      await listening.close()
      await gateway.close()
    },
  }
}

describe.each(setups)('revoking a credential with %s', (_name, openStores) => {
  let opened: Stores
  /** The gateway that revokes. */
  let here: WatchedServer
  /** The gateway that the revoked credential uses. */
  let there: WatchedServer
  let bob: Token & { readonly secret: string }
  let asked: HoldpointRequest
  beforeAll(async () => {
    opened = await openStores()
    here = await serve(opened.stores[0])
    there = opened.stores[0] === opened.stores[1] ? here : await serve(opened.stores[1])
  })
  afterAll(async () => {
    for (const server of new Set([here, there])) await server.close()
    await opened.close()
  })
  beforeEach(async () => {
    slowestMs = 0
    bob = await send<typeof bob>(here, secrets.person, '/tokens', { role: 'person', name: 'bob' })
    const session = await send<Session>(here, secrets.agent, '/sessions', { driver: 'external' })
    const path = `/sessions/${session.id}/requests`
    asked = await send<HoldpointRequest>(here, secrets.agent, path, { key: 'k', ask: approval('k') })
  })
  const cleanUps: (() => void)[] = []
  afterEach(() => {
    for (const cleanUp of cleanUps.splice(0)) cleanUp()
  })

  async function send<T>(server: TestServer, secret: string, path: string, body: object): Promise<T> {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const sentAt = performance.now()
    const reply = await request(server, path, { method: 'POST', headers, body: JSON.stringify(body) })
    slowestMs = Math.max(slowestMs, performance.now() - sentAt)
    if (!reply.ok) throw new Error(await reply.text())
    return (await reply.json()) as T // each test names the output that the contract declares
  }
  async function revoke(id = bob.id): Promise<Watch> {
    const reply = await request(here, `/tokens/${id}`, { method: 'DELETE', headers: authHeaders('person') })
    expect(reply.status).toBe(200)
    return startWatch()
  }
  const bearer = () => ({ authorization: `Bearer ${bob.secret}` })
  const answer = (server = here) =>
    send<HoldpointRequest>(server, secrets.person, `/requests/${asked.id}/answer`, {
      digest: asked.digest,
      answer: { kind: 'allow' },
    })
  /** Opens an event stream. `ended` resolves with the types of its events once the stream has ended. */
  async function openStream(headers: Record<string, string>): Promise<{ readonly ended: Promise<readonly string[]> }> {
    const reply = await request(there, '/events', { headers })
    expect(reply.status).toBe(200)
    const events = readSse(reply)
    await events.next()
    const readToEnd = async () => {
      const types: string[] = []
      try {
        for await (const { data } of events) types.push(JSON.parse(data).event?.type)
      } catch {
        // The gateway destroyed the stream.
      }
      return types
    }
    return { ended: readToEnd() }
  }
  async function within(sinceRevoked: Watch, ended: Promise<unknown>, alreadyMs = 0): Promise<void> {
    await ended
    const { elapsedMs, allowanceMs } = sinceRevoked.stop()
    expect(elapsedMs - alreadyMs).toBeLessThan(promisedMs + allowanceMs)
  }

  it('A12: after a revocation, an event stream ends and contains no later event', async () => {
    const { ended } = await openStream(bearer())
    const sinceRevoked = await revoke()
    await answer()
    await within(sinceRevoked, ended)
    expect(await ended).not.toContain('request.resolved')
    expect(await ended).not.toContain('token.removed')
  })
  it('A12: after a revocation, a socket is closed, with and without a subscription', async () => {
    const idle = await openSocket(there, bearer())
    const subscribed = await openSocket(there, bearer())
    subscribed.send({ subscribe: {} })
    await subscribed.next(({ frame }) => frame === 'hello')
    const sinceRevoked = await revoke()
    await within(sinceRevoked, Promise.all([idle.closed, subscribed.closed]))
    expect(await idle.closed).toBe(1008)
  })
  it('A12: after a revocation, a long poll ends with 401 over HTTP and on a socket, and never returns an answer', async () => {
    const { id: agent, secret } = await send<Token & { secret: string }>(here, secrets.person, '/tokens', {
      role: 'agent',
      name: 'poller',
    })
    const owner = { driver: 'external', options: { agent } }
    const session = await send<Session>(here, secrets.person, '/sessions', owner)
    const path = `/sessions/${session.id}/requests`
    asked = await send<HoldpointRequest>(there, secret, path, { key: 'k', ask: approval('k') })
    const headers = { authorization: `Bearer ${secret}` }
    const before = there.counts.dispatched
    const poll = request(there, `/requests/${asked.id}?wait=30000`, { headers })
    const socket = await openSocket(there, headers)
    socket.send({ id: 1, op: 'getRequest', input: { id: asked.id, wait: 30_000 } })
    await expect.poll(() => there.counts.dispatched).toBe(before + 2)
    const sinceRevoked = await revoke(agent)
    await answer()
    const reply = await poll
    await within(sinceRevoked, socket.closed)
    expect([reply.status, await reply.text()]).toEqual([401, expect.not.stringContaining('allow')])
    expect((await Promise.race([socket.next(), socket.closed.then(() => null)]))?.status).not.toBe(200)
  })
  it('A12: after a revocation, an operation whose body is still being sent ends with 401', async () => {
    const upload = connect(there.port, '127.0.0.1')
    cleanUps.push(() => upload.destroy())
    const received = new Promise<string>(resolve => upload.once('data', chunk => resolve(chunk.toString())))
    const before = there.counts.authenticated
    upload.write(
      `POST ${apiRoot}/rules HTTP/1.1\r\nHost: 127.0.0.1:${there.port}\r\nAuthorization: Bearer ${bob.secret}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    await expect.poll(() => there.counts.authenticated).toBe(before + 1)
    const sinceRevoked = await revoke()
    await within(sinceRevoked, received)
    expect(await received).toMatch(/^HTTP\/1.1 401/)
  })
  it('A12: an answer that is sent after the revocation is refused, and the request stays pending', async () => {
    await revoke()
    const reply = await request(there, `/requests/${asked.id}/answer`, {
      method: 'POST',
      headers: { ...bearer(), 'content-type': 'application/json' },
      body: JSON.stringify({ digest: asked.digest, answer: { kind: 'allow' } }),
    })
    expect(reply.status).toBe(401)
    const pending = await request(here, `/requests/${asked.id}`, { headers: authHeaders('person') })
    expect(await pending.json()).toMatchObject({ status: 'pending' })
  })
  it('A12: revoking a credential also ends the streams of the credentials that it created', async () => {
    const cookie = await signIn(bob.secret)
    const { ended } = await openStream(cookie)
    await within(await revoke(), ended)
    expect((await request(there, '/me', { headers: cookie })).status).toBe(401)
  })
  it('A12: signing out ends the streams of that browser and replies with success', async () => {
    const [phone, laptop] = [await signIn(bob.secret), await signIn(bob.secret)]
    const { ended } = await openStream(phone)
    const reply = await request(here, '/sign-out', { method: 'POST', headers: phone })
    expect(reply.status).toBe(200)
    await within(startWatch(), ended)
    expect((await request(there, '/me', { headers: laptop })).status).toBe(200)
  })
  it('the streams of a credential end when the credential expires', async () => {
    const expiresAt = (await (await request(here, '/me', { headers: authHeaders('person') })).json()).now + 1000
    bob = await send<typeof bob>(here, secrets.person, '/tokens', { role: 'person', name: 'bob', expiresAt })
    const { ended } = await openStream(bearer())
    await within(startWatch(), ended, 1000)
  })

  /** Signs in with a link of this credential, and returns the headers of the browser. */
  async function signIn(secret: string): Promise<Record<string, string>> {
    const { code } = await send<Output<'makeLink'>>(here, secret, '/links', {})
    const reply = await request(here, '/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    const { pageSecret } = (await reply.json()) as Output<'signIn'> // the reply has the type that the contract declares
    const cookie = (reply.headers.get('set-cookie')?.split(';')[0] ?? '').replace(
      /^holdpoint_\d+/,
      `holdpoint_${there.port}`,
    )
    const own = cookie.replace(/^holdpoint_\d+/, `holdpoint_${here.port}`)
    return {
      cookie: `${cookie}${own === cookie ? '' : `; ${own}`}`,
      'sec-fetch-site': 'same-origin',
      [pageSecretHeader]: pageSecret,
    }
  }
})
