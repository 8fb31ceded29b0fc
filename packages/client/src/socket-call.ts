/** Operations and the stream over one WebSocket that comes back by itself. What was under way is sent again under its own key, so a caller notices nothing. */
import {
  apiRoot,
  type Call,
  type CallOptions,
  type Cursor,
  contract,
  Fault,
  type Frame,
  isTransient,
  limits,
  type OperationName,
  retryPauseMs,
} from '@holdpoint/protocol'
import { type AsyncQueue, createAsyncQueue } from './async-queue.ts'
import { faultFromBody, newIdempotencyKey } from './connection.ts'
import { httpCall } from './http-call.ts'
import { type ConnectionStatus, trackCursor, type WatchOptions } from './watch-events.ts'

/** What is used of a WebSocket: that of `ws`, or a browser's where a cookie says who it is. */
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

export interface SocketCallOptions {
  /** Asked for at every connect where it is a function: a gateway may come back elsewhere. */
  readonly url: string | (() => string)
  readonly token: string
  readonly WebSocket: SocketConstructor
  readonly via?: string
  readonly onStatus?: (status: ConnectionStatus) => void
}
export interface SocketCall {
  readonly call: Call
  /** One at a time: a socket carries one stream. */
  watch(options?: Omit<WatchOptions, 'onStatus'>): AsyncIterable<Frame>
  close(): void
}

/** For the connection and for an operation that met a transient fault. Neither has a limit on attempts: the caller's signal, `close` or a refused credential ends them. */
const retryPauses = { firstPauseMs: 100, pauseMaxMs: 5000 }
const askWhyMs = 5000
const openState = 1

interface PendingCall {
  readonly text: string
  readonly settle: (outcome: { body: unknown } | { error: unknown }) => void
  attempts: number
  /** Waits out a passing fault; a new connection does not send it before its time. */
  resting: boolean
  settled: boolean
}

export function socketCall(options: SocketCallOptions): SocketCall {
  return new SocketClient(options)
}

class SocketClient implements SocketCall {
  readonly #options: SocketCallOptions
  readonly #errands = new Map<number, PendingCall>()
  #socket: SocketLike | null = null
  #nextId = 1
  #attempt = 0
  #closed = false
  #heardAt = 0
  /** The credential was refused: nothing is tried again until the next call. */
  #refused = false
  #watching: { options: Omit<WatchOptions, 'onStatus'>; cursor: Cursor | undefined; frames: AsyncQueue<Frame> } | null =
    null
  #reconnect: ReturnType<typeof setTimeout> | undefined
  readonly #pulse: ReturnType<typeof setInterval>

  constructor(options: SocketCallOptions) {
    this.#options = options
    this.#pulse = setInterval(() => this.#feelPulse(), limits.heartbeatMs)
    this.#connect('connecting')
  }

