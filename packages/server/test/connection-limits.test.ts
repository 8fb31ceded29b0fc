/** Connections at their edges: what cannot be read, comes too slowly, is one too many, or does not answer any more. */
import { connect } from 'node:net'
import { apiRoot, limits } from '@holdpoint/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { LogLine } from '../src/http-message.ts'
import { headersOf, raw, request, secrets, startTestServer, type TestServer } from './test-server.ts'

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

interface Heard {
  readonly status: number
  readonly code: string
  readonly sealed: boolean
}
function heard(text: string): Heard {
  const [head = '', body = '{}'] = text.split('\r\n\r\n')
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
    code: JSON.parse(body).error?.code,
    sealed: /x-content-type-options: nosniff/i.test(head) && /content-security-policy: default-src 'none'/i.test(head),
  }
}
const edges = { headersTimeoutMs: 200, bodyTimeoutMs: 400 }
const head = ({ port }: TestServer, ...lines: string[]) =>
  [`Host: localhost:${port}`, `Authorization: Bearer ${secrets.person}`, ...lines].join('\r\n')

describe('a request that cannot be read', () => {
  it.each([
    ['no HTTP', 'nonsense\r\n\r\n', 400, 'bad_input'],
    ['no Host', `GET ${apiRoot}/me HTTP/1.1\r\nConnection: close\r\n\r\n`, 400, 'bad_input'],
    ['two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400, 'bad_input'],
    ['long headers', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    [
      'no handshake',
      `GET ${apiRoot}/socket HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer ${secrets.person}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      400,
      'bad_input',
    ],
    [
      'an expectation',
      'GET /nothing HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nExpect: x\r\n\r\n',
      404,
      'not_found',
    ],
  ])('gets a fault under the same headers as every reply: %s', async (_name, bytes, status, code) => {
    const { port } = await open()
    expect(heard(await raw(port, bytes.replace('HOST', `localhost:${port}`)))).toEqual({ status, code, sealed: true })
  })
  /** Nonsense that follows as soon as something has been heard. */
  function interrupted(gateway: TestServer, path: string): Promise<string> {
    return new Promise(resolve => {
      const socket = connect(gateway.port, '127.0.0.1')
      let text = ''
      socket.write(`GET ${path} HTTP/1.1\r\n${head(gateway)}\r\n\r\n`)
      socket.once('data', () => socket.write('nonsense\r\n\r\n'))
      socket.on('data', chunk => {
        text += chunk.toString('latin1')
      })
      socket.on('error', () => {}).on('close', () => resolve(text))
    })
  }
  it('gets one on a connection that has been answered before', async () => {
    const said = await interrupted(await open(), '/healthz')
    expect(said).toContain('"ok":true')
    expect(heard(said.slice(said.indexOf('HTTP/1.1 400')))).toEqual({ status: 400, code: 'bad_input', sealed: true })
  })
  it('does not get one into the middle of a stream', async () => {
    const said = await interrupted(await open(), `${apiRoot}/events`)
    expect(said).toContain('"frame":"hello"')
    expect(said).not.toContain('bad_input')
  })
})

describe('a request that comes too slowly', () => {
  it('is ended with its headers half said', async () => {
    const gateway = await open({ edges })
    const said = await raw(gateway.port, 'GET / HTTP/1.1\r\nHost: loc')
    expect(heard(said)).toEqual({ status: 408, code: 'too_slow', sealed: true })
  })
  it('is ended with its body half said', async () => {
    const gateway = await open({ edges })
    const lines = head(gateway, 'Content-Type: application/json', 'Content-Length: 100')
    const said = await raw(gateway.port, `POST ${apiRoot}/links HTTP/1.1\r\n${lines}\r\n\r\n{`)
    expect(heard(said)).toEqual({ status: 408, code: 'too_slow', sealed: true })
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })
})

it('one connection too many is closed, and the others are served', async () => {
  const gateway = await open({ edges: { connectionsMax: 2 } })
  const hold = () =>
    new Promise<ReturnType<typeof connect>>(resolve => {
      const socket = connect(gateway.port, '127.0.0.1', () =>
        socket.write(`GET /healthz HTTP/1.1\r\n${head(gateway)}\r\n\r\n`),
      )
      socket.once('data', () => resolve(socket))
    })
  const [one, two] = [await hold(), await hold()]
  expect(await raw(gateway.port).catch(() => '')).toBe('')
  const gone = new Promise(resolve => one.once('close', resolve))
  one.destroy()
  await gone
  await expect.poll(async () => (await hold()).destroy().destroyed).toBe(true)
  two.destroy()
})

describe('a peer that does not answer', () => {
  function stare(gateway: TestServer): Promise<WebSocket> {
    return new Promise((resolve, reject) => {
      const url = `ws://127.0.0.1:${gateway.port}${apiRoot}/socket`
      const ws = new WebSocket(url, { headers: headersOf('runner'), autoPong: false })
      ws.on('open', () => resolve(ws)).on('error', reject)
    })
  }

  it('to a ping is let go at the next beat, and the log says why', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const lines: LogLine[] = []
    const gateway = await open({ log: line => lines.push(line) })
    const ws = await stare(gateway)
    const closed = new Promise(resolve => ws.on('close', resolve))
    const pinged = new Promise(resolve => ws.once('ping', resolve))
    vi.advanceTimersByTime(limits.heartbeatMs)
    await pinged
    expect(lines).toEqual([])
    vi.advanceTimersByTime(limits.heartbeatMs)
    await closed
    expect(lines).toEqual([{ dropped: 'engine', why: 'it took nothing and did not answer a ping' }])
  })
  it('to the closing frame, or does not read its stream, does not keep the gateway from closing', async () => {
    const gateway = await startTestServer({ edges: { drainMaxMs: 300 } })
    const ws = await stare(gateway)
    ws.pause()
    const abort = new AbortController()
    await request(gateway, '/events', { headers: headersOf('person'), signal: abort.signal })
    const beganAt = performance.now()
    await gateway.close()
    expect(performance.now() - beganAt).toBeLessThan(600)
    ws.terminate()
    abort.abort()
  })
})
