/** Runs operations and sends the event stream over WebSockets, with the same checks as HTTP. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Caller, OperationResult, SerializedFrame, SubscribeOptions } from '@holdpoint/engine'
import {
  apiRoot,
  contract,
  Fault,
  type Json,
  limits,
  type OperationName,
  parseJsonStrict,
  slotUnits,
} from '@holdpoint/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { requireCaller } from './authenticate.ts'
import { type IncomingRequest, toFault } from './http-message.ts'
import { readIdempotencyKey } from './input.ts'
import { isLongPoll, slotUnitsOf } from './operation-dispatcher.ts'
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
    autoPong: false,
    maxFragments: limits.messageFragmentsMax,
    maxBufferedChunks: limits.framePiecesMax,
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
        const caller = requireCaller(await handler.authenticate(incoming, 'socket'))
        if (closed) throw new Fault('draining', 'This gateway is shutting down. Connect again in a moment.')
        if (incoming.target !== `${apiRoot}/socket`)
          throw new Fault('not_found', `There is no WebSocket at this path. Connect to ${apiRoot}/socket.`)
        incoming.onClose(handler.admission.connections.take(caller))
        incoming.onClose(handler.admission.sockets.take(caller))
        incoming.protect()
        socket.off('error', onError)
        server.handleUpgrade(req, socket, head, ws => {
          const connection = new SocketConnection(ws, handler, caller)
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

type Reply = OperationResult<unknown> | Fault
function encodeReply(id: FrameId | null, reply: Reply): Buffer {
  const { status } = reply
  return Buffer.from(JSON.stringify({ frame: 'reply', id, status, body: reply instanceof Fault ? reply : reply.body }))
}

type Fields = { readonly [key: string]: Json }
type FrameId = string | number

const revokedCloseMs = 1000

/** One WebSocket with its running operations and at most one subscription. The client chooses the id of each operation. */
class SocketConnection {
  readonly #ws: WebSocket
  readonly #writer: SocketWriter
  readonly #handler: RequestHandler
  readonly #caller: Caller
  /** For each running operation, by its id, a function that cancels the operation. */
  readonly #running = new Map<FrameId, () => void>()
  /** The size of the requests that wait or run. */
  #requestBytes = 0
  #subscription: ClientSubscription | null = null
  /** The last subscribe frame: its number, how to cancel it, and when it is done. */
  #subscribing = { number: 0, cancel: () => {}, done: Promise.resolve() }
  #gotPong = true
  #isRevoked = false
  readonly #pings: PingReplies

