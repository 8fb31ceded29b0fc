/** Checks the WebSocket: operations, subscriptions, limits and closing. */
import { limits, type Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  authHeaders,
  openSession,
  openSocket,
  post,
  type SocketFrame,
  startTestServer,
  type TestServer,
} from './test-server.ts'

let gateway: TestServer
let session: Session
beforeAll(async () => {
  gateway = await startTestServer()
  session = await openSession(gateway)
})
afterAll(() => gateway.close())

const isReply = (id: unknown) => (frame: SocketFrame) => frame.frame === 'reply' && frame.id === id

describe('a socket', () => {
  it('a socket runs operations and replies with their ids, and with the same statuses and faults as HTTP', async () => {
    const socket = await openSocket(gateway)
    socket.send({ id: 1, op: 'whoAmI', input: {} })
    expect(await socket.next(isReply(1))).toMatchObject({ status: 200, body: { person: 'ada', role: 'owner' } })
    socket.send({ id: 'two', op: 'makeLink' })
    expect(await socket.next(isReply('two'))).toMatchObject({ status: 201 })
    socket.send({ id: 3, op: 'getSession', input: { id: 'nonsense' } })
    expect(await socket.next(isReply(3))).toMatchObject({ status: 400, body: { error: { code: 'bad_input' } } })
    socket.send({ id: 4, op: 'announceRunner', input: {} })
    expect(await socket.next(isReply(4))).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
    socket.ws.close()
  })
  it('a socket runs an operation once if it is repeated with the same idempotency key', async () => {
    const socket = await openSocket(gateway, authHeaders('agent'))
    const start = { op: 'startSession', input: { driver: 'external' }, idempotencyKey: 'once' }
    socket.send({ id: 1, ...start })
    const first = await socket.next(isReply(1))
    socket.send({ id: 2, ...start })
    expect((await socket.next(isReply(2))).body).toEqual(first.body)
    socket.send({ id: 3, ...start, idempotencyKey: 'with blank' })
    expect(await socket.next(isReply(3))).toMatchObject({ body: { error: { code: 'bad_input' } } })
    socket.ws.close()
  })
  it('a socket replies to a malformed frame with a fault and stays open', async () => {
    const socket = await openSocket(gateway)
    for (const frame of [
      '{',
      '[]',
      'null',
      '1',
      '{}',
      '{"id":{},"op":"whoAmI"}',
      '{"id":1,"id":2,"op":"whoAmI"}',
      '{"subscribe":1}',
      '{"subscribe":{"unknownField":1}}',
    ] as const) {
      socket.send(frame)
      expect(await socket.next(), frame).toMatchObject({ frame: 'reply', id: null, status: 400 })
    }
    socket.ws.send(Buffer.from('{"id":1,"op":"whoAmI"}'))
    expect(await socket.next()).toMatchObject({ id: null, status: 400 })
    for (const [op, status] of [
      ['toString', 404],
      ['unknownField', 404],
      ['signIn', 422],
    ] as const) {
      socket.send({ id: op, op, input: {} })
      expect((await socket.next(isReply(op))).status, op).toBe(status)
    }
    socket.send({ id: 9, op: 'whoAmI', input: {}, unknownField: 1 })
    expect((await socket.next(isReply(9))).status).toBe(400)
    socket.ws.close()
  })
  it('a socket streams the same frames as SSE after a subscribe frame', async () => {
    const socket = await openSocket(gateway)
    socket.send({ subscribe: { session: session.id } })
    const hello = await socket.next(frame => frame.frame === 'hello')
    const request = await ask(gateway, session, 'over the socket')
    const opened = await socket.next(frame => frame.event?.type === 'request.opened')
    expect(opened.event?.value).toEqual(request)
    socket.send({ subscribe: { after: hello.hello?.cursor, session: session.id } })
    expect((await socket.next(frame => frame.frame === 'hello')).hello?.resume).toBe('ok')
    expect((await socket.next(frame => frame.event?.type === 'request.opened')).event).toEqual(opened.event)
    await ask(gateway, session, 'after the second subscribe')
    await socket.next(frame => frame.event?.type === 'request.opened')
    socket.send({ id: 1, op: 'whoAmI' })
    expect((await socket.next()).frame).toBe('reply')
    socket.ws.close()
  })
  it('a socket ends a long poll after a cancel frame or an answer', async () => {
    const socket = await openSocket(gateway, authHeaders('agent'))
    const opened = await ask(gateway, session, 'polled')
    socket.send({ id: 1, op: 'getRequest', input: { id: opened.id, wait: limits.waitMaxMs } })
    socket.send({ id: 2, op: 'getRequest', input: { id: opened.id, wait: limits.waitMaxMs } })
    socket.send({ id: 3, op: 'whoAmI' })
    await socket.next(isReply(3))
    socket.send({ cancel: 1 })
    expect(await socket.next(isReply(1))).toMatchObject({ status: 503 })
    await post(gateway, 'person', `/requests/${opened.id}/answer`, { digest: opened.digest, answer: { kind: 'deny' } })
    expect(await socket.next(isReply(2))).toMatchObject({ status: 200, body: { status: 'resolved' } })
    socket.ws.close()
  })
  it('a socket is closed after a frame over the limit, invalid UTF-8 or an unmasked frame (X7)', async () => {
    const large = await openSocket(gateway)
    large.send('x'.repeat(limits.inboundFrameMaxBytes + 1))
    expect(await large.closed).toBe(1009)
    const edge = await openSocket(gateway)
    edge.send(JSON.stringify({ id: 1, op: 'whoAmI', input: {} }).padEnd(limits.inboundFrameMaxBytes, ' '))
    expect((await edge.next(isReply(1))).status).toBe(200)
    edge.ws.send(Buffer.from([0xff, 0xfe]), { binary: false })
    expect(await edge.closed).toBe(1007)
    const unmasked = await openSocket(gateway)
    unmasked.ws.send('{}', { mask: false })
    expect(await unmasked.closed).toBe(1002)
  })
  it('a socket is closed when its credential is revoked, and sends no reply to a later operation', async () => {
    const made = await post(gateway, 'person', '/tokens', { role: 'person', name: 'bob' })
    const { id, secret } = (await made.json()) as { id: string; secret: string }
    const socket = await openSocket(gateway, { authorization: `Bearer ${secret}` })
    socket.send({ id: 1, op: 'whoAmI' })
    expect((await socket.next(isReply(1))).status).toBe(200)
    const adminSocket = await openSocket(gateway)
    adminSocket.send({ id: 1, op: 'removeToken', input: { id } })
    expect((await adminSocket.next(isReply(1))).status).toBe(200)
    socket.send({ id: 2, op: 'whoAmI' })
    expect(await Promise.race([socket.next(isReply(2)), socket.closed])).toBe(1008)
    adminSocket.ws.close()
  })
  it('a socket ends long polls with the fault `draining` before the gateway closes the socket', async () => {
    const closingServer = await startTestServer()
    const opened = await ask(closingServer, await openSession(closingServer), 'k')
    const socket = await openSocket(closingServer, authHeaders('agent'))
    socket.send({ id: 1, op: 'getRequest', input: { id: opened.id, wait: limits.waitMaxMs } })
    socket.send({ id: 2, op: 'whoAmI' })
    await socket.next(isReply(2))
    const closed = closingServer.close()
    expect(await socket.next(isReply(1))).toMatchObject({ status: 503, body: { error: { code: 'draining' } } })
    expect(await socket.closed).toBe(1001)
    await closed
  })
})
