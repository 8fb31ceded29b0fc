/** Runs a request handler on Node's HTTP server with connection limits, and drains open requests when the server closes. */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { Fault, limits } from '@holdpoint/protocol'
import { type ByteSink, type IncomingRequest, type Log, type OutgoingReply, toFault } from './http-message.ts'
import { bodyTooLarge } from './input.ts'
import { OpenConnections } from './open-connections.ts'
import { refuseUnreadable } from './raw-reply.ts'
import type { Sockets } from './socket.ts'
import { sourceOf } from './wrong-attempts.ts'

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

export interface ListenAddress {
  /** Port 0 picks any free port. */
  readonly port: number
  /** The address to listen on. By default the server listens on both loopback addresses. */
  readonly host?: string
  /** The path of a Unix socket on which the server listens as well. The server replaces a file at this path and lets only its own user connect. */
  readonly socketPath?: string
  readonly keeper?: SocketKeeper
}

/** Another process that keeps the TCP sockets of this one open, so that nobody else can take the port while this process restarts. */
export interface SocketKeeper {
  /** Resolves with the handle that is kept under this name, or null. */
  take(name: string): Promise<object | null>
  keep(name: string, handle: object): void
}

export interface HttpHandler {
  readonly log: Log
  /** Resolves with the reply, and never rejects. */
  handle(incoming: IncomingRequest): Promise<OutgoingReply>
  /** Ends streams and long polls. */
  close(): void
}
/** What a server serves. Without `sockets`, a WebSocket handshake is an ordinary request. */
export interface Served {
  readonly handler: HttpHandler
  readonly sockets?: Sockets
}

/** Creates the handler once the port is known. `host` is the address that the person chose, as it appears in URLs, or null for the default addresses. */
export type CreateServed = (port: number, host: string | null) => Served

export async function listen(
  { port, host, socketPath, keeper }: ListenAddress,
  createServed: CreateServed,
  connectionLimits: ConnectionLimits,
): Promise<Listening> {
  const hosts = host === undefined ? loopbackHosts : [host]
  for (let attempt = 1; ; attempt++) {
    const endpoint = new HttpEndpoint(port => createServed(port, urlHost(host)), connectionLimits, keeper)
    try {
      const listening = await bind(endpoint, port, hosts)
      if (socketPath !== undefined) await endpoint.listenOnPath(socketPath)
      endpoint.keepSockets()
      return listening
    } catch (error) {
      await endpoint.close()
      // A free port of the first address may be taken on the second one.
      if (port !== 0 || codeOf(error) !== 'EADDRINUSE' || attempt === portAttemptsMax) throw error
    }
  }
}

/** If another program listened on one of these addresses, browsers would open that program's page at http://localhost with the gateway's port. */
const loopbackHosts = ['127.0.0.1', '::1'] as const
/** Errors of `listen` on a machine without IPv6. */
const noIpv6Codes: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])
/** How many ports to try until one is free on both addresses. */
const portAttemptsMax = 20

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

async function bind(endpoint: HttpEndpoint, wantedPort: number, hosts: readonly string[]): Promise<Listening> {
  const [first = '', ...others] = hosts
  const port = await endpoint.listen(wantedPort, first)
  for (const host of others)
    await endpoint.listen(port, host).catch((error: unknown) => {
      if (!noIpv6Codes.has(codeOf(error))) throw error
    })
  const name = hosts === loopbackHosts ? 'localhost' : (urlHost(first) ?? 'localhost')
  return { url: `http://${name}:${port}`, port, close: () => endpoint.close() }
}

/** Returns an address as it appears in URLs. Returns null for addresses that mean all addresses of the machine, because no URL should contain them. */
function urlHost(address: string | undefined): string | null {
  if (address === undefined || address === '0.0.0.0' || address === '::') return null
  return address.includes(':') ? `[${address}]` : address
}

/** One request handler on one port of one or more addresses, and on a Unix socket. */
class HttpEndpoint {
  readonly #createServed: (port: number) => Served
  readonly #limits: ConnectionLimits
  readonly #servers: Server[] = []
  #handling: Handling | null = null
  #closing = false

  readonly #keeper: SocketKeeper | undefined
  /** The sockets that the keeper does not have yet. */
  readonly #notKept = new Map<string, Server>()

