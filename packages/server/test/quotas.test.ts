/** Checks the limits per credential over the wire: sockets, connections, streams, long polls, operations, sizes, pings and unread replies. */
import { connect } from 'node:net'
import { apiRoot, type Request as HoldpointRequest, limits, quotas, type Session } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { LogLine } from '../src/http-message.ts'
import {
  approval,
  ask,
  attachRunner,
  authHeaders,
  handshake,
  openSession,
  openSocket,
  post,
  readSse,
  request,
  type SocketFrame,
  secrets,
  startTestServer,
  type TestServer,
} from './test-server.ts'

let gateway: TestServer
let lines: LogLine[]
beforeEach(async () => {
  lines = []
  gateway = await startTestServer({ log: line => lines.push(line) })
})
afterEach(async () => {
  vi.useRealTimers()
  await gateway.close()
})
const isReply = (id: unknown) => (frame: SocketFrame) => frame.frame === 'reply' && frame.id === id
const times = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)))
const message = (body: unknown) => (body as { error: { message: string } }).error.message // every error reply has this form

describe('one agent', () => {
  it('X9: one agent can open its share of sockets, and people can still connect', async () => {
    const open = () => openSocket(gateway, authHeaders('agent'))
    const sockets = await times(quotas.sockets.agent, open)
    expect(await handshake(gateway, authHeaders('agent'))).toBe(429)
    expect(await handshake(gateway, authHeaders('person'))).toBe(101)
    sockets[0]?.ws.terminate()
    await expect.poll(() => handshake(gateway, authHeaders('agent'))).toBe(101)
    for (const { ws } of sockets) ws.terminate()
  })

  it('F12: one agent can open its share of streams, and people can still open theirs', async () => {
    const session = await openSession(gateway)
    const open = (role: 'agent' | 'person') =>
      gateway.server.fetch(
        new Request(`http://localhost${apiRoot}/events?session=${session.id}`, { headers: authHeaders(role) }),
      )
    const replies = await times(quotas.subscriptions.agent, () => open('agent'))
    expect(new Set(replies.map(reply => reply.status))).toEqual(new Set([200]))
    const refused = await open('agent')
    expect(refused.status).toBe(429)
    expect(message(await refused.json())).toMatch(/limit of 100 open event streams. Close some streams/)
    expect((await open('person')).status).toBe(200)
    await replies[0]?.body?.cancel()
    expect((await open('agent')).status).toBe(200)
  })

  it('X9: one agent has a limited number of long polls on all its sockets together', async () => {
    const request = await ask(gateway, await openSession(gateway), 'k')
    const poll = { op: 'getRequest', input: { id: request.id, wait: limits.waitMaxMs } }
    const [one, two] = [
      await openSocket(gateway, authHeaders('agent')),
      await openSocket(gateway, authHeaders('agent')),
    ]
    for (let i = 0; i < quotas.longPolls.agent / 2; i++)
      for (const socket of [one, two]) socket.send({ id: i, ...poll })
    for (const socket of [one, two]) {
      socket.send({ id: 'barrier', op: 'whoAmI' })
      await socket.next(isReply('barrier'))
    }
    one.send({ id: 'more', ...poll })
    const refused = await one.next(isReply('more'))
    expect(refused.status).toBe(429)
    expect(message(refused.body)).toMatch(/limit of 500 waiting calls/)
    one.send({ id: 'now', op: 'getRequest', input: { id: request.id } })
    expect((await one.next(isReply('now'))).status).toBe(200)
    two.send({ cancel: 0 })
    await two.next(isReply(0))
    one.send({ id: 'again', ...poll })
    await post(gateway, 'person', `/requests/${request.id}/answer`, {
      digest: request.digest,
      answer: { kind: 'deny' },
    })
    expect((await one.next(isReply('again'))).status).toBe(200)
    for (const { ws } of [one, two]) ws.terminate()
  })

  it('F3: one agent has a limited number of operations in progress on its sockets', async () => {
    const request = await ask(gateway, await openSession(gateway), 'k')
    const socket = await openSocket(gateway, authHeaders('agent'))
    for (let i = 0; i <= quotas.operations.agent; i++)
      socket.send({ id: i, op: 'getRequest', input: { id: request.id, wait: limits.waitMaxMs } })
    expect((await socket.next(isReply(quotas.operations.agent))).status).toBe(429)
    socket.ws.terminate()
  })

  it('F12: one agent can write a limited number of bytes per minute', async () => {
    const session = await openSession(gateway)
    const text = 'x'.repeat(limits.textMax)
    const append = () =>
      post(gateway, 'agent', `/sessions/${session.id}/events`, {
        items: Array.from({ length: 3 }, () => ({ type: 'message.added', block: 'b', text })),
      })
    const startedAt = performance.now()
    let accepted = 0
    while ((await append()).status !== 429) accepted++
    expect(accepted).toBeGreaterThan(20)
    // The share grows again while the test runs.
    expect(accepted).toBeLessThan(30 * (1 + (performance.now() - startedAt) / 60_000))
    expect((await post(gateway, 'person', '/sessions', { driver: 'external' })).status).toBe(201)
    expect((await request(gateway, `/sessions/${session.id}`, { headers: authHeaders('agent') })).status).toBe(200)
  })

  it('F12: one agent can send a limited number of request bytes at the same time, and people can still answer', async () => {
    const session = await openSession(gateway)
    const pending = await ask(gateway, session, 'k')
    const head = (length: number) =>
      `POST ${apiRoot}/sessions/${session.id}/events HTTP/1.1\r\nHost: localhost:${gateway.port}\r\nAuthorization: Bearer ${secrets.agent}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`
    const upload = (length: number) =>
      new Promise<{ socket: ReturnType<typeof connect>; received: () => string }>(resolve => {
        let received = ''
        const socket = connect(gateway.port, '127.0.0.1', () => {
          socket.write(head(length), () => resolve({ socket, received: () => received }))
        })
        socket.on('data', chunk => {
          received += chunk
        })
      })
    const count = quotas.requestBytes.agent / limits.bodyMaxBytes
    const uploads = await times(count, () => upload(limits.bodyMaxBytes))
    await expect
      .poll(async () => (await post(gateway, 'agent', `/sessions/${session.id}/events`, { items: [] })).status)
      .toBe(429)
    const answered = await post(gateway, 'person', `/requests/${pending.id}/answer`, {
      digest: pending.digest,
      answer: { kind: 'deny' },
    })
    expect(answered.status).toBe(200)
    expect(uploads.every(({ received }) => received() === '')).toBe(true)
    for (const { socket } of uploads) socket.destroy()
    await expect
      .poll(async () => (await post(gateway, 'agent', `/sessions/${session.id}/events`, { items: [] })).status)
      .toBe(400)
  })
})

