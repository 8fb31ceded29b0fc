/** Node's HTTP server in front of a door: its limits, its raw requests and responses, and how it closes. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Fault, limits } from '@holdpoint/protocol'
import { type ByteSink, type IncomingRequest, type OutgoingReply, toFault } from './http-message.ts'
import { tooLarge } from './input.ts'
import { refuseUnreadable } from './raw-reply.ts'
import type { RequestHandler } from './request-handler.ts'
import { openSockets, type Sockets } from './socket.ts'

export interface Listening {
  readonly url: string
  readonly port: number
  /** Takes nothing new, ends streams and long polls, lets the rest finish; what is left after `drainMaxMs` is cut off. */
  close(): Promise<void>
}

/** The limits of connections, which an embedder may set lower. */
export type ConnectionLimits = Readonly<
  Record<'connectionsMax' | 'headersTimeoutMs' | 'bodyTimeoutMs' | 'drainMaxMs', number>
>

export async function listen(
  address: { port: number; host: string },
  doorAt: (port: number) => RequestHandler,
  edges: ConnectionLimits,
): Promise<Listening> {
  const server = createServer({
    maxHeaderSize: limits.headersMaxBytes,
    headersTimeout: edges.headersTimeoutMs,
    requestTimeout: edges.bodyTimeoutMs,
    keepAliveTimeout: limits.waitMaxMs,
    connectionsCheckingInterval: edges.headersTimeoutMs / 5,
    // The gate looks at it, and its refusal has words.
    requireHostHeader: false,
    noDelay: true,
  })
  server.maxConnections = edges.connectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, resolve)
  })
  const { port } = server.address() as AddressInfo // a server that listens on TCP has one
  const door = doorAt(port)
  const sockets = openSockets(door)
  const open = new Set<Socket>()
  let closing = false
  server.on('connection', socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  attachHandlers(server, door, sockets, () => closing)
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    url: `http://${host}:${port}`,
    port,
    close() {
      closing = true
      door.close()
      sockets.close()
      // Node counts a connection that has not asked for anything yet as busy.
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
      return drain(server, open, edges.drainMaxMs)
    },
  }
}

/** Requests and handshakes, as they come. A bug on one connection ends that connection, and is logged; everyone else goes on. */
function attachHandlers(server: Server, door: RequestHandler, sockets: Sockets, isClosing: () => boolean): void {
  const replies = new WeakMap<Duplex, ServerResponse>()
  const cutOff = (connection: { destroy(): unknown }) => (error: unknown) => {
    toFault(error, door.log)
    connection.destroy()
  }
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    replies.set(req.socket, res)
    res.on('error', cutOff(res))
    const say = (reply: OutgoingReply) => {
      if (res.destroyed) return
      if (typeof reply.body === 'function') openStream(res, reply, reply.body)
      else send(res, reply, reply.body, isClosing() || !req.complete)
    }
    door.handle(incomingOf(req, res)).then(say).catch(cutOff(res))
  }
  server.on('request', answer)
  server.on('checkExpectation', answer)
  server.on('upgrade', (req, socket, head) => {
    sockets.upgrade(incomingOf(req, socket), req, socket, head).catch(cutOff(socket))
  })
  server.on('clientError', (error, socket) => {
    const reply = replies.get(socket)
    const midReply = reply?.headersSent === true && !reply.writableFinished
    refuseUnreadable(error, socket, midReply)
  })
  // The kernel may refuse a connection (no more files): that one is lost, not the gateway.
  server.on('error', error => void toFault(error, door.log))
}

function drain(server: Server, open: ReadonlySet<Socket>, maxMs: number): Promise<void> {
  return new Promise(resolve => {
    // Whoever does not take its last words, or does not answer the closing frame, is not waited for.
    const late = setTimeout(() => {
      for (const socket of open) socket.destroy()
      resolve()
    }, maxMs)
    server.close(() => {
      clearTimeout(late)
      resolve()
    })
    server.closeIdleConnections()
  })
}

/** Node keeps the first of some headers that stand twice; a proxy in front may have looked at the second. */
const single = new Set(['host', 'authorization', 'content-type', 'content-encoding', 'origin', 'idempotency-key'])
function findRepeated(raw: readonly string[]): string | null {
  let seen = ''
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase() // names stand at even places
    if (!single.has(name)) continue
    if (seen.includes(`${name};`)) return name
    seen += `${name};`
  }
  return null
}

interface Carrier {
  readonly destroyed: boolean
  once(event: 'close', callback: () => void): unknown
}
function incomingOf(req: IncomingMessage, carrier: Carrier): IncomingRequest {
  const { headers } = req
  return {
    method: req.method ?? '',
    target: req.url ?? '',
    repeated: findRepeated(req.rawHeaders),
    hasBody: headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0',
    header: name => headers[name] as string | undefined, // only set-cookie comes as a list, and only in responses
    body: maxBytes => readBody(req, maxBytes),
    onGone(callback) {
      if (carrier.destroyed) callback()
      else carrier.once('close', callback)
    },
  }
}

function readBody(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        req.pause()
        reject(tooLarge(maxBytes))
      } else chunks.push(chunk)
    })
    req.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))) // the length is checked
    const endedEarly = () => reject(new Fault('bad_input', 'The body ended early.'))
    req.once('close', () => {
      if (!req.complete) endedEarly()
    })
    req.once('error', endedEarly)
  })
}

/** `last`: nothing more is taken from this connection. A body that was not read to its end would be taken for the next request. */
function send(res: ServerResponse, reply: OutgoingReply, body: string | Buffer, last: boolean): void {
  const headers = [...reply.headers]
  if (reply.status !== 304) headers.push('content-length', String(Buffer.byteLength(body)))
  if (last) headers.push('connection', 'close')
  res.writeHead(reply.status, headers)
  res.end(res.req.method === 'HEAD' ? undefined : body)
}

/** The stream lasts as long as its connection, so it needs no chunk framing, and everyone gets the same bytes. */
function openStream(res: ServerResponse, reply: OutgoingReply, open: (outlet: ByteSink) => void): void {
  res.useChunkedEncodingByDefault = false
  res.shouldKeepAlive = false
  res.writeHead(reply.status, [...reply.headers])
  res.flushHeaders()
  open({
    write: chunk => void res.write(chunk),
    buffered: () => res.writableLength,
    end: last => void res.end(last),
    destroy: () => void res.destroy(),
  })
}
