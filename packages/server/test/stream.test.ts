/** Checks the event stream: the hello frame, resuming, filters, slow readers and heartbeats. */
import { connect } from 'node:net'
import { apiRoot, limits, type Session } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  approval,
  ask,
  authHeaders,
  openSession,
  post,
  readSse,
  request,
  type SseEvent,
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

interface ParsedFrame {
  readonly id: string | null
  readonly frame: string
  readonly hello?: {
    readonly cursor: string
    readonly resume: string
    readonly requests: readonly { readonly id: string }[]
  }
  readonly event?: Record<string, unknown> & {
    readonly cursor: string
    readonly type: string
    readonly value?: Record<string, unknown>
  }
}
const parse = ({ id, data }: SseEvent): ParsedFrame => ({ id, ...JSON.parse(data) })

interface StreamReader {
  next(matches?: (frame: ParsedFrame) => boolean): Promise<ParsedFrame>
  stop(): void
}
async function openStream(query = '', headers: Record<string, string> = {}): Promise<StreamReader> {
  const abort = new AbortController()
  const reply = await request(gateway, `/events${query}`, {
    headers: { ...authHeaders('person'), ...headers },
    signal: abort.signal,
  })
  if (!reply.ok) throw new Error(await reply.text())
  const events = readSse(reply)
  return {
    async next(matches = () => true) {
      for (;;) {
        const { value, done } = await events.next()
        if (done || !value) throw new Error('the stream ended')
        const frame = parse(value)
        if (matches(frame)) return frame
      }
    },
    stop: () => abort.abort(),
  }
}
const appendMessage = (text: string) =>
  post(gateway, 'agent', `/sessions/${session.id}/events`, { items: [{ type: 'message.added', block: 'b', text }] })
const isMessage = (frame: ParsedFrame) => frame.event?.type === 'message.added'

