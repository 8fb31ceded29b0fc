/** Runs operations and sends the event stream over WebSockets, with the same checks as HTTP. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { SerializedFrame } from '@holdpoint/engine'
import { apiRoot, contract, Fault, type Json, limits, type OperationName, parseJsonStrict } from '@holdpoint/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Authenticated } from './authenticate.ts'
import { type IncomingRequest, toFault } from './http-message.ts'
import { readIdempotencyKey } from './input.ts'
import { refuse } from './raw-reply.ts'
import type { RequestHandler } from './request-handler.ts'
import { SocketWriter } from './socket-writer.ts'
import { readSubscribeOptions } from './sse-stream.ts'
import type { ClientSubscription, FrameSink } from './subscriptions.ts'

export interface Sockets {
  upgrade(incoming: IncomingRequest, req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  close(): void
}

export function openSockets(handler: RequestHandler): Sockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.inboundFrameMaxBytes,
    perMessageDeflate: false,
  })
  server.on('wsClientError', (error, socket) =>
    refuse(socket, new Fault('bad_input', `The WebSocket handshake is not valid: ${error.message}.`)),
  )
  const connections = new Set<SocketConnection>()
  const heartbeat = setInterval(() => {
    for (const connection of connections) connection.heartbeat()
  }, limits.heartbeatMs).unref()
  let closed = false

  return {
    async upgrade(incoming, req, socket, head) {
      const onError = () => socket.destroy()
      socket.once('error', onError)
      try {
        const authenticated = await handler.authenticate(incoming, 'socket')
        if (closed) throw new Fault('draining', 'This gateway is shutting down. Connect again in a moment.')
        if (incoming.target !== `${apiRoot}/socket`)
          throw new Fault('not_found', `There is no WebSocket at this path. Connect to ${apiRoot}/socket.`)
        socket.off('error', onError)
        server.handleUpgrade(req, socket, head, ws => {
          const connection = new SocketConnection(ws, handler, authenticated)
          connections.add(connection)
          ws.once('close', () => connections.delete(connection))
        })
      } catch (error) {
        refuse(socket, toFault(error, handler.log))
      }
    },
    close() {
      closed = true
      clearInterval(heartbeat)
      for (const connection of connections) connection.close()
    },
  }
}

const encodedFrames = new WeakMap<SerializedFrame, Buffer>()
function encodeFrame(frame: SerializedFrame): Buffer {
  const encoded = encodedFrames.get(frame) ?? Buffer.from(frame.json)
  encodedFrames.set(frame, encoded)
  return encoded
}

type Fields = { readonly [key: string]: Json }
type FrameId = string | number

/** One WebSocket with its running operations and at most one subscription. The client chooses the id of each operation. */
class SocketConnection {
  readonly #ws: WebSocket
  readonly #writer: SocketWriter
  readonly #handler: RequestHandler
  readonly #authenticated: Authenticated
  /** For each running operation, by its id, a function that cancels the operation. */
  readonly #running = new Map<FrameId, () => void>()
  #subscription: ClientSubscription | null = null
  #subscribeCount = 0
  #gotPong = true

