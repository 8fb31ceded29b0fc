/** The WebSocket: the stream's frames outward, operations inward, through the same gate and the same gateway as HTTP. */
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
import { readWatchOptions } from './sse-stream.ts'
import type { ClientSubscription, FrameSink } from './subscriptions.ts'

export interface Sockets {
  upgrade(incoming: IncomingRequest, req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  close(): void
}

export function openSockets(door: RequestHandler): Sockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.inboundFrameMaxBytes,
    perMessageDeflate: false,
  })
  server.on('wsClientError', (error, socket) =>
    refuse(socket, new Fault('bad_input', `This is no handshake: ${error.message}.`)),
  )
  const lines = new Set<SocketConnection>()
  const beat = setInterval(() => {
    for (const line of lines) line.beat()
  }, limits.heartbeatMs).unref()
  let closed = false

  return {
    async upgrade(incoming, req, socket, head) {
      const ended = () => socket.destroy()
      socket.once('error', ended)
      try {
        const admission = await door.gate(incoming, 'socket')
        if (closed) throw new Fault('draining', 'This gateway is closing; connect again in a moment.')
        if (incoming.target !== `${apiRoot}/socket`) throw new Fault('not_found', 'There is no socket at this path.')
        socket.off('error', ended)
        server.handleUpgrade(req, socket, head, ws => {
          const line = new SocketConnection(ws, door, admission)
          lines.add(line)
          ws.once('close', () => lines.delete(line))
        })
      } catch (error) {
        refuse(socket, toFault(error, door.log))
      }
    },
    close() {
      closed = true
      clearInterval(beat)
      for (const line of lines) line.close()
    },
  }
}

const texts = new WeakMap<SerializedFrame, Buffer>()
function textOf(frame: SerializedFrame): Buffer {
  const text = texts.get(frame) ?? Buffer.from(frame.json)
  texts.set(frame, text)
  return text
}

type Members = { readonly [key: string]: Json }
type FrameId = string | number

/** One socket: its operations under way, by the ids that it gave them, and its one watch. */
class SocketConnection {
  readonly #ws: WebSocket
  readonly #wire: SocketWriter
  readonly #door: RequestHandler
  readonly #admission: Authenticated
  readonly #underWay = new Map<FrameId, () => void>()
  #seat: ClientSubscription | null = null
  #watches = 0
  #alive = true

