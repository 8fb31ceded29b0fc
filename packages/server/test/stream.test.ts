import { connect } from 'node:net'
import { apiRoot, limits, type Session } from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  approval,
  ask,
  headersOf,
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

interface Parsed {
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
const parse = ({ id, data }: SseEvent): Parsed => ({ id, ...JSON.parse(data) })

interface Reader {
  next(fits?: (frame: Parsed) => boolean): Promise<Parsed>
  stop(): void
}
async function watch(query = '', headers: Record<string, string> = {}): Promise<Reader> {
  const abort = new AbortController()
  const reply = await request(gateway, `/events${query}`, {
    headers: { ...headersOf('person'), ...headers },
    signal: abort.signal,
  })
  if (!reply.ok) throw new Error(await reply.text())
  const events = readSse(reply)
  return {
    async next(fits = () => true) {
      for (;;) {
        const { value, done } = await events.next()
        if (done || !value) throw new Error('the stream ended')
        const frame = parse(value)
        if (fits(frame)) return frame
      }
    },
    stop: () => abort.abort(),
  }
}
const say = (text: string) =>
  post(gateway, 'agent', `/sessions/${session.id}/events`, { items: [{ type: 'message.added', block: 'b', text }] })
const said = (frame: Parsed) => frame.event?.type === 'message.added'

describe('the stream', () => {
  it('begins with hello, which shows what there is, and goes on with events under their cursors', async () => {
    const asked = await ask(gateway, session, 'seen')
    const reader = await watch()
    const hello = await reader.next()
    expect(hello).toMatchObject({ frame: 'hello', hello: { resume: 'gap' } })
    expect(hello.id).toBe(hello.hello?.cursor)
    expect(hello.hello?.requests.map(each => each.id)).toContain(asked.id)
    const next = await ask(gateway, session, 'next')
    const opened = await reader.next(frame => frame.event?.type === 'request.opened')
    expect(opened.event?.value).toEqual(next)
    expect(opened.id).toBe(opened.event?.cursor)
    reader.stop()
  })
  it('resumes after a cursor with exactly what was missed, by Last-Event-ID or after', async () => {
    const reader = await watch()
    await reader.next()
    await say('one')
    const { id } = await reader.next(said)
    reader.stop()
    await say('two')
    await say('three')
    for (const [query, headers] of [
      [`?after=${id}`, {}],
      ['', { 'last-event-id': id as string }],
      ['?after=zzz-1', { 'last-event-id': id as string }],
    ] as const) {
      const again = await watch(query, headers)
      const hello = await again.next()
      expect(hello.hello?.resume).toBe('ok')
      // A reader that is cut off right here has not seen what was missed: its place is still the old one.
      expect(hello.id).toBe(id)
      expect((await again.next(said)).event?.text).toBe('two')
      expect((await again.next(said)).event?.text).toBe('three')
      again.stop()
    }
  })
  it('starts from a snapshot when a cursor names nothing (X12)', async () => {
    for (const after of ['zzz-1', '-1', 'nonsense', '', '9', 'a-999999999999999', '1-1 OR 1=1']) {
      const reader = await watch(`?after=${encodeURIComponent(after)}`)
      expect((await reader.next()).hello?.resume, after).toBe('gap')
      reader.stop()
    }
  })
  it('shows one session only when asked to, and knows which members it takes', async () => {
    const reader = await watch(`?session=${session.id}`)
    await reader.next()
    const other = await openSession(gateway)
    await ask(gateway, other, 'elsewhere')
    await say('here')
    expect((await reader.next(frame => frame.frame === 'event')).event).toMatchObject({ text: 'here' })
    reader.stop()
    for (const query of ['?session=nonsense', '?unheardOf=1'])
      expect((await request(gateway, `/events${query}`, { headers: headersOf('person') })).status).toBe(400)
  })
  it('carries any text as exactly one event, equal to what was said (X11)', async () => {
    const reader = await watch()
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
        const reply = await say(text)
        expect(reply.status).toBe(200)
        expect((await reader.next(frame => frame.frame === 'event')).event?.text).toBe(text)
      }),
      { numRuns: 100 },
    )
    reader.stop()
  })
  it('is the same in process', async () => {
    const abort = new AbortController()
    const reply = await gateway.server.fetch(
      new Request(`http://localhost${apiRoot}/events`, { headers: headersOf('person'), signal: abort.signal }),
    )
    expect(reply.headers.get('content-type')).toBe('text/event-stream')
    const events = readSse(reply)
    const next = async () => parse((await events.next()).value as SseEvent) // the stream does not end before it is left
    expect((await next()).frame).toBe('hello')
    await say('in process')
    for (let frame = await next(); frame.event?.text !== 'in process'; frame = await next());
    await events.return()
  })
  it('ends for a reader that does not read, and for no other', async () => {
    const slow = connect(gateway.port, '127.0.0.1')
    slow.write(
      `GET ${apiRoot}/events HTTP/1.1\r\nHost: localhost:${gateway.port}\r\nAuthorization: ${headersOf('person').authorization}\r\n\r\n`,
    )
    await new Promise(resolve => slow.once('data', resolve))
    slow.pause()
    const reader = await watch()
    await reader.next()
    const text = 'x'.repeat(200 * 1024)
    const closed = new Promise<void>(resolve => slow.once('close', () => resolve()).once('error', () => resolve()))
    // More than the reader's allowance and all that two kernels hold for it.
    for (let sent = 0; sent < 8 * limits.subscriptionBufferMaxBytes; sent += text.length) {
      await say(text)
      await reader.next(said)
    }
    slow.resume()
    await closed
    expect(slow.bytesRead).toBeLessThan(8 * limits.subscriptionBufferMaxBytes)
    reader.stop()
  })
  it('says that it closes, and ends', async () => {
    const leaving = await startTestServer()
    const reply = await request(leaving, '/events', { headers: headersOf('person') })
    const text = reply.text()
    await leaving.close()
    expect(await text).toMatch(/: closing\n\n$/)
  })
})