describe('the event stream', () => {
  it('the event stream begins with a snapshot in the hello frame and continues with events and their cursors', async () => {
    const pending = await ask(gateway, session, 'seen')
    const reader = await openStream()
    const hello = await reader.next()
    expect(hello).toMatchObject({ frame: 'hello', hello: { resume: 'gap' } })
    expect(hello.id).toBe(hello.hello?.cursor)
    expect(hello.hello?.requests.map(each => each.id)).toContain(pending.id)
    const next = await ask(gateway, session, 'next')
    const opened = await reader.next(frame => frame.event?.type === 'request.opened')
    expect(opened.event?.value).toEqual(next)
    expect(opened.id).toBe(opened.event?.cursor)
    reader.stop()
  })
  it('the event stream resumes with exactly the missed events after the cursor in Last-Event-ID or `after`', async () => {
    const reader = await openStream()
    await reader.next()
    await appendMessage('one')
    const { id } = await reader.next(isMessage)
    reader.stop()
    await appendMessage('two')
    await appendMessage('three')
    for (const [query, headers] of [
      [`?after=${id}`, {}],
      ['', { 'last-event-id': id as string }],
      ['?after=zzz-1', { 'last-event-id': id as string }],
    ] as const) {
      const again = await openStream(query, headers)
      const hello = await again.next()
      expect(hello.hello?.resume).toBe('ok')
      // A client that loses the connection here has not seen the missed events, so `hello` must have the old cursor.
      expect(hello.id).toBe(id)
      expect((await again.next(isMessage)).event?.text).toBe('two')
      expect((await again.next(isMessage)).event?.text).toBe('three')
      again.stop()
    }
  })
  it('the event stream starts with a snapshot if the cursor is unknown or malformed (X12)', async () => {
    for (const after of ['zzz-1', '-1', 'nonsense', '', '9', 'a-999999999999999', '1-1 OR 1=1']) {
      const reader = await openStream(`?after=${encodeURIComponent(after)}`)
      expect((await reader.next()).hello?.resume, after).toBe('gap')
      reader.stop()
    }
  })
  it('the event stream can be limited to one session and refuses unknown parameters', async () => {
    const reader = await openStream(`?session=${session.id}`)
    await reader.next()
    const other = await openSession(gateway)
    await ask(gateway, other, 'elsewhere')
    await appendMessage('here')
    expect((await reader.next(frame => frame.frame === 'event')).event).toMatchObject({ text: 'here' })
    reader.stop()
    for (const query of ['?session=nonsense', '?unknownField=1'])
      expect((await request(gateway, `/events${query}`, { headers: authHeaders('person') })).status).toBe(400)
  })
  it('the event stream sends any text unchanged in exactly one event (X11)', async () => {
    const reader = await openStream()
    await reader.next()
    const tricky = fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      '\n\n',
      '\0',
      '\u2028',
      '\u2029',
      'data: x',
      'id: 1',
      ': c',
      'event: e',
      '\\n',
      '"',
      '\ufeff',
    )
    const texts = fc
      .array(fc.oneof(tricky, fc.string({ unit: 'grapheme' })), { minLength: 1, maxLength: 8 })
      .map(parts => parts.join(''))
    await fc.assert(
      fc.asyncProperty(texts, async text => {
        const reply = await appendMessage(text)
        expect(reply.status).toBe(200)
        expect((await reader.next(frame => frame.frame === 'event')).event?.text).toBe(text)
      }),
      { numRuns: 100 },
    )
    reader.stop()
  })
  it('the event stream is also available in process', async () => {
    const abort = new AbortController()
    const reply = await gateway.server.fetch(
      new Request(`http://localhost${apiRoot}/events`, { headers: authHeaders('person'), signal: abort.signal }),
    )
    expect(reply.headers.get('content-type')).toBe('text/event-stream')
    const events = readSse(reply)
    const next = async () => parse((await events.next()).value as SseEvent) // the stream does not end while it is read
    expect((await next()).frame).toBe('hello')
    await appendMessage('in process')
    for (let frame = await next(); frame.event?.text !== 'in process'; frame = await next());
    await events.return()
  })
  it('the event stream disconnects only the client that does not read', async () => {
    const slow = connect(gateway.port, '127.0.0.1')
    slow.write(
      `GET ${apiRoot}/events HTTP/1.1\r\nHost: localhost:${gateway.port}\r\nAuthorization: ${authHeaders('person').authorization}\r\n\r\n`,
    )
    await new Promise(resolve => slow.once('data', resolve))
    slow.pause()
    const reader = await openStream()
    await reader.next()
    const text = 'x'.repeat(200 * 1024)
    // A person may write more per minute than an agent.
    const ownSession = (await (await post(gateway, 'person', '/sessions', { driver: 'external' })).json()) as Session // the reply has the type that the contract declares
    const closed = new Promise<void>(resolve => slow.once('close', () => resolve()).once('error', () => resolve()))
    // This is more than the subscription buffer and the kernel buffers of both sides together.
    for (let sent = 0; sent < 8 * limits.subscriptionBufferMaxBytes; sent += text.length) {
      await post(gateway, 'person', `/sessions/${ownSession.id}/events`, {
        items: [{ type: 'message.added', block: 'b', text }],
      })
      await reader.next(isMessage)
    }
    slow.resume()
    await closed
    expect(slow.bytesRead).toBeLessThan(8 * limits.subscriptionBufferMaxBytes)
    reader.stop()
  })
  it('the event stream sends a closing comment and ends when the server closes', async () => {
    const closingServer = await startTestServer()
    const reply = await request(closingServer, '/events', { headers: authHeaders('person') })
    const text = reply.text()
    await closingServer.close()
    expect(await text).toMatch(/: closing\n\n$/)
  })
})

it('the stream sends the title of an ask unchanged except for JSON escapes', async () => {
  const reader = await openStream()
  await reader.next()
  await ask(gateway, session, 'hostile', approval('\u202e\ndata: {}\n\n'))
  const { event } = await reader.next(frame => frame.event?.type === 'request.opened')
  expect(event?.value?.ask).toMatchObject({ title: '\u202e\ndata: {}\n\n' })
  reader.stop()
})

describe('a stream without events', () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  const open = (secret: string) =>
    gateway.server.fetch(
      new Request(`http://localhost${apiRoot}/events`, { headers: { authorization: `Bearer ${secret}` } }),
    )

  it('a stream without events sends heartbeats, and ends without waiting for the next heartbeat when its credential is revoked', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const made = await post(gateway, 'person', '/tokens', { role: 'person', name: 'bob' })
    const { id, secret } = (await made.json()) as { id: string; secret: string }
    const reader = (await open(secret)).body?.getReader()
    const text = async () => new TextDecoder().decode((await reader?.read())?.value)
    expect(await text()).toContain('"frame":"hello"')
    vi.advanceTimersByTime(limits.heartbeatMs)
    expect(await text()).toBe(': heartbeat\n\n')
    await request(gateway, `/tokens/${id}`, { method: 'DELETE', headers: authHeaders('person') })
    await expect(
      (async () => {
        for (;;) await text()
      })(),
    ).rejects.toThrow('credential')
  })
})