describe('a runner', () => {
  it('a runner can wait for thousands of requests on one socket', async () => {
    const { id: session, fence } = await attachRunner(gateway)
    const asked = await post(gateway, 'runner', `/sessions/${session}/requests`, {
      key: 'k',
      ask: approval('k'),
      fence,
    })
    const opened = (await asked.json()) as HoldpointRequest // the reply has the type that the contract declares
    const socket = await openSocket(gateway, authHeaders('runner'))
    const count = 8000
    for (let i = 0; i < count; i++)
      socket.send({ id: i, op: 'getRequest', input: { id: opened.id, wait: limits.waitMaxMs } })
    socket.send({ id: 'now', op: 'whoAmI' })
    expect((await socket.next(isReply('now'))).status).toBe(200)
    await post(gateway, 'person', `/requests/${opened.id}/answer`, { digest: opened.digest, answer: { kind: 'deny' } })
    for (let i = 0; i < count; i++) expect((await socket.next()).status).toBe(200)
    socket.ws.terminate()
  })
})

describe('an operation without a credential', () => {
  it('F4: an operation without a credential accepts only a small body', async () => {
    const signIn = (code: string) =>
      request(gateway, '/sign-in', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      })
    expect((await signIn('x'.repeat(limits.publicBodyMaxBytes))).status).toBe(413)
    expect((await signIn('x')).status).toBe(401)
  })
})

