/**
 * The connection to one MCP client over HTTP. It outlasts the HTTP connections of the client: a client that lost one
 * continues with the id of the last event that it has received. A reply counts as sent when an HTTP connection has
 * taken its bytes.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '@holdpoint/protocol'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { RemoteClient } from '../mcp-server.ts'
import { EventLog, streamOf } from './event-log.ts'

/** A client that makes a new connection for each message counts as present for this time after its last connection. */
const presentMs = 60_000

export class HttpTransport implements Transport, RemoteClient {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void
  readonly #clock: Clock
  readonly #sdk: WebStandardStreamableHTTPServerTransport
  /** The HTTP connections on which the client receives events, each with the messages of the client that are answered on it. */
  readonly #connections = new Map<symbol, readonly RequestId[]>()
  /** The messages of the client whose replies belong to a stream of events. */
  readonly #messagesOf = new Map<string, readonly RequestId[]>()
  readonly #onReachable = new Map<RequestId, (() => void)[]>()
  readonly #onReplySent = new Map<RequestId, () => void>()
  #lastSeen: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lastSeen = clock.now()
    this.#sdk = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventLog(),
    })
  }

  /** The id that the client got, or undefined before it has introduced itself. */
  get sessionId(): string | undefined {
    return this.#sdk.sessionId
  }

  async start(): Promise<void> {
    this.#sdk.onclose = () => this.onclose?.()
    this.#sdk.onerror = error => this.onerror?.(error)
    this.#sdk.onmessage = (message, extra) => this.onmessage?.(message, extra)
    await this.#sdk.start()
  }
  close(): Promise<void> {
    return this.#sdk.close()
  }

  /** Resolves when the message was sent. A reply to a client that has lost its connection is sent when the client comes back. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const replyTo = repliedMessage(message)
    if (replyTo === null) return this.#sdk.send(message, options)
    const sent = new Promise<void>(resolve => this.#onReplySent.set(replyTo, resolve))
    await this.#sdk.send(message, options)
    await sent
  }

  get isConnected(): boolean {
    return this.#connections.size > 0
  }
  get silentMs(): number {
    return this.isConnected ? 0 : this.#clock.now() - this.#lastSeen
  }
  isPresent(): boolean {
    return this.silentMs < presentMs
  }

  async whenReachable(id: RequestId): Promise<void> {
    if ([...this.#connections.values()].some(messages => messages.includes(id))) return
    await new Promise<void>(resolve => {
      this.#onReachable.set(id, [...(this.#onReachable.get(id) ?? []), resolve])
    })
  }

  /** Handles an HTTP request of the client. */
  async handle(request: Request): Promise<Response> {
    this.#lastSeen = this.#clock.now()
    const lastEvent = request.headers.get('last-event-id')
    const resumed = lastEvent === null ? [] : (this.#messagesOf.get(streamOf(lastEvent)) ?? [])
    const asked = request.method === 'POST' ? await messagesIn(request.clone()) : []
    const response = await this.#sdk.handleRequest(request)
    if (!response.body || response.headers.get('content-type') !== 'text/event-stream') return response
    const messages = [...resumed, ...asked]
    this.#connect(messages, request.signal)
    return new Response(this.#watched(response.body, messages), response)
  }

  #connect(messages: readonly RequestId[], disconnected: AbortSignal): void {
    if (disconnected.aborted) return
    const connection = Symbol('connection')
    this.#connections.set(connection, messages)
    disconnected.addEventListener('abort', () => {
      this.#connections.delete(connection)
      this.#lastSeen = this.#clock.now()
    })
    for (const id of messages) {
      for (const resolve of this.#onReachable.get(id) ?? []) resolve()
      this.#onReachable.delete(id)
    }
  }

  /** Returns the same stream. The HTTP server reads the next event when the one before was sent. */
  #watched(body: ReadableStream<Uint8Array>, messages: readonly RequestId[]): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    let onSent = () => {}
    return new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          onSent()
          const { done, value } = await reader.read()
          if (done) return controller.close()
          const { id, replyTo } = parseEvent(value)
          const stream = id === null ? null : streamOf(id)
          if (stream !== null && !this.#messagesOf.has(stream)) this.#messagesOf.set(stream, messages)
          onSent = () => {
            if (stream !== null && replyTo !== null) this.#finishReply(stream, replyTo)
          }
          controller.enqueue(value)
        },
        cancel: reason => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }
  #finishReply(stream: string, replyTo: RequestId): void {
    const left = this.#messagesOf.get(stream)?.filter(id => id !== replyTo) ?? []
    if (left.length > 0) this.#messagesOf.set(stream, left)
    else this.#messagesOf.delete(stream)
    this.#onReplySent.get(replyTo)?.()
    this.#onReplySent.delete(replyTo)
  }
}

/** Returns the ids of the messages that need a reply. The SDK refuses a body that is not valid. */
async function messagesIn(request: Request): Promise<readonly RequestId[]> {
  const body: unknown = await request.json().catch(() => null)
  const ids = [body].flat().map(message => (Object(message).method === undefined ? undefined : Object(message).id))
  return ids.filter(id => typeof id === 'string' || typeof id === 'number')
}

/** Returns the id of the message that this one replies to, or null if it is no reply. */
function repliedMessage(message: object): RequestId | null {
  const { id, method } = message as { readonly id?: RequestId; readonly method?: string } // a message of JSON-RPC
  return method === undefined && id !== undefined ? id : null
}

/** The SDK writes each event in one chunk. */
function parseEvent(chunk: Uint8Array): { readonly id: string | null; readonly replyTo: RequestId | null } {
  const lines = new TextDecoder().decode(chunk).split('\n')
  const field = (name: string) => lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null
  const data = field('data')
  return { id: field('id'), replyTo: data ? repliedMessage(JSON.parse(data)) : null }
}
