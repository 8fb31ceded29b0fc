/** Calls operations and reads the event stream over one WebSocket. The client reconnects by itself and repeats unfinished calls with their idempotency keys, so that callers do not notice a lost connection. */
import {
  apiRoot,
  type Call,
  type CallOptions,
  type Cursor,
  Fault,
  type Frame,
  isTransient,
  limits,
  type OperationName,
  operationRoutes,
  retryPauseMs,
} from '@holdpoint/protocol'
import { type AsyncQueue, createAsyncQueue } from './async-queue.ts'
import { type Connection, currentToken, faultFromBody, newIdempotencyKey, type TokenSource } from './connection.ts'
import { provenUrl } from './gateway-proof.ts'
import { httpCall } from './http-call.ts'
import { type ConnectionStatus, trackCursor, type WatchOptions } from './watch-events.ts'

/** The part of a WebSocket that the client uses and that both `ws` and browsers provide. */
export interface SocketLike {
  readonly readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(data: string): void
  close(): void
}
export type SocketConstructor = new (
  url: string,
  protocols: string[],
  options: { headers: Record<string, string> },
) => SocketLike

export interface SocketCallOptions extends Pick<Connection, 'url' | 'fetch' | 'trusted' | 'advice'> {
  readonly token: TokenSource
  readonly WebSocket: SocketConstructor
  readonly onStatus?: (status: ConnectionStatus) => void
}
export interface SocketCall {
  readonly call: Call
  /** Opens the event stream. A socket supports only one stream at a time. */
  watch(options?: Omit<WatchOptions, 'onStatus'>): AsyncIterable<Frame>
  close(): void
}

/** The pauses before reconnecting and before repeating an operation after a transient fault. Retries continue until the caller's signal aborts, `close` is called or the gateway refuses the credential. */
const retryPauses = { firstPauseMs: 100, pauseMaxMs: 5000 }
const explainMaxMs = 5000
/** The value of `WebSocket.OPEN`. */
const openState = 1

interface PendingCall {
  readonly text: string
  readonly settle: (outcome: { body: unknown } | { error: unknown }) => void
  failures: number
  /** Whether the call is waiting for its next attempt after a transient fault. A reconnect does not shorten this pause. */
  paused: boolean
  settled: boolean
}

export function socketCall(options: SocketCallOptions): SocketCall {
  return new SocketClient(options)
}

class SocketClient implements SocketCall {
  readonly #options: SocketCallOptions
  readonly #calls = new Map<number, PendingCall>()
  #socket: SocketLike | null = null
  #nextId = 1
  #connectFailures = 0
  #closed = false
  #hasBeenOpen = false
  #lastMessageAt = 0
  /** The token of the last attempt to connect. */
  #usedToken = ''
  /** Whether the gateway has refused the credential. The next call or `watch` connects again. */
  #refused = false
  #stream: { options: Omit<WatchOptions, 'onStatus'>; cursor: Cursor | undefined; frames: AsyncQueue<Frame> } | null =
    null
  #reconnectTimer: ReturnType<typeof setTimeout> | undefined
  readonly #heartbeatTimer: ReturnType<typeof setInterval>

  constructor(options: SocketCallOptions) {
    this.#options = options
    this.#heartbeatTimer = setInterval(() => this.#checkHeartbeat(), limits.heartbeatMs)
    this.#connect('connecting')
  }

