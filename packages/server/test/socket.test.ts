import { limits, type Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  type Heard,
  headersOf,
  openSession,
  openSocket,
  post,
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

const reply = (id: unknown) => (frame: Heard) => frame.frame === 'reply' && frame.id === id

describe('the socket', () => {
  it('runs operations, each under its id, with the statuses and faults of HTTP', async () => {
    const socket = await openSocket(gateway)
    socket.send({ id: 1, op: 'whoAmI', input: {} })
    expect(await socket.next(reply(1))).toMatchObject({ status: 200, body: { person: 'ada', role: 'person' } })
    socket.send({ id: 'two', op: 'makeLink' })
    expect(await socket.next(reply('two'))).toMatchObject({ status: 201 })
    socket.send({ id: 3, op: 'getSession', input: { id: 'nonsense' } })
    expect(await socket.next(reply(3))).toMatchObject({ status: 400, body: { error: { code: 'bad_input' } } })
    socket.send({ id: 4, op: 'announceRunner', input: {} })
    expect(await socket.next(reply(4))).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
    socket.ws.close()
  })
  it('keeps a repeated operation with one key one', async () => {
    const socket = await openSocket(gateway, headersOf('agent'))
    const start = { op: 'startSession', input: { driver: 'external' }, idempotencyKey: 'once' }
    socket.send({ id: 1, ...start })
    const first = await socket.next(reply(1))
    socket.send({ id: 2, ...start })
    expect((await socket.next(reply(2))).body).toEqual(first.body)
    socket.send({ id: 3, ...start, idempotencyKey: 'with blank' })
    expect(await socket.next(reply(3))).toMatchObject({ body: { error: { code: 'bad_input' } } })
    socket.ws.close()
  })
  it('answers a malformed frame with a fault and lives on', async () => {
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
      '{"subscribe":{"unheardOf":1}}',
    ] as const) {
      socket.send(frame)
      expect(await socket.next(), frame).toMatchObject({ frame: 'reply', id: null, status: 400 })
    }
    socket.ws.send(Buffer.from('{"id":1,"op":"whoAmI"}'))
    expect(await socket.next()).toMatchObject({ id: null, status: 400 })
    for (const [op, status] of [
      ['toString', 404],
      ['unheardOf', 404],
      ['signIn', 422],
    ] as const) {
      socket.send({ id: op, op, input: {} })
      expect((await socket.next(reply(op))).status, op).toBe(status)
    }
    socket.send({ id: 9, op: 'whoAmI', input: {}, unheardOf: 1 })
    expect((await socket.next(reply(9))).status).toBe(400)
    socket.ws.close()
  })
  it('streams the same frames as SSE, once it is asked to', async () => {
    const socket = await openSocket(gateway)
    socket.send({ subscribe: { session: session.id } })
    const hello = await socket.next(frame => frame.frame === 'hello')
    const asked = await ask(gateway, session, 'over the socket')
    const opened = await socket.next(frame => frame.event?.type === 'request.opened')
    expect(opened.event?.value).toEqual(asked)
    socket.send({ subscribe: { after: hello.hello?.cursor, session: session.id } })
    expect((await socket.next(frame => frame.frame === 'hello')).hello?.resume).toBe('ok')
    expect((await socket.next(frame => frame.event?.type === 'request.opened')).event).toEqual(opened.event)
    await ask(gateway, session, 'after the second watch')
    await socket.next(frame => frame.event?.type === 'request.opened')
    socket.send({ id: 1, op: 'whoAmI' })
    expect((await socket.next()).frame).toBe('reply')
    socket.ws.close()
  })
  it('lets a long poll be cancelled, and an answer end it', async () => {
    const socket = await openSocket(gateway, headersOf('agent'))
    const asked = await ask(gateway, session, 'polled')
    socket.send({ id: 1, op: 'getRequest', input: { id: asked.id, wait: limits.waitMaxMs } })
    socket.send({ id: 2, op: 'getRequest', input: { id: asked.id, wait: limits.waitMaxMs } })
    socket.send({ id: 3, op: 'whoAmI' })
    await socket.next(reply(3))
    socket.send({ cancel: 1 })
    expect(await socket.next(reply(1))).toMatchObject({ status: 503 })
    await post(gateway, 'person', `/requests/${asked.id}/answer`, { digest: asked.digest, answer: { kind: 'deny' } })
    expect(await socket.next(reply(2))).toMatchObject({ status: 200, body: { status: 'resolved' } })
    socket.ws.close()
  })
  it('closes on a frame over the limit, on invalid UTF-8 and on an unmasked frame (X7)', async () => {
    const large = await openSocket(gateway)
    large.send('x'.repeat(limits.inboundFrameMaxBytes + 1))
    expect(await large.closed).toBe(1009)
    const edge = await openSocket(gateway)
    edge.send(JSON.stringify({ id: 1, op: 'whoAmI', input: {} }).padEnd(limits.inboundFrameMaxBytes, ' '))
    expect((await edge.next(reply(1))).status).toBe(200)
    edge.ws.send(Buffer.from([0xff, 0xfe]), { binary: false })
    expect(await edge.closed).toBe(1007)
    const unmasked = await openSocket(gateway)
    unmasked.ws.send('{}', { mask: false })
    expect(await unmasked.closed).toBe(1002)
  })
  it('takes so many operations at a time and no more', async () => {
    const socket = await openSocket(gateway, headersOf('agent'))
    const asked = await ask(gateway, session, 'crowded')
    for (let id = 0; id <= limits.socketInFlightMax; id++)
      socket.send({ id, op: 'getRequest', input: { id: asked.id, wait: limits.waitMaxMs } })
    expect(await socket.next()).toMatchObject({ id: limits.socketInFlightMax, status: 429 })
    socket.send({ cancel: 0 })
    await socket.next(reply(0))
    socket.send({ id: 'again', op: 'whoAmI' })
    expect((await socket.next(reply('again'))).status).toBe(200)
    socket.ws.terminate()
  })
  it('stops obeying a credential that was revoked', async () => {
    const made = await post(gateway, 'person', '/tokens', { role: 'person', name: 'bob' })
    const { id, secret } = (await made.json()) as { id: string; secret: string }
    const socket = await openSocket(gateway, { authorization: `Bearer ${secret}` })
    socket.send({ id: 1, op: 'whoAmI' })
    expect((await socket.next(reply(1))).status).toBe(200)
    const socketOfAda = await openSocket(gateway)
    socketOfAda.send({ id: 1, op: 'removeToken', input: { id } })
    expect((await socketOfAda.next(reply(1))).status).toBe(200)
    socket.send({ id: 2, op: 'whoAmI' })
    expect((await socket.next(reply(2))).status).toBe(401)
    socket.ws.close()
    socketOfAda.ws.close()
  })
  it('tells long polls that the gateway closes, then closes', async () => {
    const leaving = await startTestServer()
    const asked = await ask(leaving, await openSession(leaving), 'k')
    const socket = await openSocket(leaving, headersOf('agent'))
    socket.send({ id: 1, op: 'getRequest', input: { id: asked.id, wait: limits.waitMaxMs } })
    socket.send({ id: 2, op: 'whoAmI' })
    await socket.next(reply(2))
    const closed = leaving.close()
    expect(await socket.next(reply(1))).toMatchObject({ status: 503, body: { error: { code: 'draining' } } })
    expect(await socket.closed).toBe(1001)
    await closed
  })
})
