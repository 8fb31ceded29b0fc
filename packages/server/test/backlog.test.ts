/** What waits for a reader: missed events, large replies, frames that nobody takes. None of it ends the gateway, and none of it repeats for ever. */
import { apiRoot, limits, type Session } from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LogLine } from '../src/http-message.ts'
import {
  type Heard,
  headersOf,
  openSession,
  openSocket,
  post,
  readSse,
  request,
  startTestServer,
  type TestServer,
  type TestSocket,
} from './test-server.ts'

let gateway: TestServer
let session: Session
let lines: LogLine[]
let probed: string[]
beforeEach(async () => {
  lines = []
  probed = []
  gateway = await startTestServer({ log: line => lines.push(line), crashPoint: point => probed.push(point) })
  session = await openSession(gateway)
})
afterEach(() => gateway.close())

const text = 'x'.repeat(250 * 1000)
const say = async (to = session) => {
  const items = [{ type: 'message.added', block: 'b', text }]
  expect((await post(gateway, 'agent', `/sessions/${to.id}/events`, { items })).status).toBe(200)
}
async function resume(after: string) {
  const abort = new AbortController()
  const reply = await request(gateway, `/events?after=${after}`, { headers: headersOf('person'), signal: abort.signal })
  const events = readSse(reply)
  const next = async () => JSON.parse((await events.next()).value?.data ?? 'null')
  return { next, stop: () => abort.abort() }
}
async function cursorNow(): Promise<string> {
  const reader = await resume('')
  const { hello } = await reader.next()
  reader.stop()
  return hello.cursor
}

describe('a stream that is resumed', () => {
  it('brings what was missed, one event after another', async () => {
    const cursor = await cursorNow()
    const count = Math.floor(limits.resumeMaxBytes / (text.length + 200))
    for (let i = 0; i < count; i++) await say()
    const reader = await resume(cursor)
    expect((await reader.next()).hello.resume).toBe('ok')
    let heard = 0
    while (heard < count) if ((await reader.next()).event?.type === 'message.added') heard++
    reader.stop()
  })
  it('gets a snapshot where more bytes were missed than are resumed', async () => {
    const cursor = await cursorNow()
    for (let size = 0; size <= limits.resumeMaxBytes; size += text.length) await say()
    const reader = await resume(cursor)
    expect((await reader.next()).hello).toMatchObject({ resume: 'gap', sessions: [{ id: session.id }] })
    reader.stop()
  })
  it('that cannot be sent ends alone, and is logged once', async () => {
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
    const reply = await fetch(`${broken.url}${apiRoot}/events`, { headers: headersOf('person') })
    await reply.text()
    expect(lines.filter(line => 'bug' in line)).toHaveLength(1)
    expect((await fetch(`${broken.url}/healthz`)).status).toBe(200)
    await broken.close()
  })
})

describe('a socket', () => {
  const data = Buffer.alloc(4_900_000).toString('base64')
  const image = { type: 'image', mediaType: 'image/png', data }
  /** A session with a message that is larger than a page of commands. */
  async function withPictures(): Promise<Session> {
    const opened = await openSession(gateway)
    const reply = await post(gateway, 'person', `/sessions/${opened.id}/messages`, {
      text: 'look',
      attachments: [image, image],
    })
    expect(reply.status).toBe(202)
    return opened
  }
  const listFor = (socket: TestSocket, id: number, { id: from }: Session) =>
    socket.send({ id, op: 'listCommands', input: { id: from, wait: 1000 } })
  const isReply = (id: unknown) => (frame: Heard) => frame.frame === 'reply' && frame.id === id

  it('gets replies larger than a watcher’s buffer, for several sessions at once, while it watches', async () => {
    const sessions = [await withPictures(), await withPictures(), await withPictures(), await withPictures()]
    const socket = await openSocket(gateway, headersOf('runner'))
    socket.send({ subscribe: {} })
    await socket.next(frame => frame.frame === 'hello')
    for (const [i, each] of sessions.entries()) listFor(socket, i, each)
    for (let i = 0; i < 10; i++) await say()
    const replied = new Set<unknown>()
    let events = 0
    while (replied.size < sessions.length || events < 10) {
      const frame = await socket.next()
      if (frame.frame === 'reply') {
        replied.add(frame.id)
        expect(frame).toMatchObject({ status: 200, body: { items: [{ body: { attachments: [{ data }, { data }] } }] } })
      } else if (frame.event?.type === 'message.added') events++
    }
    expect(lines).toEqual([])
    socket.ws.close()
  })
  it('is not read from while more than so many bytes of replies wait, and then goes on', async () => {
    const large = await withPictures()
    const socket = await openSocket(gateway, headersOf('agent'))
    socket.ws.pause()
    const count = Math.ceil(limits.queuedRepliesMaxBytes / (2 * data.length)) + 2
    for (let i = 0; i < count; i++) listFor(socket, i, large)
    const lists = () => probed.filter(point => point === 'replying:listCommands').length
    while (lists() < count) await request(gateway, '/sessions', { headers: headersOf('person') })
    socket.send({ id: 'late', op: 'whoAmI' })
    for (let i = 0; i < 5; i++) await request(gateway, '/sessions', { headers: headersOf('person') })
    expect(probed).not.toContain('replying:whoAmI')
    socket.ws.resume()
    for (let i = 0; i < count; i++) expect((await socket.next(isReply(i))).status).toBe(200)
    expect((await socket.next(isReply('late'))).status).toBe(200)
    expect(lines).toEqual([])
    socket.ws.close()
  })
  it('that leaves too many frames unread is let go, and the log says why', async () => {
    const socket = await openSocket(gateway)
    socket.send({ subscribe: {} })
    await socket.next(frame => frame.frame === 'hello')
    socket.ws.pause()
    for (let size = 0; size < 8 * limits.subscriptionBufferMaxBytes && lines.length === 0; size += text.length)
      await say()
    expect(lines).toEqual([{ dropped: 'ada', why: expect.stringContaining('frames unread') }])
    socket.ws.resume()
    await socket.closed
  })
})