describe('a socket', () => {
  /** Opens requests that together fill a snapshot. */
  async function openLargeRequests(): Promise<Session> {
    const session = await openSession(gateway)
    for (let i = 0; i < 17; i++) await ask(gateway, session, `k${i}`, approval('large', { text: 'x'.repeat(240_000) }))
    return session
  }

  it('F3: a socket that subscribes again and again gets the snapshot for its last subscribe frame', async () => {
    const session = await openLargeRequests()
    const socket = await openSocket(gateway, authHeaders('agent'))
    for (let i = 0; i < 2000; i++) socket.send({ subscribe: { session: session.id } })
    socket.send({ id: 'after', op: 'whoAmI' })
    let hellos = 0
    for (let frame = await socket.next(); frame.id !== 'after'; frame = await socket.next()) hellos++
    await socket.next(frame => frame.frame === 'hello')
    expect(hellos).toBeLessThan(20)
    await post(gateway, 'agent', `/sessions/${session.id}/events`, {
      items: [{ type: 'message.added', block: 'b', text: 'once' }],
    })
    const isMessage = (frame: SocketFrame) => frame.event?.type === 'message.added'
    await socket.next(isMessage)
    socket.send({ id: 'end', op: 'whoAmI' })
    expect(isMessage(await socket.next(frame => isMessage(frame) || frame.id === 'end'))).toBe(false)
    socket.ws.terminate()
  })

  it('F3: a socket that sends many calls and reads no replies does not fill the memory', async () => {
    const session = await openLargeRequests()
    const socket = await openSocket(gateway, authHeaders('agent'))
    socket.ws.pause()
    const calls = 60
    const before = process.memoryUsage().rss
    for (let i = 0; i < calls; i++) socket.send({ id: i, op: 'listRequests', input: { session: session.id } })
    for (let i = 0; i < 50; i++) await request(gateway, '/me', { headers: authHeaders('person') })
    // One page of this session is a few mebibytes, and the replies to all calls are 240.
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
    socket.ws.resume()
    const statuses = []
    for (let i = 0; i < calls; i++) statuses.push((await socket.next()).status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    socket.ws.terminate()
  })

  it('F3: the server does not read from a socket while `queuedRepliesMax` replies are unread, and continues later', async () => {
    const crashPoints: string[] = []
    const own = await startTestServer({ crashPoint: point => crashPoints.push(point) })
    const session = await openSession(own)
    for (let i = 0; i < 17; i++) await ask(own, session, `k${i}`, approval('large', { text: 'x'.repeat(240_000) }))
    const socket = await openSocket(own, authHeaders('agent'))
    socket.ws.pause()
    // The pages fill the buffers of the kernel, so that the replies after them stay in the queue.
    const pages = 6
    for (let i = 0; i < pages; i++) socket.send({ id: i, op: 'listRequests', input: { session: session.id } })
    const replied = (op: string) => crashPoints.filter(point => point === `replying:${op}`).length
    const otherCall = () => request(own, '/drivers', { headers: authHeaders('person') })
    while (replied('listRequests') < pages) await otherCall()
    for (let i = 0; i < 5000; i++) socket.send({ id: `wrong ${i}`, op: 'unknown' })
    socket.send({ id: 'late', op: 'whoAmI' })
    for (let i = 0; i < 20; i++) await otherCall()
    expect(replied('whoAmI')).toBe(0)
    socket.ws.resume()
    expect((await socket.next(isReply('late'))).status).toBe(200)
    socket.ws.terminate()
    await own.close()
  })

  it('X7: a socket that sends a few pings gets pongs, and a socket that sends a flood of pings is disconnected', async () => {
    const { ws } = await openSocket(gateway, authHeaders('agent'))
    const pong = new Promise(resolve => ws.once('pong', data => resolve(String(data))))
    ws.ping('hello')
    expect(await pong).toBe('hello')
    const closed = new Promise(resolve => ws.once('close', resolve))
    for (let i = 0; i <= limits.pingsMax; i++) ws.ping()
    await closed
    expect(lines).toEqual([{ disconnected: 'robot', reason: 'the client sent more than 1000 pings' }])
  })

  it.each([['fragments', limits.messageFragmentsMax]])(
    'X7: a socket that sends a message in more than the allowed number of %s is closed',
    async (_name, max) => {
      const send = async (count: number) => {
        const { ws } = await openSocket(gateway)
        const text = JSON.stringify({ id: 1, op: 'whoAmI' }).padEnd(count, ' ')
        const outcome = new Promise(resolve => {
          ws.once('close', resolve)
          ws.once('message', () => resolve('reply'))
        })
        for (let i = 0; i < count; i++) ws.send(text[i] as string, { fin: i === count - 1 }) // the text has `count` characters
        return outcome.finally(() => ws.terminate())
      }
      expect(await send(max)).toBe('reply')
      expect(await send(max + 1)).toBe(1008)
    },
  )
})

describe('a client that stops reading', () => {
  it('F12: a client that stops reading loses its event stream after `unreadMaxMs`, and other streams continue', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const own = await startTestServer({ log: line => lines.push(line) })
    const session = await openSession(own)
    for (let i = 0; i < 17; i++) await ask(own, session, `k${i}`, approval('large', { text: 'x'.repeat(240_000) }))
    const open = () => {
      const socket = connect(own.port, '127.0.0.1')
      socket.write(
        `GET ${apiRoot}/events?session=${session.id} HTTP/1.1\r\nHost: localhost:${own.port}\r\nAuthorization: Bearer ${secrets.agent}\r\n\r\n`,
      )
      return socket
    }
    const slow = open()
    await new Promise(resolve => slow.once('data', resolve))
    slow.pause()
    const reader = await request(own, `/events?session=${session.id}`, { headers: authHeaders('agent') })
    const events = readSse(reader)
    await events.next()
    // Together with the snapshot, this is more than the buffers of the kernel hold, and less than a client may leave unread.
    for (let i = 0; i < 16; i++) {
      const items = [{ type: 'message.added', block: `b${i}`, text: 'x'.repeat(240_000) }]
      await post(own, 'agent', `/sessions/${session.id}/events`, { items })
      await events.next()
    }
    const closed = new Promise(resolve => slow.once('close', resolve))
    for (let ms = 0; ms <= 2 * limits.unreadMaxMs && lines.length === 0; ms += limits.unreadMaxMs / 2) {
      vi.advanceTimersByTime(limits.unreadMaxMs / 2)
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(lines).toEqual([{ disconnected: 'an HTTP client', reason: 'the client read nothing for 30000 ms' }])
    slow.resume()
    await closed
    await post(own, 'agent', `/sessions/${session.id}/events`, {
      items: [{ type: 'message.added', block: 'b', text: 'still here' }],
    })
    expect((await events.next()).value?.data).toContain('still here')
    await events.return()
    await own.close()
  })
})

it('a socket of a person works while an agent has used up its slots', async () => {
  const session = await openSession(gateway)
  for (let i = 0; i < 17; i++) await ask(gateway, session, `k${i}`, approval('large', { text: 'x'.repeat(240_000) }))
  const greedy = new WebSocket(`ws://127.0.0.1:${gateway.port}${apiRoot}/socket`, { headers: authHeaders('agent') })
  await new Promise(resolve => greedy.once('open', resolve))
  greedy.pause()
  for (let i = 0; i < 100; i++)
    greedy.send(JSON.stringify({ id: i, op: 'listRequests', input: { session: session.id } }))
  const socket = await openSocket(gateway)
  socket.send({ subscribe: {} })
  await socket.next(frame => frame.frame === 'hello')
  socket.send({ id: 1, op: 'listRequests', input: {} })
  expect((await socket.next(isReply(1))).status).toBe(200)
  greedy.terminate()
  socket.ws.terminate()
})