  readonly call: Call = ((name: OperationName, input: object, options: CallOptions = {}) =>
    this.#run(name, input, options)) as Call // the contract says which output an operation has; the gateway keeps to it

  #run(op: OperationName, input: object, { signal, idempotencyKey }: CallOptions): Promise<unknown> {
    const key = idempotencyKey ?? (contract[op].method === 'POST' ? newIdempotencyKey() : undefined)
    const id = this.#nextId++
    const text = JSON.stringify({ id, op, input, ...(key !== undefined && { idempotencyKey: key }) })
    // The gateway would close a socket that sends more than this; over HTTP there is room.
    if (
      text.length * 3 > limits.inboundFrameMaxBytes &&
      new TextEncoder().encode(text).length > limits.inboundFrameMaxBytes
    )
      return this.#overHttp()(op, input as never, {
        ...(signal && { signal }),
        ...(key !== undefined && { idempotencyKey: key }),
      }) // typed by the caller
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(closedError())
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        this.#send(JSON.stringify({ cancel: id }))
        settle({ error: signal?.reason })
      }
      const settle: PendingCall['settle'] = outcome => {
        this.#errands.delete(id)
        errand.settled = true
        signal?.removeEventListener('abort', abort)
        if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.body)
      }
      signal?.addEventListener('abort', abort, { once: true })
      const errand: PendingCall = { text, settle, attempts: 0, resting: false, settled: false }
      this.#errands.set(id, errand)
      if (this.#refused) this.#connect('reconnecting')
      else this.#send(text)
    })
  }

  #overHttp(attempts = Number.POSITIVE_INFINITY): Call {
    const { token, via = 'api' } = this.#options
    return httpCall({ url: this.#url(), token, via, attempts })
  }
  #url(): string {
    const { url } = this.#options
    return (typeof url === 'function' ? url() : url).replace(/\/$/, '')
  }

  watch(options: Omit<WatchOptions, 'onStatus'> = {}): AsyncIterable<Frame> {
    if (this.#closed) throw closedError()
    if (this.#watching) throw new Error('this socket carries a stream already')
    const frames = createAsyncQueue<Frame>(() => {
      this.#watching = null
    })
    this.#watching = { options, cursor: options.after, frames }
    options.signal?.addEventListener('abort', () => frames.end(), { once: true })
    if (this.#refused) this.#connect('reconnecting')
    else this.#sendWatch()
    return frames
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#pulse)
    clearTimeout(this.#reconnect)
    this.#watching?.frames.end()
    for (const errand of [...this.#errands.values()]) errand.settle({ error: closedError() })
    this.#drop()
  }

  #connect(status: ConnectionStatus): void {
    this.#refused = false
    this.#options.onStatus?.(status)
    const { token, via = 'api', WebSocket } = this.#options
    const headers = { authorization: `Bearer ${token}`, 'x-holdpoint-via': via }
    const socket = new WebSocket(`${this.#url().replace(/^http/, 'ws')}${apiRoot}/socket`, [], { headers })
    this.#socket = socket
    this.#heardAt = Date.now()
    let opened = false
    socket.onopen = () => {
      opened = true
      this.#options.onStatus?.('live')
      for (const errand of this.#errands.values()) if (!errand.resting) socket.send(errand.text)
      this.#sendWatch()
    }
    socket.onmessage = (event: { data: unknown }) => {
      this.#heardAt = Date.now()
      this.#attempt = 0
      this.#hear(JSON.parse(String(event.data)))
    }
    socket.onerror = () => {}
    socket.onclose = () => {
      if (opened) this.#lost()
      else void this.#askWhy()
    }
  }

  #lost(): void {
    this.#drop()
    if (this.#closed) return
    this.#options.onStatus?.('reconnecting')
    clearTimeout(this.#reconnect)
    this.#reconnect = setTimeout(() => this.#connect('reconnecting'), retryPauseMs(++this.#attempt, retryPauses))
  }

  /** A handshake that fails does not say why; the same credential over HTTP does. One that is not known will not be known in a second either. */
  async #askWhy(): Promise<void> {
    this.#drop()
    const signal = AbortSignal.timeout(askWhyMs)
    const why: unknown = await this.#overHttp(1)('whoAmI', {}, { signal }).catch((error: unknown) => error)
    if (this.#closed) return
    if (!(why instanceof Fault && why.code === 'unauthenticated')) return this.#lost()
    this.#refused = true
    this.#options.onStatus?.('reconnecting')
    this.#watching?.frames.fail(why)
    for (const errand of [...this.#errands.values()]) errand.settle({ error: why })
  }

  #drop(): void {
    const socket = this.#socket
    this.#socket = null
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }

  /** A half-open connection says nothing and breaks nothing: an operation that anyone may call finds out. */
  #feelPulse(): void {
    if (!this.#socket) return
    const silentMs = Date.now() - this.#heardAt
    if (silentMs > limits.streamSilenceMaxMs) this.#lost()
    else if (silentMs >= limits.heartbeatMs) this.#send(JSON.stringify({ id: 'pulse', op: 'whoAmI', input: {} }))
  }

  #send(text: string): void {
    if (this.#socket?.readyState === openState) this.#socket.send(text)
  }

  #sendWatch(): void {
    if (!this.#watching) return
    const { cursor, options } = this.#watching
    this.#send(
      JSON.stringify({
        subscribe: { ...(cursor && { after: cursor }), ...(options.session && { session: options.session }) },
      }),
    )
  }

  #hear(frame: Frame | { frame: 'reply'; id: number | string | null; status: number; body: unknown }): void {
    if (frame.frame !== 'reply') {
      if (!this.#watching) return
      this.#watching.cursor = trackCursor(this.#watching.cursor, frame)
      this.#watching.frames.push(frame)
      return
    }
    const errand = typeof frame.id === 'number' ? this.#errands.get(frame.id) : undefined
    if (frame.id === null) this.#watching?.frames.fail(faultFromBody(frame.status, frame.body))
    if (!errand) return
    if (frame.status < 400) errand.settle({ body: frame.body })
    else this.#retryOrFail(errand, faultFromBody(frame.status, frame.body))
  }

  #retryOrFail(errand: PendingCall, fault: Fault): void {
    if (!isTransient(fault)) {
      errand.settle({ error: fault })
      return
    }
    errand.resting = true
    const resend = () => {
      errand.resting = false
      if (!errand.settled) this.#send(errand.text)
    }
    setTimeout(resend, retryPauseMs(++errand.attempts, retryPauses))
  }
}

function closedError(): Error {
  return new Error('this connection was closed')
}