  constructor(ws: WebSocket, handler: RequestHandler, caller: Caller) {
    this.#ws = ws
    this.#writer = new SocketWriter(ws, () => this.#pauseOrResume())
    this.#handler = handler
    this.#caller = caller
    this.#pings = new PingReplies(ws, () => this.#terminate(`the client sent more than ${limits.pingsMax} pings`))
    ws.on('message', (data: Buffer, isBinary) => this.#onMessage(data, isBinary))
    ws.on('pong', () => {
      this.#gotPong = true
    })
    ws.on('error', error => this.#terminate(error.message))
    const stopWatching = handler.revocations.watch(caller.token, () => this.#onRevoked())
    ws.once('close', () => {
      stopWatching()
      this.#subscribing.cancel()
      this.#subscription?.unsubscribe()
      for (const cancel of this.#running.values()) cancel()
    })
  }

  heartbeat(): void {
    this.#pings.resetCount()
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

  /** Cancels everything and closes the socket with the reason. Only the reply of an operation that has just revoked its own credential is still sent. */
  #onRevoked(): void {
    this.#isRevoked = true
    this.#subscribing.cancel()
    this.#subscription?.unsubscribe()
    for (const cancel of this.#running.values()) cancel()
    setImmediate(() => this.#ws.close(1008, 'This credential was revoked.'))
    // A client that does not confirm the closing frame is disconnected anyway.
    setTimeout(() => this.#ws.terminate(), revokedCloseMs).unref()
  }

  #terminate(reason: string): void {
    this.#handler.log({ disconnected: this.#caller.name, reason })
    this.#ws.terminate()
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#isRevoked) return
    let id: FrameId | null = null
    try {
      if (isBinary) throw new Fault('bad_input', 'A frame must be JSON text, not binary.')
      const frame = parseJsonStrict(data.toString('utf8'))
      if (typeof frame !== 'object' || frame === null || Array.isArray(frame))
        throw new Fault('bad_input', 'A frame must be a JSON object.')
      const fields = frame as Fields // the check above refuses everything except objects
      if ('subscribe' in fields) this.#subscribe(fields)
      else if ('cancel' in fields)
        this.#running.get(fields.cancel as FrameId)?.() // a value of another type is never a key of the map
      else {
        id = readId(fields.id)
        void this.#runOperation(id, fields, data.length)
      }
    } catch (error) {
      this.#sendFault(id, error)
    }
  }

  async #runOperation(id: FrameId, fields: Fields, bytes: number): Promise<void> {
    let release = () => {}
    try {
      const { op, input, idempotencyKey } = readOperation(fields)
      if (this.#running.has(id)) throw new Fault('bad_input', `An operation with the id ${id} is already running.`)
      release = this.#admit(op, bytes)
      const cancelCallbacks: (() => void)[] = []
      this.#running.set(id, () => {
        for (const callback of cancelCallbacks) callback()
      })
      const onDisconnect = (callback: () => void) => void cancelCallbacks.push(callback)
      const slot = this.#handler.admission.slots.slotFor(this.#caller, slotUnitsOf(op), onDisconnect)
      try {
        const call = { op, input, idempotencyKey, bytes, slot, onDisconnect }
        const reply = await this.#handler.operations.dispatch(this.#caller, call)
        this.#send(id, reply, () => slot.release())
      } catch (error) {
        slot.release()
        throw error
      } finally {
        this.#running.delete(id)
      }
    } catch (error) {
      this.#sendFault(id, error)
    } finally {
      release()
    }
  }

  /** Counts an operation until the returned function is called. A long poll holds only its few parsed fields, so its size does not count. */
  #admit(op: OperationName, bytes: number): () => void {
    const { operations, requestBytes } = this.#handler.admission
    const counted = isLongPoll(op) ? 0 : bytes
    const releaseOperation = operations.take(this.#caller)
    let releaseBytes = () => {}
    try {
      releaseBytes = requestBytes.take(this.#caller, counted)
    } catch (error) {
      releaseOperation()
      throw error
    }
    this.#requestBytes += counted
    this.#pauseOrResume()
    return () => {
      releaseOperation()
      releaseBytes()
      this.#requestBytes -= counted
      this.#pauseOrResume()
    }
  }

  /** Stops reading from the socket while its running requests are too large or the client leaves too many replies unread. Refusing further operations would only add more replies. */
  #pauseOrResume(): void {
    const isFull =
      this.#requestBytes > limits.socketRequestsMaxBytes || this.#writer.queuedReplies > limits.queuedRepliesMax
    if (isFull && !this.#ws.isPaused) this.#ws.pause()
    else if (!isFull && this.#ws.isPaused) this.#ws.resume()
  }

  /** Subscribes after the previous subscribe frame is done or canceled, so that a socket builds one snapshot at a time. */
  #subscribe({ subscribe }: Fields): void {
    if (typeof subscribe !== 'object' || subscribe === null)
      throw new Fault('bad_input', '"subscribe" must be an object.')
    const options = readSubscribeOptions(subscribe as Fields) // `readSubscribeOptions` checks every field
    const previous = this.#subscribing
    previous.cancel()
    const number = previous.number + 1
    const run = async () => {
      if (number === this.#subscribing.number) await this.#openSubscription(number, options)
    }
    this.#subscribing = { number, cancel: () => {}, done: previous.done.then(run) }
  }

  async #openSubscription(number: number, options: SubscribeOptions): Promise<void> {
    const isWanted = () =>
      number === this.#subscribing.number && !this.#isRevoked && this.#ws.readyState === this.#ws.OPEN
    const onCancel = (callback: () => void) => {
      this.#subscribing.cancel = callback
    }
    const slot = this.#handler.admission.slots.slotFor(this.#caller, slotUnits.snapshot, onCancel)
    try {
      await slot.acquire()
      const subscription = await this.#handler.subscriptions.subscribe(this.#caller, options)
      if (!isWanted()) {
        subscription.unsubscribe()
        slot.release()
        return
      }
      this.#subscription?.unsubscribe()
      this.#subscription = subscription
      subscription.open(socketSink(this.#ws, this.#writer), () => slot.release())
    } catch (error) {
      slot.release()
      if (isWanted()) this.#sendFault(null, error)
    }
  }

  #sendFault(id: FrameId | null, error: unknown): void {
    // A revoked credential ends its operations with other faults, which would be misleading. The closing frame contains the reason.
    if (this.#isRevoked) return
    this.#send(id, toFault(error, this.#handler.log))
  }

  #send(id: FrameId | null, reply: Reply, onSent: () => void = () => {}): void {
    const encode = () => {
      try {
        return encodeReply(id, reply)
      } catch (error) {
        return encodeReply(id, toFault(error, this.#handler.log))
      }
    }
    this.#writer.sendReply(encode, onSent)
    this.#pauseOrResume()
  }
}

/** Sends pongs for the pings of a client, one at a time: while a pong is unsent, further pings need no pong of their own. A client that sends a flood of pings is disconnected. */
class PingReplies {
  #count = 0
  #isSending = false

  constructor(ws: WebSocket, onFlood: () => void) {
    ws.on('ping', (data: Buffer) => {
      if (++this.#count === limits.pingsMax + 1) onFlood()
      if (this.#isSending || this.#count > limits.pingsMax) return
      this.#isSending = true
      ws.pong(data, false, () => {
        this.#isSending = false
      })
    })
  }

  resetCount(): void {
    this.#count = 0
  }
}

function socketSink(ws: WebSocket, writer: SocketWriter): FrameSink {
  return {
    start({ hello, missed }, onSent) {
      let bytes = 0
      const send = (json: string, onSent?: () => void) => {
        const text = Buffer.from(json)
        bytes += text.length
        writer.sendFrame(text, onSent)
      }
      const last = missed.length - 1
      send(JSON.stringify({ frame: 'hello', hello }), last < 0 ? onSent : undefined)
      for (const [i, { json }] of missed.entries()) send(json, i === last ? onSent : undefined)
      return bytes
    },
    send(frames) {
      for (const frame of frames) writer.sendFrame(encodeFrame(frame))
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
