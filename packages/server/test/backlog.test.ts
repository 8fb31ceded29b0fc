/** Checks that large amounts of unread data (missed events, large replies, unread frames) neither stop the gateway nor cause endless retries. */
import { apiRoot, limits, type Session } from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LogLine } from '../src/http-message.ts'
import {
  approval,
  ask,
  authHeaders,
  openSession,
  openSocket,
  post,
  readSse,
  request,
  startTestServer,
  type TestServer,
} from './test-server.ts'

let gateway: TestServer
let session: Session
let lines: LogLine[]
beforeEach(async () => {
  lines = []
  gateway = await startTestServer({ log: line => lines.push(line) })
  session = await openSession(gateway)
})
afterEach(() => gateway.close())

const text = 'x'.repeat(250 * 1000)
const appendMessage = async (to = session) => {
  const items = [{ type: 'message.added', block: 'b', text }]
  expect((await post(gateway, 'agent', `/sessions/${to.id}/events`, { items })).status).toBe(200)
}
async function openStream(after: string) {
  const abort = new AbortController()
  const reply = await request(gateway, `/events?after=${after}`, {
    headers: authHeaders('person'),
    signal: abort.signal,
  })
  const events = readSse(reply)
  const next = async () => JSON.parse((await events.next()).value?.data ?? 'null')
  return { next, stop: () => abort.abort() }
}
async function cursorNow(): Promise<string> {
  const reader = await openStream('')
  const { hello } = await reader.next()
  reader.stop()
  return hello.cursor
}

describe('a resumed stream', () => {
  it('a resumed stream sends every missed event in order', async () => {
    const cursor = await cursorNow()
    const count = Math.floor(limits.resumeMaxBytes / (text.length + 200))
    for (let i = 0; i < count; i++) await appendMessage()
    const reader = await openStream(cursor)
    expect((await reader.next()).hello.resume).toBe('ok')
    let received = 0
    while (received < count) if ((await reader.next()).event?.type === 'message.added') received++
    reader.stop()
  })
  it('a resumed stream sends a snapshot if more bytes were missed than the resume limit', async () => {
    const cursor = await cursorNow()
    for (let size = 0; size <= limits.resumeMaxBytes; size += text.length) await appendMessage()
    const reader = await openStream(cursor)
    expect((await reader.next()).hello).toMatchObject({ resume: 'gap', sessions: [{ id: session.id }] })
    reader.stop()
  })
  it('a resumed stream ends if a frame cannot be encoded; the error is logged once, and other streams continue', async () => {
    const frame = {
      cursor: 'a-1',
      session: null,
      get json(): string {
        throw new RangeError('Invalid string length')
      },
    }
    const brokenGateway: TestServer['gateway'] = {
      ...gateway.gateway,
      subscribe: async (...args) => ({ ...(await gateway.gateway.subscribe(...args)), missed: [frame] }),
    }
    const broken = await createServer({ gateway: brokenGateway, log: line => lines.push(line) }).listen({ port: 0 })
    const reply = await fetch(`${broken.url}${apiRoot}/events`, { headers: authHeaders('person') })
    await reply.text()
    expect(lines.filter(line => 'bug' in line)).toHaveLength(1)
    expect((await fetch(`${broken.url}/healthz`)).status).toBe(200)
    await broken.close()
  })
})

describe('a socket with a slow reader', () => {
  it('a socket with a slow reader receives replies larger than the subscription buffer while it is subscribed', async () => {
    for (let i = 0; i < 20; i++) await ask(gateway, session, `k${i}`, approval('large', { text }))
    const socket = await openSocket(gateway)
    socket.send({ subscribe: {} })
    await socket.next(frame => frame.frame === 'hello')
    const calls = 4
    for (let id = 0; id < calls; id++) socket.send({ id, op: 'listRequests', input: { session: session.id } })
    for (let i = 0; i < 10; i++) await appendMessage()
    const replied = new Set<unknown>()
    let events = 0
    let bytes = 0
    while (replied.size < calls || events < 10) {
      const frame = await socket.next()
      if (frame.frame === 'reply') {
        replied.add(frame.id)
        bytes += JSON.stringify(frame).length
        expect(frame.status).toBe(200)
      } else if (frame.event?.type === 'message.added') events++
    }
    expect(bytes).toBeGreaterThan(limits.subscriptionBufferMaxBytes)
    expect(lines).toEqual([])
    socket.ws.close()
  })
  it('a socket with a slow reader is disconnected with a logged reason if it leaves too many frames unread', async () => {
    const socket = await openSocket(gateway)
    socket.send({ subscribe: {} })
    await socket.next(frame => frame.frame === 'hello')
    socket.ws.pause()
    for (let size = 0; size < 8 * limits.subscriptionBufferMaxBytes && lines.length === 0; size += text.length)
      await appendMessage()
    expect(lines).toEqual([{ disconnected: 'ada', reason: expect.stringContaining('frames unread') }])
    socket.ws.resume()
    await socket.closed
  })
})