  readonly call: Call = ((name: OperationName, input: object, options: CallOptions = {}) =>
    this.#run(name, input, options)) as Call // the gateway's replies have the types that the contract declares

  #run(op: OperationName, input: object, { signal, idempotencyKey }: CallOptions): Promise<unknown> {
    const key = idempotencyKey ?? (operationRoutes[op].method === 'POST' ? newIdempotencyKey() : undefined)
    const id = this.#nextId++
    const text = JSON.stringify({ id, op, input, ...(key !== undefined && { idempotencyKey: key }) })
    // The gateway closes a socket that sends a frame of more than `inboundFrameMaxBytes`, so send such a call over HTTP. A UTF-16 code unit has at most 3 bytes in UTF-8, so a short text is not encoded here.
    if (
      text.length * 3 > limits.inboundFrameMaxBytes &&
      new TextEncoder().encode(text).length > limits.inboundFrameMaxBytes
    )
      return this.#overHttp()(op, input as never, {
        ...(signal && { signal }),
        ...(key !== undefined && { idempotencyKey: key }),
      }) // the caller's types already match `input` to `op`
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(closedError())
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        this.#send(JSON.stringify({ cancel: id }))
        settle({ error: signal?.reason })
      }
      const settle: PendingCall['settle'] = outcome => {
        this.#calls.delete(id)
        pending.settled = true
        signal?.removeEventListener('abort', abort)
        if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.body)
      }
      signal?.addEventListener('abort', abort, { once: true })
      const pending: PendingCall = { text, settle, failures: 0, paused: false, settled: false }
      this.#calls.set(id, pending)
      if (this.#refused) this.#connect('reconnecting')
      else this.#send(text)
    })
  }

  #overHttp(attempts = Number.POSITIVE_INFINITY): Call {
    return httpCall({ ...this.#connection(), attempts })
  }
  #connection(): Connection {
    const { url, token, fetch, trusted, advice } = this.#options
    return {
      url,
      token,
      ...(fetch && { fetch }),
      ...(trusted !== undefined && { trusted }),
      ...(advice && { advice }),
    }
  }

  watch(options: Omit<WatchOptions, 'onStatus'> = {}): AsyncIterable<Frame> {
    if (this.#closed) throw closedError()
    if (this.#stream)
      throw new Error('This socket already has an open event stream. Open another socket for a second stream.')
    const frames = createAsyncQueue<Frame>(() => {
      this.#stream = null
    })
    this.#stream = { options, cursor: options.after, frames }
    options.signal?.addEventListener('abort', () => frames.end(), { once: true })
    if (this.#refused) this.#connect('reconnecting')
    else this.#subscribe()
    return frames
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#heartbeatTimer)
    clearTimeout(this.#reconnectTimer)
    this.#stream?.frames.end()
    for (const pending of [...this.#calls.values()]) pending.settle({ error: closedError() })
    this.#closeSocket()
  }

  #connect(status: ConnectionStatus): void {
    this.#refused = false
    this.#options.onStatus?.(status)
    this.#proveGateway().then(
      url => this.#openSocket(url),
      (error: unknown) => this.#onConnectFailure(error),
    )
  }

  /** Resolves with the URL to which the token may be sent. */
  async #proveGateway(): Promise<string> {
    this.#usedToken = currentToken(this.#options.token)
    return provenUrl({ ...this.#connection(), token: this.#usedToken }, AbortSignal.timeout(explainMaxMs))
  }

  #openSocket(url: string): void {
    if (this.#closed) return
    const { WebSocket } = this.#options
    const headers = { authorization: `Bearer ${this.#usedToken}` }
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${apiRoot}/socket`, [], { headers })
    this.#socket = socket
    this.#lastMessageAt = Date.now()
    let opened = false
    socket.onopen = () => {
      opened = true
      this.#hasBeenOpen = true
      this.#options.onStatus?.('live')
      for (const pending of this.#calls.values()) if (!pending.paused) socket.send(pending.text)
      this.#subscribe()
    }
    socket.onmessage = (event: { data: unknown }) => {
      this.#lastMessageAt = Date.now()
      this.#connectFailures = 0
      this.#onMessage(JSON.parse(String(event.data)))
    }
    socket.onerror = () => {}
    socket.onclose = () => {
      if (opened) this.#onConnectionLost()
      else void this.#explainFailure()
    }
  }

  #onConnectionLost(): void {
    this.#closeSocket()
    if (this.#closed) return
    this.#options.onStatus?.('reconnecting')
    clearTimeout(this.#reconnectTimer)
    this.#reconnectTimer = setTimeout(
      () => this.#connect('reconnecting'),
      retryPauseMs(++this.#connectFailures, retryPauses),
    )
  }

  /** Finds out why a handshake failed. The failure itself has no reason, so this method calls an operation over HTTP with the same credential. If HTTP refuses the credential, reconnecting is useless. */
  async #explainFailure(): Promise<void> {
    this.#closeSocket()
    const signal = AbortSignal.timeout(explainMaxMs)
    const reason: unknown = await this.#overHttp(1)('whoAmI', {}, { signal }).catch((error: unknown) => error)
    if (isUnauthenticated(reason) && !this.#isTokenReplaced()) this.#refuse(reason)
    else this.#onConnectionLost()
  }

  /** Handles an error before the handshake. Somebody who took over the port of a gateway can refuse the proof with any fault, so a fault is final only before the first connection. */
  #onConnectFailure(error: unknown): void {
    const isFinal = error instanceof Fault && !isTransient(error) && !this.#isTokenReplaced()
    if (isFinal && !this.#hasBeenOpen) this.#refuse(error)
    else this.#onConnectionLost()
  }

  #refuse(reason: Fault): void {
    if (this.#closed) return
    this.#refused = true
    this.#options.onStatus?.('reconnecting')
    this.#stream?.frames.fail(reason)
    for (const pending of [...this.#calls.values()]) pending.settle({ error: reason })
  }

  #closeSocket(): void {
    const socket = this.#socket
    this.#socket = null
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }

  /** Detects a half-open connection, which reports no error. After a short silence, calls `whoAmI`, which every credential may call. If the silence continues, reconnects. */
  #checkHeartbeat(): void {
    if (!this.#socket) return
    const silentMs = Date.now() - this.#lastMessageAt
    if (silentMs > limits.streamSilenceMaxMs) this.#onConnectionLost()
    else if (silentMs >= limits.heartbeatMs) this.#send(JSON.stringify({ id: 'heartbeat', op: 'whoAmI', input: {} }))
  }

  #send(text: string): void {
    if (this.#socket?.readyState === openState) this.#socket.send(text)
  }

  #subscribe(): void {
    if (!this.#stream) return
    const { cursor, options } = this.#stream
    this.#send(
      JSON.stringify({
        subscribe: { ...(cursor && { after: cursor }), ...(options.session && { session: options.session }) },
      }),
    )
  }

  #onMessage(frame: Frame | { frame: 'reply'; id: number | string | null; status: number; body: unknown }): void {
    if (frame.frame !== 'reply') {
      if (!this.#stream) return
      this.#stream.cursor = trackCursor(this.#stream.cursor, frame)
      this.#stream.frames.push(frame)
      return
    }
    const pending = typeof frame.id === 'number' ? this.#calls.get(frame.id) : undefined
    if (frame.id === null) this.#stream?.frames.fail(faultFromBody(frame.status, frame.body))
    if (!pending) return
    if (frame.status < 400) pending.settle({ body: frame.body })
    else this.#retryOrFail(pending, faultFromBody(frame.status, frame.body))
  }

  /** Returns whether the token was replaced since the last handshake. If so, the gateway closes the socket, and the calls are repeated on the next socket. */
  #isTokenReplaced(): boolean {
    try {
      return currentToken(this.#options.token) !== this.#usedToken
    } catch {
      return false // the token cannot be read now, and the next attempt to connect reports why
    }
  }

  #retryOrFail(pending: PendingCall, fault: Fault): void {
    if (isUnauthenticated(fault) && this.#isTokenReplaced()) return
    if (!isTransient(fault)) {
      pending.settle({ error: fault })
      return
    }
    pending.paused = true
    const resend = () => {
      pending.paused = false
      if (!pending.settled) this.#send(pending.text)
    }
    setTimeout(resend, retryPauseMs(++pending.failures, retryPauses))
  }
}

function isUnauthenticated(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'unauthenticated'
}
function closedError(): Error {
  return new Error('The connection was closed.')
}