  constructor(
    createServed: (port: number) => Served,
    connectionLimits: ConnectionLimits,
    keeper: SocketKeeper | undefined,
  ) {
    this.#createServed = createServed
    this.#limits = connectionLimits
    this.#keeper = keeper
  }

  /** Resolves with the port. Requests are handled from the first moment, before the next address is bound. */
  async listen(port: number, host: string): Promise<number> {
    const server = this.#createServer()
    const name = `${host} ${port}`
    const kept = (await this.#keeper?.take(name)) ?? null
    await startListening(server, () => (kept ? server.listen(kept) : server.listen(port, host)))
    if (!kept) this.#notKept.set(name, server)
    const bound = server.address() as AddressInfo // a server that listens on TCP has an address of this type
    this.#handling ??= this.#startHandling(bound.port)
    this.#attach(server, this.#handling, this.#handling.overTcp)
    return bound.port
  }

  /** Call this after `listen`, which decides the port that Host and Origin headers must name. */
  async listenOnPath(path: string): Promise<void> {
    if (!this.#handling) throw new Error('listen() must come before listenOnPath()')
    // A gateway that was killed leaves its socket file behind, and nothing can listen on that file again.
    rmSync(path, { force: true })
    const server = this.#createServer()
    await startListening(server, () => server.listen(path))
    chmodSync(path, 0o600)
    this.#attach(server, this.#handling, this.#handling.overUnix)
  }

  /** Call this when all addresses are bound, because sockets of a failed attempt must not be kept. */
  keepSockets(): void {
    for (const [name, server] of this.#notKept) {
      const { _handle: handle } = server as unknown as { readonly _handle: object } // a field that `server.listen(handle)` documents
      this.#keeper?.keep(name, handle)
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    if (!this.#handling) return
    const { handler, sockets, overTcp, overUnix } = this.#handling
    handler.close()
    sockets?.close()
    const open = [overTcp, overUnix]
    for (const connections of open) {
      connections.stopChecks()
      // Node treats a connection without any request as busy and would not close it, so close such connections here.
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    }
    await Promise.all(this.#servers.map(server => drain(server, open, this.#limits.drainMaxMs)))
  }

  #createServer(): Server {
    const server = createServer({
      maxHeaderSize: limits.headersMaxBytes,
      headersTimeout: this.#limits.headersTimeoutMs,
      requestTimeout: this.#limits.bodyTimeoutMs,
      keepAliveTimeout: limits.waitMaxMs,
      connectionsCheckingInterval: this.#limits.headersTimeoutMs / 5,
      // The authenticator checks the Host header and replies with a readable fault.
      requireHostHeader: false,
      noDelay: true,
    })
    // Node silently drops further headers, so let one more through than is allowed. The authenticator then refuses the request.
    server.maxHeadersCount = limits.headersMax + 1
    return server
  }

  #startHandling(port: number): Handling {
    const served = this.#createServed(port)
    const openConnections = () => new OpenConnections(this.#limits.connectionsMax, served.handler.log)
    return { ...served, overTcp: openConnections(), overUnix: openConnections() }
  }

  #attach(server: Server, served: Served, connections: OpenConnections): void {
    // The limit holds for all addresses together, so `server.maxConnections`, which counts one address, is not enough.
    server.on('connection', socket => connections.add(socket))
    attachHandlers(server, served, connections, () => this.#closing)
    this.#servers.push(server)
  }
}

interface Handling extends Served {
  readonly overTcp: OpenConnections
  /** Connections over the Unix socket are counted separately, so that clients of the port cannot lock out the commands of the gateway's own user. */
  readonly overUnix: OpenConnections
}

function startListening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    listen()
  })
}

/** Attaches the event handlers of the HTTP server. A bug on one connection is logged and closes only this connection. */
function attachHandlers(
  server: Server,
  { handler, sockets }: Served,
  connections: OpenConnections,
  isClosing: () => boolean,
): void {
  const replies = new WeakMap<Duplex, ServerResponse>()
  // Ask the server and not the connection, because a connection that the client has closed no longer has an address.
  const transport = typeof server.address() === 'string' ? 'unixSocket' : 'tcp'
  const logAndDestroy = (connection: { destroy(): unknown }) => (error: unknown) => {
    toFault(error, handler.log)
    connection.destroy()
  }
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    replies.set(req.socket, res)
    res.on('error', logAndDestroy(res))
    const sendReply = (reply: OutgoingReply) => {
      if (res.destroyed) return
      if (typeof reply.body === 'function') openStream(res, reply, reply.body, connections)
      else send(res, reply, reply.body, isClosing() || !req.complete, connections)
    }
    handler
      .handle(toIncoming(req, res, connections, transport))
      .then(sendReply)
      .catch(logAndDestroy(res))
  }
  server.on('request', onRequest)
  server.on('checkExpectation', onRequest)
  if (sockets)
    server.on('upgrade', (req, socket, head) => {
      sockets.upgrade(toIncoming(req, socket, connections, transport), req, socket, head).catch(logAndDestroy(socket))
    })
  server.on('clientError', (error, socket) => {
    const reply = replies.get(socket)
    const isMidReply = reply?.headersSent === true && !reply.writableFinished
    refuseUnreadable(error, socket, isMidReply)
  })
  // Accepting a connection can fail, for example if the process is out of file descriptors. The server must keep serving the other connections.
  server.on('error', error => void toFault(error, handler.log))
}

