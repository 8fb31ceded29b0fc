/** Checks which connections make room for others, and that replies which nobody reads end their connection. All sockets are real; only the timer of the checks is advanced by the tests. */
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { limits } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LogLine } from '../src/http-message.ts'
import { OpenConnections } from '../src/open-connections.ts'

let lines: LogLine[]
let open: OpenConnections
let server: Server
const clients: Socket[] = []
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  lines = []
  open = new OpenConnections(3, line => lines.push(line))
})
afterEach(async () => {
  open.stopChecks()
  for (const client of clients.splice(0)) client.destroy()
  await new Promise(resolve => server.close(resolve))
  vi.useRealTimers()
})
const listen = (created: Server) =>
  new Promise<number>(resolve => {
    server = created.listen(0, '127.0.0.1', () => resolve((created.address() as AddressInfo).port)) // a TCP server has this kind of address
  })
const closed = (socket: Socket) => new Promise<void>(resolve => socket.once('close', () => resolve()))

describe('a connection', () => {
  let port: number
  let accept: (socket: Socket) => void
  beforeEach(async () => {
    port = await listen(createTcpServer(socket => accept(socket.on('error', () => {}))))
  })
  /** Connects a client, and returns the gateway's end of the connection. */
  const accepted = () =>
    new Promise<Socket>(resolve => {
      accept = resolve
      clients.push(connect(port, '127.0.0.1').on('error', () => {}))
    })
  const added = async () => {
    const socket = await accepted()
    open.add(socket)
    return socket
  }
  const destroyed = (...sockets: Socket[]) => sockets.map(socket => socket.destroyed)

  it('X9: a new connection beyond the limit replaces the connection that was added first', async () => {
    const [one, two, three] = [await added(), await added(), await added()]
    expect(destroyed(one, two, three)).toEqual([false, false, false])
    const four = await added()
    expect(destroyed(one, two, three, four)).toEqual([true, false, false, false])
    expect([...open]).toEqual([two, three, four])
  })
  it('X9: a connection is not replaced while a request with a credential is in progress, and counts as just used afterwards', async () => {
    const [one, two, three] = [await added(), await added(), await added()]
    open.protect(one)
    open.protect(one)
    expect(new Set(open)).toEqual(new Set([one, two, three]))
    const four = await added()
    expect(destroyed(one, two, three, four)).toEqual([false, true, false, false])
    open.unprotect(one)
    // One of its two requests is still in progress, so all others are replaced first.
    for (let i = 0; i < 4; i++) await added()
    expect(destroyed(one, three, four)).toEqual([false, true, true])
    open.unprotect(one)
    for (let i = 0; i < 2; i++) await added()
    expect(one.destroyed).toBe(false)
    await added()
    expect(one.destroyed).toBe(true)
    expect([...open]).toHaveLength(3)
  })
  it('X9: a new connection beyond the limit is closed at once if all others are protected', async () => {
    const three = [await added(), await added(), await added()]
    for (const socket of three) open.protect(socket)
    expect((await added()).destroyed).toBe(true)
    expect([...open]).toEqual(three)
    open.unprotect(three[1] as Socket)
    expect((await added()).destroyed).toBe(false)
    expect(destroyed(...three)).toEqual([false, true, false])
  })
  it('a connection is no longer tracked when it closes, whether it was protected or not', async () => {
    const [one, two] = [await added(), await added()]
    open.protect(two)
    for (const socket of [one, two]) {
      const gone = closed(socket)
      socket.destroy()
      await gone
    }
    open.unprotect(two)
    expect([...open]).toEqual([])
  })
  it('a connection that is destroyed cannot be protected, and is not tracked again when its request ends', async () => {
    const [one, two] = [await added(), await added()]
    open.protect(two)
    const gone = [closed(one), closed(two)]
    for (const socket of [one, two]) socket.destroy()
    open.protect(one)
    open.unprotect(two)
    expect([...open]).toEqual([one])
    await Promise.all(gone)
    expect([...open]).toEqual([])
    open.protect(one)
    expect([...open]).toEqual([])
  })
})

describe('a reply', () => {
  /** Sends a reply of this size to a client that reads nothing until a listener for its data is added. */
  async function reply(bytes: number) {
    let onRequest: (res: ServerResponse) => void = () => {}
    const requested = new Promise<ServerResponse>(resolve => {
      onRequest = resolve
    })
    const port = await listen(createServer((_, res) => onRequest(res)))
    const client = connect(port, '127.0.0.1').on('error', () => {})
    clients.push(client)
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const res = await requested
    const writer = open.writerFor(res)
    writer.write(Buffer.alloc(bytes))
    // Bytes that fit into the buffers of the system count as read.
    let buffered = -1
    await vi.waitFor(
      () => {
        const before = buffered
        buffered = writer.buffered()
        expect(buffered).toBe(before)
      },
      { timeout: 20_000 },
    )
    expect(buffered).toBeGreaterThan(0)
    return { res, writer, client }
  }
  const check = () => vi.advanceTimersByTime(limits.unreadMaxMs / 2)
  const large = 64 * 1024 * 1024

  it('F3: a reply ends its connection with a logged reason, if the client reads nothing between two checks', async () => {
    const { res } = await reply(large)
    check()
    check()
    expect(res.destroyed).toBe(false)
    expect(lines).toEqual([])
    check()
    expect(res.destroyed).toBe(true)
    expect(lines).toEqual([{ disconnected: 'an HTTP client', reason: 'the client read nothing for 30000 ms' }])
  })
  it('a reply continues if the client reads something between two checks, and is not checked when it is complete', async () => {
    const { res, writer, client } = await reply(large)
    check()
    check()
    client.on('data', () => {})
    await vi.waitFor(() => expect(writer.buffered()).toBe(0), { timeout: 20_000 })
    check()
    check()
    check()
    expect(lines).toEqual([])
    expect(res.destroyed).toBe(false)
    const done = new Promise(resolve => res.once('close', resolve))
    writer.end(Buffer.alloc(0))
    await done
    check()
    expect(lines).toEqual([])
  })
  it('a reply is not checked after the client has disconnected', async () => {
    const { res, writer, client } = await reply(large)
    const gone = new Promise(resolve => res.once('close', resolve))
    client.destroy()
    await gone
    expect(writer.buffered()).toBeGreaterThan(0)
    for (let i = 0; i < 4; i++) check()
    expect(lines).toEqual([])
  })
  it('a reply is not checked after the checks were stopped', async () => {
    const { res } = await reply(large)
    open.stopChecks()
    for (let i = 0; i < 10; i++) check()
    expect(res.destroyed).toBe(false)
  })
})
