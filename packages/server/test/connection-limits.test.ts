/** Checks the limits on connections: unreadable requests, slow requests, too many connections and clients that stop responding. */
import { connect } from 'node:net'
import { apiRoot, limits } from '@holdpoint/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { LogLine } from '../src/http-message.ts'
import { authHeaders, openSocket, request, secrets, sendRaw, startTestServer, type TestServer } from './test-server.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closers.splice(0)) await close()
})
async function open(options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  const gateway = await startTestServer(options)
  closers.push(() => gateway.close())
  return gateway
}

interface ParsedReply {
  readonly status: number
  readonly code: string
  readonly hasSecurityHeaders: boolean
}
function parseReply(text: string): ParsedReply {
  const [head = '', body = '{}'] = text.split('\r\n\r\n')
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
    code: JSON.parse(body).error?.code,
    hasSecurityHeaders:
      /x-content-type-options: nosniff/i.test(head) && /content-security-policy: default-src 'none'/i.test(head),
  }
}
const timeouts = { headersTimeoutMs: 200, bodyTimeoutMs: 400 }
const headers = ({ port }: TestServer, ...lines: string[]) =>
  [`Host: localhost:${port}`, `Authorization: Bearer ${secrets.person}`, ...lines].join('\r\n')

describe('a request with many headers', () => {
  const send = async (count: number, last: (port: number) => string) => {
    const { port } = await open()
    const filler = Array.from({ length: count - 4 }, () => 'a:').join('\r\n')
    const text = `GET ${apiRoot}/me HTTP/1.1\r\n${headers({ port } as TestServer)}\r\nConnection: close\r\n${filler}\r\n${last(port)}\r\n\r\n`
    return parseReply(await sendRaw(port, text)).status
  }
  it('F20: a request with `headersMax` headers is accepted, and a request with more headers is refused', async () => {
    expect(await send(limits.headersMax, port => `Origin: http://localhost:${port}`)).toBe(200)
    expect(await send(limits.headersMax + 1, port => `Origin: http://localhost:${port}`)).toBe(431)
  })
  it('F20: a request cannot hide an Origin header behind 2000 other headers', async () => {
    expect(await send(5, () => 'Origin: http://evil.test')).toBe(403)
    expect(await send(2100, () => 'Origin: http://evil.test')).toBe(431)
  })
})