  constructor(ws: WebSocket, handler: RequestHandler, authenticated: Authenticated) {
    this.#ws = ws
    this.#writer = new SocketWriter(ws)
    this.#handler = handler
    this.#authenticated = authenticated
    ws.on('message', (data: Buffer, isBinary) => this.#onMessage(data, isBinary))
    ws.on('pong', () => {
      this.#gotPong = true
    })
    ws.on('error', error => this.#terminate(error.message))
    ws.once('close', () => {
      this.#subscription?.unsubscribe()
      for (const cancel of this.#running.values()) cancel()
    })
  }

  heartbeat(): void {
    // Pongs do not arrive while reading is paused, so a client that has read queued messages counts as alive as well.
    const isAlive = this.#writer.hasProgressed() || this.#gotPong
    this.#gotPong = false
    if (isAlive) this.#ws.ping()
    else this.#terminate('the client read nothing and did not answer a ping')
  }

  close(): void {
    this.#subscription?.unsubscribe()
    // Long polls have just ended with `draining`. Their replies are queued in the current turn of the event loop and must be sent before the closing frame.
    setImmediate(() => this.#writer.end())
  }

  #terminate(reason: string): void {
    this.#handler.log({ disconnected: this.#authenticated.caller?.name ?? 'nobody', reason })
    this.#ws.terminate()
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    let id: FrameId | null = null
    try {
      if (isBinary) throw new Fault('bad_input', 'A frame must be JSON text, not binary.')
      const frame = parseJsonStrict(data.toString('utf8'))
      if (typeof frame !== 'object' || frame === null || Array.isArray(frame))
        throw new Fault('bad_input', 'A frame must be a JSON object.')
      const fields = frame as Fields // the check above refuses everything except objects
      if ('subscribe' in fields) void this.#subscribe(fields)
      else if ('cancel' in fields)
        this.#running.get(fields.cancel as FrameId)?.() // a value of another type is never a key of the map
      else {
        id = readId(fields.id)
        void this.#runOperation(id, fields)
      }
    } catch (error) {
      this.#sendFault(id, error)
    }
  }

  async #runOperation(id: FrameId, fields: Fields): Promise<void> {
    try {
      const { op, input, idempotencyKey } = readOperation(fields)
      if (this.#running.has(id)) throw new Fault('bad_input', `An operation with the id ${id} is already running.`)
      if (this.#running.size >= limits.socketInFlightMax)
        throw new Fault('too_many', `More than ${limits.socketInFlightMax} operations are running on this socket.`)
      let onCancel = () => {}
      this.#running.set(id, () => onCancel())
      try {
        const caller = await this.#authenticated.revalidate()
        const onDisconnect = (callback: () => void) => {
          onCancel = callback
        }
        const { status, body } = await this.#handler.operations.dispatch(caller, {
          op,
          input,
          idempotencyKey,
          onDisconnect,
        })
        this.#send({ frame: 'reply', id, status, body })
      } finally {
        this.#running.delete(id)
      }
    } catch (error) {
      this.#sendFault(id, error)
    }
  }

  async #subscribe({ subscribe }: Fields): Promise<void> {
    try {
      if (typeof subscribe !== 'object' || subscribe === null)
        throw new Fault('bad_input', '"subscribe" must be an object.')
      const number = ++this.#subscribeCount
      const { revalidate } = this.#authenticated
      const caller = await revalidate()
      const options = readSubscribeOptions(subscribe as Fields) // `readSubscribeOptions` checks every field
      const subscription = await this.#handler.subscriptions.subscribe(caller, options, revalidate)
      // Drop this subscription if a newer subscribe frame has arrived or the socket has closed in the meantime.
      if (number !== this.#subscribeCount || this.#ws.readyState !== this.#ws.OPEN) return subscription.unsubscribe()
      this.#subscription?.unsubscribe()
      this.#subscription = subscription
      subscription.open(socketSink(this.#ws, this.#writer))
    } catch (error) {
      this.#sendFault(null, error)
    }
  }

  #sendFault(id: FrameId | null, error: unknown): void {
    const fault = toFault(error, this.#handler.log)
    this.#send({ frame: 'reply', id, status: fault.status, body: fault })
  }

  #send(frame: object): void {
    this.#writer.send('reply', Buffer.from(JSON.stringify(frame)))
  }
}

function socketSink(ws: WebSocket, writer: SocketWriter): FrameSink {
  return {
    start({ hello, missed }) {
      let bytes = 0
      const send = (json: string) => {
        const text = Buffer.from(json)
        bytes += text.length
        writer.send('frame', text)
      }
      send(JSON.stringify({ frame: 'hello', hello }))
      for (const { json } of missed) send(json)
      return bytes
    },
    send(frames) {
      for (const frame of frames) writer.send('frame', encodeFrame(frame))
    },
    buffered: () => writer.unsentFrameBytes,
    // SocketConnection sends the pings and closes the socket, so these two methods do nothing.
    heartbeat() {},
    close() {},
    destroy: () => ws.terminate(),
  }
}

function readId(id: Json | undefined): FrameId {
  if (typeof id === 'number' || (typeof id === 'string' && id.length <= limits.keyMax)) return id
  throw new Fault(
    'bad_input',
    'A frame needs "subscribe", "cancel", or an "id" (a number or a short string) with an "op".',
  )
}

const operationFields = new Set(['id', 'op', 'input', 'idempotencyKey'])
function readOperation(frame: Fields): { op: OperationName; input: Json; idempotencyKey: string | null } {
  const unknown = Object.keys(frame).find(name => !operationFields.has(name))
  if (unknown !== undefined) throw new Fault('bad_input', `The frame has the unknown field "${unknown.slice(0, 80)}".`)
  const { op, input = {}, idempotencyKey } = frame
  if (typeof op !== 'string' || !Object.hasOwn(contract, op))
    throw new Fault('not_found', 'There is no such operation. GET /api/v1/openapi.json lists all operations.')
  if (op === 'signIn' || op === 'signOut') throw new Fault('unsupported', `${op} sets a cookie, so it needs HTTP.`)
  return { op: op as OperationName, input, idempotencyKey: readIdempotencyKey(idempotencyKey) } // every key of the contract is an operation name
}
