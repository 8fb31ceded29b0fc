/** Serves a `fetch` function beside the gateway, on the loopback addresses and for programs that know a token. Requests are checked and limited like requests to the gateway. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Fault, limits } from '@holdpoint/protocol'
import { createSenderCheck, readBearer } from './authenticate.ts'
import {
  type ByteSink,
  type FlatHeaders,
  faultReply,
  type IncomingRequest,
  type Log,
  type OutgoingReply,
  securityHeaders,
  toFault,
} from './http-message.ts'
import { type HttpHandler, type Listening, listen } from './listen.ts'
import { WrongAttempts } from './wrong-attempts.ts'

export interface TokenServerOptions {
  /** Port 0 picks any free port. */
  readonly port: number
  readonly token: () => string
  /** Tells a program without a valid token where the token is. */
  readonly tokenAdvice: string
  /** The request headers that `fetch` needs. */
  readonly headers: readonly string[]
  /** Replies to a request. Its signal aborts when the client disconnects. A stream of events is read one chunk at a time: the next chunk is read when the connection has taken the one before. */
  readonly fetch: (request: Request) => Promise<Response>
  readonly log: Log
}

export function listenWithToken({ port, ...options }: TokenServerOptions): Promise<Listening> {
  return listen({ port }, bound => ({ handler: new TokenHandler(bound, options) }), limits)
}

class TokenHandler implements HttpHandler {
  readonly log: Log
  readonly #options: Omit<TokenServerOptions, 'port'>
  readonly #checkSender: ReturnType<typeof createSenderCheck>
  readonly #wrongAttempts = new WrongAttempts()

  constructor(port: number, options: Omit<TokenServerOptions, 'port'>) {
    this.log = options.log
    this.#options = options
    this.#checkSender = createSenderCheck({ port })
  }

  async handle(incoming: IncomingRequest): Promise<OutgoingReply> {
    try {
      this.#checkSender(incoming, 'write')
      this.#checkToken(incoming)
      incoming.protect()
      return await this.#fetch(incoming)
    } catch (error) {
      return faultReply(toFault(error, this.log))
    }
  }

  /** The caller that provides `fetch` must end its streams. */
  close(): void {}

  #checkToken(incoming: IncomingRequest): void {
    const { token, tokenAdvice } = this.#options
    const bearer = readBearer(incoming)
    if (bearer === null) throw new Fault('unauthenticated', tokenAdvice)
    if (!timingSafeEqual(digestOf(bearer), digestOf(token())))
      throw this.#wrongAttempts.refuse(incoming.source, new Fault('unauthenticated', tokenAdvice))
  }

  async #fetch(incoming: IncomingRequest): Promise<OutgoingReply> {
    const { headers: names, fetch } = this.#options
    const given = names.map(name => [name, incoming.header(name)] as const)
    const headers = given.filter((pair): pair is readonly [string, string] => pair[1] !== undefined)
    const disconnected = new AbortController()
    incoming.onClose(() => disconnected.abort())
    const body = incoming.hasBody ? await incoming.body(limits.bodyMaxBytes) : null
    const hasBody = body !== null && incoming.method !== 'GET' && incoming.method !== 'HEAD'
    const request = new Request(new URL(incoming.target, 'http://localhost'), {
      method: incoming.method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      signal: disconnected.signal,
      ...(hasBody ? { body: new Uint8Array(body) } : {}),
    })
    return toReply(await fetch(request), incoming)
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

async function toReply(response: Response, incoming: IncomingRequest): Promise<OutgoingReply> {
  const { status, body } = response
  const headers: FlatHeaders = [...securityHeaders, ...[...response.headers].filter(isOwnHeader).flat()]
  if (!body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    return { status, headers, body: Buffer.from(await response.arrayBuffer()) }
  const open = (sink: ByteSink) => {
    const reader = body.getReader()
    incoming.onClose(() => void reader.cancel().catch(() => {})) // the stream has failed, and nobody reads it
    copyStream(reader, sink).catch(() => sink.destroy()) // the client notices the broken stream and connects again
  }
  return { status, headers, body: open }
}

/** The HTTP server decides itself how long a connection stays open. */
function isOwnHeader([name]: readonly [string, string]): boolean {
  return name !== 'connection'
}

async function copyStream(reader: ReadableStreamDefaultReader<Uint8Array>, sink: ByteSink): Promise<void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const chunk = Buffer.from(next.value)
    await new Promise<void>(resolve => sink.write(chunk, resolve))
  }
  sink.end(Buffer.alloc(0))
}