it('shows the title of an ask as it is, escaped by nobody but JSON', async () => {
  const reader = await watch()
  await reader.next()
  await ask(gateway, session, 'hostile', approval('\u202e\ndata: {}\n\n'))
  const { event } = await reader.next(frame => frame.event?.type === 'request.opened')
  expect(event?.value?.ask).toMatchObject({ title: '\u202e\ndata: {}\n\n' })
  reader.stop()
})

describe('with time held', () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  const open = (secret: string) =>
    gateway.server.fetch(
      new Request(`http://localhost${apiRoot}/events`, { headers: { authorization: `Bearer ${secret}` } }),
    )

  it('a silent stream beats, and ends at the beat after its credential was revoked', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const made = await post(gateway, 'person', '/tokens', { role: 'person', name: 'bob' })
    const { id, secret } = (await made.json()) as { id: string; secret: string }
    const reader = (await open(secret)).body?.getReader()
    const text = async () => new TextDecoder().decode((await reader?.read())?.value)
    expect(await text()).toContain('"frame":"hello"')
    vi.advanceTimersByTime(limits.heartbeatMs)
    expect(await text()).toBe(': beat\n\n')
    await request(gateway, `/tokens/${id}`, { method: 'DELETE', headers: headersOf('person') })
    vi.advanceTimersByTime(limits.heartbeatMs)
    await expect(
      (async () => {
        for (;;) await text()
      })(),
    ).rejects.toThrow('credential')
  })
})

it('is refused to one more than may watch', async () => {
  const crowded = await startTestServer()
  const open = () =>
    crowded.server.fetch(new Request(`http://localhost${apiRoot}/events`, { headers: headersOf('person') }))
  const replies = await Promise.all(Array.from({ length: limits.subscriptionsMax }, open))
  expect(replies.every(reply => reply.status === 200)).toBe(true)
  expect((await open()).status).toBe(429)
  await replies[0]?.body?.cancel()
  expect((await open()).status).toBe(200)
  await crowded.close()
})