describe('an unreadable request', () => {
  it.each([
    ['is not HTTP', 'nonsense\r\n\r\n', 400, 'bad_input'],
    ['has no Host header', `GET ${apiRoot}/me HTTP/1.1\r\nConnection: close\r\n\r\n`, 400, 'bad_input'],
    ['has two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400, 'bad_input'],
    ['has headers that are too long', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    [
      'is an incomplete handshake',
      `GET ${apiRoot}/socket HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer ${secrets.person}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      400,
      'bad_input',
    ],
    [
      'has an unknown Expect header',
      'GET /nothing HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nExpect: x\r\n\r\n',
      404,
      'not_found',
    ],
  ])('an unreadable request gets a fault with the security headers if it %s', async (_name, bytes, status, code) => {
    const { port } = await open()
    expect(parseReply(await sendRaw(port, bytes.replace('HOST', `localhost:${port}`)))).toEqual({
      status,
      code,
      hasSecurityHeaders: true,
    })
  })
  /** Sends a valid request, then garbage as soon as the reply begins. */
  function sendThenGarbage(gateway: TestServer, path: string): Promise<string> {
    return new Promise(resolve => {
      const socket = connect(gateway.port, '127.0.0.1')
      let text = ''
      socket.write(`GET ${path} HTTP/1.1\r\n${headers(gateway)}\r\n\r\n`)
      socket.once('data', () => socket.write('nonsense\r\n\r\n'))
      socket.on('data', chunk => {
        text += chunk.toString('latin1')
      })
      socket.on('error', () => {}).on('close', () => resolve(text))
    })
  }
  it('an unreadable request gets a fault after an earlier reply on the same connection', async () => {
    const text = await sendThenGarbage(await open(), '/healthz')
    expect(text).toContain('"ok":true')
    expect(parseReply(text.slice(text.indexOf('HTTP/1.1 400')))).toEqual({
      status: 400,
      code: 'bad_input',
      hasSecurityHeaders: true,
    })
  })
  it('an unreadable request gets no fault in the middle of a stream', async () => {
    const text = await sendThenGarbage(await open(), `${apiRoot}/events`)
    expect(text).toContain('"frame":"hello"')
    expect(text).not.toContain('bad_input')
  })
})

describe('a request that arrives too slowly', () => {
  it('a request that arrives too slowly gets the fault `too_slow` if its headers stay incomplete', async () => {
    const gateway = await open({ connectionLimits: timeouts })
    const text = await sendRaw(gateway.port, 'GET / HTTP/1.1\r\nHost: loc')
    expect(parseReply(text)).toEqual({ status: 408, code: 'too_slow', hasSecurityHeaders: true })
  })
  it('a request that arrives too slowly gets the fault `too_slow` if its body stays incomplete', async () => {
    const gateway = await open({ connectionLimits: timeouts })
    const lines = headers(gateway, 'Content-Type: application/json', 'Content-Length: 100')
    const text = await sendRaw(gateway.port, `POST ${apiRoot}/links HTTP/1.1\r\n${lines}\r\n\r\n{`)
    expect(parseReply(text)).toEqual({ status: 408, code: 'too_slow', hasSecurityHeaders: true })
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })
})

describe('a connection beyond `connectionsMax`', () => {
  const connectTo = (gateway: TestServer, text: string) =>
    new Promise<ReturnType<typeof connect>>((resolve, reject) => {
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write(text))
      socket.once('error', reject)
      socket.once('data', () => resolve(socket))
    })
  const closed = (socket: ReturnType<typeof connect>) => new Promise(resolve => socket.resume().once('close', resolve))

  it('X9: a new connection beyond the limit replaces the connection that has been unused longest', async () => {
    const gateway = await open({ connectionLimits: { connectionsMax: 2 } })
    const unused = () => connectTo(gateway, `GET /healthz HTTP/1.1\r\n${headers(gateway)}\r\n\r\n`)
    const [one, two] = [await unused(), await unused()]
    const firstClosed = closed(one)
    const three = await unused()
    await firstClosed
    expect([two.destroyed, three.destroyed]).toEqual([false, false])
    for (const socket of [two, three]) socket.destroy()
  })
  it('X9: a new connection beyond the limit replaces no stream or socket of a credential, and is closed if all connections are streams and sockets of credentials', async () => {
    const gateway = await open({ connectionLimits: { connectionsMax: 2 } })
    const stream = await connectTo(gateway, `GET ${apiRoot}/events HTTP/1.1\r\n${headers(gateway)}\r\n\r\n`)
    const socket = await openSocket(gateway)
    expect(await sendRaw(gateway.port).catch(() => '')).toBe('')
    socket.send({ id: 1, op: 'whoAmI' })
    expect((await socket.next(frame => frame.id === 1)).status).toBe(200)
    const streamClosed = closed(stream)
    stream.destroy()
    await streamClosed
    await expect.poll(async () => (await fetch(`${gateway.url}/healthz`).catch(() => null))?.status).toBe(200)
    socket.ws.terminate()
  })
})

describe('a client that stops responding', () => {
  function connectWithoutPong(gateway: TestServer): Promise<WebSocket> {
    return new Promise((resolve, reject) => {
      const url = `ws://127.0.0.1:${gateway.port}${apiRoot}/socket`
      const ws = new WebSocket(url, { headers: authHeaders('runner'), autoPong: false })
      ws.on('open', () => resolve(ws)).on('error', reject)
    })
  }

  it('a client that stops responding is disconnected with a logged reason at the heartbeat after an unanswered ping', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const lines: LogLine[] = []
    const gateway = await open({ log: line => lines.push(line) })
    const ws = await connectWithoutPong(gateway)
    const closed = new Promise(resolve => ws.on('close', resolve))
    const pinged = new Promise(resolve => ws.once('ping', resolve))
    vi.advanceTimersByTime(limits.heartbeatMs)
    await pinged
    expect(lines).toEqual([])
    vi.advanceTimersByTime(limits.heartbeatMs)
    await closed
    expect(lines).toEqual([
      { disconnected: 'test-runner', reason: 'the client read nothing and did not answer a ping' },
    ])
  })
  it('a client that stops responding does not keep the gateway from closing', async () => {
    const gateway = await startTestServer({ connectionLimits: { drainMaxMs: 300 } })
    const ws = await connectWithoutPong(gateway)
    ws.pause()
    const abort = new AbortController()
    await request(gateway, '/events', { headers: authHeaders('person'), signal: abort.signal })
    await gateway.close()
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow()
    ws.terminate()
    abort.abort()
  })
})
