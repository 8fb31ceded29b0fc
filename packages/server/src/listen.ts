/** Runs a request handler on Node's HTTP server with connection limits, and drains open requests when the server closes. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Fault, limits } from '@holdpoint/protocol'
import { type ByteSink, type IncomingRequest, type OutgoingReply, toFault } from './http-message.ts'
import { bodyTooLarge } from './input.ts'
import { refuseUnreadable } from './raw-reply.ts'
import type { RequestHandler } from './request-handler.ts'
import { openSockets, type Sockets } from './socket.ts'

export interface Listening {
  readonly url: string
  readonly port: number
  /** Refuses new requests, ends streams and long polls, and lets other requests finish. Closes every remaining connection after `drainMaxMs`. */
  close(): Promise<void>
}

/** Limits on connections. A program that embeds the gateway can change these limits. */
export type ConnectionLimits = Readonly<
  Record<'connectionsMax' | 'headersTimeoutMs' | 'bodyTimeoutMs' | 'drainMaxMs', number>
>

export async function listen(
  address: { port: number; host: string },
  createHandler: (port: number) => RequestHandler,
  connectionLimits: ConnectionLimits,
): Promise<Listening> {
  const server = createServer({
    maxHeaderSize: limits.headersMaxBytes,
    headersTimeout: connectionLimits.headersTimeoutMs,
    requestTimeout: connectionLimits.bodyTimeoutMs,
    keepAliveTimeout: limits.waitMaxMs,
    connectionsCheckingInterval: connectionLimits.headersTimeoutMs / 5,
    // The authenticator checks the Host header and replies with a readable fault.
    requireHostHeader: false,
    noDelay: true,
  })
  server.maxConnections = connectionLimits.connectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, resolve)
  })
  const { port } = server.address() as AddressInfo // a server that listens on TCP has an address of this type
  const handler = createHandler(port)
  const sockets = openSockets(handler)
  const open = new Set<Socket>()
  let closing = false
  server.on('connection', socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  attachHandlers(server, handler, sockets, () => closing)
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    url: `http://${host}:${port}`,
    port,
    close() {
      closing = true
      handler.close()
      sockets.close()
      // Node treats a connection without any request as busy and would not close it, so close such connections here.
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
      return drain(server, open, connectionLimits.drainMaxMs)
    },
  }
}

/** Attaches the event handlers of the HTTP server. A bug on one connection is logged and closes only this connection. */
function attachHandlers(server: Server, handler: RequestHandler, sockets: Sockets, isClosing: () => boolean): void {
  const replies = new WeakMap<Duplex, ServerResponse>()
  const logAndDestroy = (connection: { destroy(): unknown }) => (error: unknown) => {
    toFault(error, handler.log)
    connection.destroy()
  }
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    replies.set(req.socket, res)
    res.on('error', logAndDestroy(res))
    const sendReply = (reply: OutgoingReply) => {
      if (res.destroyed) return
      if (typeof reply.body === 'function') openStream(res, reply, reply.body)
      else send(res, reply, reply.body, isClosing() || !req.complete)
    }
    handler.handle(toIncoming(req, res)).then(sendReply).catch(logAndDestroy(res))
  }
  server.on('request', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('upgrade', (req, socket, head) => {
    sockets.upgrade(toIncoming(req, socket), req, socket, head).catch(logAndDestroy(socket))
  })
  server.on('clientError', (error, socket) => {
    const reply = replies.get(socket)
    const isMidReply = reply?.headersSent === true && !reply.writableFinished
    refuseUnreadable(error, socket, isMidReply)
  })
  // Accepting a connection can fail, for example if the process is out of file descriptors. The server must keep serving the other connections.
  server.on('error', error => void toFault(error, handler.log))
}

function drain(server: Server, open: ReadonlySet<Socket>, maxMs: number): Promise<void> {
  return new Promise(resolve => {
    // Some clients never read their last reply or never answer the closing frame, so close their connections after `maxMs`.
    const timeout = setTimeout(() => {
      for (const socket of open) socket.destroy()
      resolve()
    }, maxMs)
    server.close(() => {
      clearTimeout(timeout)
      resolve()
    })
    server.closeIdleConnections()
  })
}

/** Headers that a client may send only once. If a header is sent twice, Node drops or joins values, so the gateway could use another value than the one that a proxy in front of it has checked. */
const sentOnce = new Set(['host', 'authorization', 'content-type', 'content-encoding', 'origin', 'idempotency-key'])
function findRepeatedHeader(raw: readonly string[]): string | null {
  let seen = ''
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase() // header names are at even indexes
    if (!sentOnce.has(name)) continue
    if (seen.includes(`${name};`)) return name
    seen += `${name};`
  }
  return null
}

interface Connection {
  readonly destroyed: boolean
  once(event: 'close', callback: () => void): unknown
}
function toIncoming(req: IncomingMessage, connection: Connection): IncomingRequest {
  const { headers } = req
  return {
    method: req.method ?? '',
    target: req.url ?? '',
    repeatedHeader: findRepeatedHeader(req.rawHeaders),
    hasBody: headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0',
    header: name => headers[name] as string | undefined, // only set-cookie is an array, and requests do not contain set-cookie
    body: maxBytes => readBody(req, maxBytes),
    onDisconnect(callback) {
      if (connection.destroyed) callback()
      else connection.once('close', callback)
    },
  }
}

function readBody(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(bodyTooLarge(maxBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        req.pause()
        reject(bodyTooLarge(maxBytes))
      } else chunks.push(chunk)
    })
    req.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))) // there is exactly one chunk
    const endedEarly = () => reject(new Fault('bad_input', 'The body ended too early.'))
    req.once('close', () => {
      if (!req.complete) endedEarly()
    })
    req.once('error', endedEarly)
  })
}

/** Sends a reply. With `isLast`, also closes the connection, so that the unread rest of a body is not parsed as the next request. */
function send(res: ServerResponse, reply: OutgoingReply, body: string | Buffer, isLast: boolean): void {
  const headers = [...reply.headers]
  if (reply.status !== 304) headers.push('content-length', String(Buffer.byteLength(body)))
  if (isLast) headers.push('connection', 'close')
  res.writeHead(reply.status, headers)
  res.end(res.req.method === 'HEAD' ? undefined : body)
}

/** Opens a streamed reply. The stream lasts as long as its connection, so it needs no chunked encoding, and all clients receive the same bytes. */
function openStream(res: ServerResponse, reply: OutgoingReply, open: (sink: ByteSink) => void): void {
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
