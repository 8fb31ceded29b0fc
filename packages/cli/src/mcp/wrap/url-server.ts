/**
 * The connection to an MCP server at a URL. It notices if a reply cannot come anymore, because the stream that should carry it has
 * ended and is not resumed. The transport of the SDK tells nobody about that, so a call would wait forever.
 */
import type { Clock } from '@holdpoint/protocol'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'

export interface ServerTransport extends Transport {
  /** Called if the connection has ended before the reply to a request came, and the server cannot continue it. */
  onlost?: (id: RequestId) => void
}

/** How often the SDK tries to resume a stream, and how long it waits between the attempts. */
const reconnectionOptions = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 10_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 4,
}
/** The SDK reads the last events of a stream within this time after the stream has ended. */
const lastEventsMs = 500

/** A request whose reply has not come. */
interface OpenRequest {
  readonly id: RequestId
  /** The id of the last event on its stream, with which the SDK resumes the stream. */
  lastEventId: string | null
  stream: { hasEvents: boolean }
  failures: number
}

export class UrlServer implements ServerTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  onlost?: (id: RequestId) => void
  readonly #transport: StreamableHTTPClientTransport
  readonly #clock: Clock
  readonly #open = new Map<RequestId, OpenRequest>()

  constructor(url: URL, clock: Clock) {
    this.#clock = clock
    this.#transport = new StreamableHTTPClientTransport(url, {
      fetch: (address, init) => this.#fetch(address, init),
      reconnectionOptions,
    })
  }

  async start(): Promise<void> {
    this.#transport.onclose = () => this.onclose?.()
    this.#transport.onerror = error => this.onerror?.(error)
    this.#transport.onmessage = message => {
      if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id)
      this.onmessage?.(message)
    }
    await this.#transport.start()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message && 'id' in message)) return this.#transport.send(message)
    const { id } = message
    const open: OpenRequest = { id, lastEventId: null, stream: { hasEvents: false }, failures: 0 }
    this.#open.set(id, open)
    const onresumptiontoken = (eventId: string) => {
      open.lastEventId = eventId
      open.stream.hasEvents = true
    }
    try {
      await this.#transport.send(message, { onresumptiontoken })
    } catch (error) {
      this.#open.delete(id)
      throw error
    }
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion(version)
  }

  async close(): Promise<void> {
    this.#open.clear()
    await this.#transport.close()
  }

  async #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const open = this.#requestOf(init)
    const isResumed = init.method === 'GET'
    try {
      const response = await fetch(url, init)
      if (!open) return response
      if (response.ok) return this.#watched(response, open)
      // A server that offers no streams for GET replies with 405, and the SDK does not try again.
      if (isResumed) this.#failed(open, response.status === 405)
      return response
    } catch (error) {
      if (open && isResumed) this.#failed(open, false)
      throw error
    }
  }

  /** Returns the request that is sent, or whose stream is resumed. */
  #requestOf({ method, body, headers }: RequestInit): OpenRequest | undefined {
    if (method === 'POST') return this.#open.get(Object(JSON.parse(String(body))).id)
    const eventId = new Headers(headers).get('last-event-id')
    return eventId === null ? undefined : [...this.#open.values()].find(open => open.lastEventId === eventId)
  }

  /** Returns the same response, whose end is noticed. A response without a body promises a reply on another stream. */
  #watched(response: Response, open: OpenRequest): Response {
    if (!response.body || response.status === 202) return response
    const stream = { hasEvents: false }
    open.stream = stream
    open.failures = 0
    const body = withEnd(response.body, () => {
      // The SDK resumes a stream on which it has seen the id of an event, and no other.
      this.#clock.after(lastEventsMs, () => stream.hasEvents || this.#lose(open), { background: true })
    })
    return new Response(body, response)
  }

  #failed(open: OpenRequest, isLast: boolean): void {
    open.failures++
    if (isLast || open.failures >= reconnectionOptions.maxRetries) this.#lose(open)
  }

  #lose({ id }: OpenRequest): void {
    if (this.#open.delete(id)) this.onlost?.(id)
  }
}

/** Returns the same stream, and calls `onEnd` when it has ended or broken. */
function withEnd(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      onEnd()
    },
    cancel: reason => reader.cancel(reason),
  })
}
