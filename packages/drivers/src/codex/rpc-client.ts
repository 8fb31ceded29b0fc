/** Talks to an app-server of Codex: JSON messages over a WebSocket on a Unix socket. Requests go in both directions; Codex leaves out the member `jsonrpc`. */
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { RpcId } from './wire.ts'

const Message = z.object({
  id: RpcId.optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
})

/** A request or a notification of Codex. A notification has no id. */
export interface RpcMessage {
  readonly id?: RpcId
  readonly method: string
  readonly params: unknown
}

interface PendingRequest {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** The error code of JSON-RPC for an unknown method. */
const methodNotFound = -32601
const openMaxMs = 5000

export class RpcClient {
  readonly closed: Promise<void>
  /** Called for each request and notification, in order. Codex sends none before the first request of its client. */
  onMessage: (message: RpcMessage) => void = () => {}
  readonly #socket: WebSocket
  readonly #pending = new Map<number, PendingRequest>()
  #nextId = 1

  /** Rejects if nobody listens at the path. */
  static open(path: string): Promise<RpcClient> {
    const socket = new WebSocket('ws://localhost/', {
      createConnection: () => connect(path),
      handshakeTimeout: openMaxMs,
      perMessageDeflate: false,
      maxPayload: 0,
    })
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('open', () => resolve(new RpcClient(socket)))
    })
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', data => this.#onText(String(data)))
    // An error is always followed by `close`.
    socket.on('error', () => {})
    this.closed = new Promise(resolve => socket.once('close', () => resolve()))
    void this.closed.then(() => {
      for (const { reject } of this.#pending.values()) reject(new Error('the connection to Codex was closed'))
      this.#pending.clear()
    })
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  async request<T extends z.ZodType>(method: string, params: object, reply: T): Promise<z.infer<T>> {
    const id = this.#nextId++
    const result = await new Promise<unknown>((resolve, reject) => {
      if (!this.isOpen) return reject(new Error('there is no connection to Codex'))
      this.#pending.set(id, { resolve, reject })
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
    return reply.parse(result)
  }

  notify(method: string): void {
    this.#socket.send(JSON.stringify({ method }))
  }

  /** Rejects if the reply could not be written. */
  reply(id: RpcId, result: object): Promise<void> {
    return this.#send({ id, result })
  }
  refuse(id: RpcId, method: string): void {
    // Ignore an error, because Codex does not wait for this reply if the connection is closed.
    this.#send({ id, error: { code: methodNotFound, message: `Holdpoint does not support ${method}` } }).catch(() => {})
  }

  close(): void {
    this.#socket.terminate()
  }

  #send(message: object): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(JSON.stringify(message), error => (error ? reject(error) : resolve()))
    })
  }

  #onText(text: string): void {
    const message = parse(text)
    if (!message) return
    const { id, method, params, result, error } = message
    if (method !== undefined) {
      this.onMessage({ ...(id === undefined ? {} : { id }), method, params })
      return
    }
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined
    if (!pending || typeof id !== 'number') return
    this.#pending.delete(id)
    if (error) pending.reject(new Error(error.message))
    else pending.resolve(result)
  }
}

/** Parses a text as a message. Returns null for anything else, which is then ignored, so that a newer version of Codex cannot stop the session. */
function parse(text: string): z.infer<typeof Message> | null {
  try {
    return Message.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