  constructor(ws: WebSocket, door: RequestHandler, admission: Authenticated) {
    this.#ws = ws
    this.#wire = new SocketWriter(ws)
    this.#door = door
    this.#admission = admission
    ws.on('message', (data: Buffer, isBinary) => this.#hear(data, isBinary))
    ws.on('pong', () => {
      this.#alive = true
    })
    ws.on('error', error => this.#terminate(error.message))
    ws.once('close', () => {
      this.#seat?.leave()
      for (const abandon of this.#underWay.values()) abandon()
    })
  }

  beat(): void {
    // One that takes what it is sent lives, too: while it is not read from, its pongs are not heard.
    const lives = this.#wire.hasMoved() || this.#alive
    this.#alive = false
    if (lives) this.#ws.ping()
    else this.#terminate('it took nothing and did not answer a ping')
  }

  close(): void {
    this.#seat?.leave()
    // Long polls have just been told that the door closes; their replies go out before the closing frame.
    setImmediate(() => this.#wire.end())
  }

  #terminate(why: string): void {
    this.#door.log({ dropped: this.#admission.caller?.name ?? 'nobody', why })
    this.#ws.terminate()
  }

  #hear(data: Buffer, isBinary: boolean): void {
    let id: FrameId | null = null
    try {
      if (isBinary) throw new Fault('bad_input', 'Frames are JSON text, not binary.')
      const frame = parseJsonStrict(data.toString('utf8'))
      if (typeof frame !== 'object' || frame === null || Array.isArray(frame))
        throw new Fault('bad_input', 'A frame is a JSON object.')
      const members = frame as Members // an object that is no array, by the line above
      if ('subscribe' in members) void this.#subscribe(members)
      else if ('cancel' in members)
        this.#underWay.get(members.cancel as FrameId)?.() // anything else is no key of the map
      else {
        id = readId(members.id)
        void this.#operate(id, members)
      }
    } catch (error) {
      this.#fail(id, error)
    }
  }

  async #operate(id: FrameId, members: Members): Promise<void> {
    try {
      const { op, input, idempotencyKey } = readOperation(members)
      if (this.#underWay.has(id)) throw new Fault('bad_input', `An operation with the id ${id} is under way.`)
      if (this.#underWay.size >= limits.socketInFlightMax)
        throw new Fault('too_many', `More than ${limits.socketInFlightMax} operations are under way on this socket.`)
      let abandoned = () => {}
      this.#underWay.set(id, () => abandoned())
      try {
        const caller = await this.#admission.renew()
        const onGone = (callback: () => void) => {
          abandoned = callback
        }
        const { status, body } = await this.#door.work.run(caller, { op, input, idempotencyKey, onGone })
        this.#say({ frame: 'reply', id, status, body })
      } finally {
        this.#underWay.delete(id)
      }
    } catch (error) {
      this.#fail(id, error)
    }
  }

  async #subscribe(members: Members): Promise<void> {
    try {
      const { subscribe } = members
      if (typeof subscribe !== 'object' || subscribe === null)
        throw new Fault('bad_input', 'subscribe must be an object.')
      const turn = ++this.#watches
      const { renew } = this.#admission
      const seat = await this.#door.audience.seat(await renew(), readWatchOptions(subscribe as Members), renew) // strict: it refuses what it does not know
      if (turn !== this.#watches || this.#ws.readyState !== this.#ws.OPEN) return seat.leave()
      this.#seat?.leave()
      this.#seat = seat
      seat.open(screenOf(this.#ws, this.#wire))
    } catch (error) {
      this.#fail(null, error)
    }
  }

  #fail(id: FrameId | null, error: unknown): void {
    const fault = toFault(error, this.#door.log)
    this.#say({ frame: 'reply', id, status: fault.status, body: fault })
  }

  #say(frame: object): void {
    this.#wire.send('reply', Buffer.from(JSON.stringify(frame)))
  }
}

function screenOf(ws: WebSocket, wire: SocketWriter): FrameSink {
  return {
    begin({ hello, missed }) {
      let bytes = 0
      const send = (json: string) => {
        const text = Buffer.from(json)
        bytes += text.length
        wire.send('frame', text)
      }
      send(JSON.stringify({ frame: 'hello', hello }))
      for (const { json } of missed) send(json)
      return bytes
    },
    send(frames) {
      for (const frame of frames) wire.send('frame', textOf(frame))
    },
    buffered: () => wire.framesOwed,
    beat() {},
    close() {},
    drop: () => ws.terminate(),
  }
}

function readId(id: Json | undefined): FrameId {
  if (typeof id === 'number' || (typeof id === 'string' && id.length <= limits.keyMax)) return id
  throw new Fault('bad_input', 'A frame needs subscribe, cancel, or an id (a number or a short string) with an op.')
}

const members = new Set(['id', 'op', 'input', 'idempotencyKey'])
function readOperation(frame: Members): { op: OperationName; input: Json; idempotencyKey: string | null } {
  const unknown = Object.keys(frame).find(name => !members.has(name))
  if (unknown !== undefined) throw new Fault('bad_input', `A frame has no member "${unknown.slice(0, 80)}".`)
  const { op, input = {}, idempotencyKey } = frame
  if (typeof op !== 'string' || !Object.hasOwn(contract, op))
    throw new Fault('not_found', 'There is no such operation; GET /api/v1/openapi.json lists them.')
  if (op === 'signIn' || op === 'signOut') throw new Fault('unsupported', `${op} sets a cookie: use HTTP.`)
  return { op: op as OperationName, input, idempotencyKey: readIdempotencyKey(idempotencyKey) } // a key of the contract is an OpName
}