function drain(server: Server, open: readonly OpenConnections[], maxMs: number): Promise<void> {
  return new Promise(resolve => {
    // Some clients never read the last reply, or never confirm the closing frame, so close their connections after `maxMs`.
    const timeout = setTimeout(() => {
      for (const connections of open) for (const socket of connections) socket.destroy()
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

/** Returns a function that registers callbacks for the end of a connection, with a single event listener. */
function closeCallbacks(connection: Connection): (callback: () => void) => void {
  let callbacks: (() => void)[] | null = null
  return callback => {
    if (connection.destroyed) callback()
    else if (callbacks) callbacks.push(callback)
    else {
      const all = [callback]
      callbacks = all
      connection.once('close', () => {
        for (const each of all) each()
      })
    }
  }
}

interface Connection {
  readonly destroyed: boolean
  once(event: 'close', callback: () => void): unknown
}
function toIncoming(
  req: IncomingMessage,
  connection: Connection,
  connections: OpenConnections,
  transport: IncomingRequest['transport'],
): IncomingRequest {
  const { headers } = req
  const length = headers['content-length']
  const onClose = closeCallbacks(connection)
  return {
    transport,
    method: req.method ?? '',
    target: req.url ?? '',
    repeatedHeader: findRepeatedHeader(req.rawHeaders),
    headerCount: req.rawHeaders.length / 2,
    // A server that listens on all IPv6 addresses also accepts IPv4 connections, whose addresses have this prefix.
    localAddress: req.socket.localAddress?.replace(/^::ffff:/, '') ?? null,
    hasBody: headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0',
    bodyBytes: length === undefined ? null : Number(length),
    source: sourceOf(req.socket.remoteAddress),
    header: name => headers[name] as string | undefined, // only set-cookie is an array, and requests do not contain set-cookie
    body: maxBytes => readBody(req, maxBytes),
    onClose,
    protect() {
      connections.protect(req.socket)
      onClose(() => connections.unprotect(req.socket))
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
    req.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))) // the list has exactly one element
    const endedEarly = () => reject(new Fault('bad_input', 'The body ended too early.'))
    req.once('close', () => {
      if (!req.complete) endedEarly()
    })
    req.once('error', endedEarly)
  })
}

/** Sends a reply. With `isLast`, also closes the connection, so that the unread rest of a body is not parsed as the next request. */
function send(
  res: ServerResponse,
  reply: OutgoingReply,
  body: string | Buffer,
  isLast: boolean,
  connections: OpenConnections,
): void {
  const headers = [...reply.headers]
  const length = Buffer.byteLength(body)
  if (reply.status !== 304) headers.push('content-length', String(length))
  if (isLast) headers.push('connection', 'close')
  res.writeHead(reply.status, headers)
  if (res.req.method === 'HEAD') res.end()
  else if (length <= limits.httpPartMaxBytes) res.end(body)
  else connections.writerFor(res).end(Buffer.from(body))
}

/** Opens a streamed reply. The stream lasts as long as its connection, so it needs no chunked encoding, and all clients receive the same bytes. */
function openStream(
  res: ServerResponse,
  reply: OutgoingReply,
  open: (sink: ByteSink) => void,
  connections: OpenConnections,
): void {
  res.useChunkedEncodingByDefault = false
  res.shouldKeepAlive = false
  res.writeHead(reply.status, [...reply.headers])
  res.flushHeaders()
  open(connections.writerFor(res))
}
