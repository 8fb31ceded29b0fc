/** The request and reply types shared by Node's HTTP server, the WebSocket handshake and in-process `fetch`. Also contains helpers that build replies. */
import { Fault } from '@holdpoint/protocol'

export interface IncomingRequest {
  /** How the request arrived. The server knows this from the connection; a client cannot choose it. */
  readonly transport: 'tcp' | 'unixSocket' | 'inProcess'
  readonly method: string
  /** The request target exactly as the client sent it, usually a path and a query. */
  readonly target: string
  /** The name of a header that was sent twice although it may be sent only once, or null. */
  readonly repeatedHeader: string | null
  /** The number of headers, counted up to one more than `headersMax`. */
  readonly headerCount: number
  readonly hasBody: boolean
  /** The IP address at which the server accepted the connection, or null if the request did not come over TCP. */
  readonly localAddress: string | null
  /** The length of the body, or null if the client did not announce it. */
  readonly bodyBytes: number | null
  /** The source of the request, for the limit on wrong credentials. */
  readonly source: string
  header(name: string): string | undefined
  /** Resolves with the whole body. If the body is larger than `maxBytes`, stops reading and rejects with a Fault. */
  body(maxBytes: number): Promise<Buffer>
  /** Calls `callback` when the reply is sent or the client disconnects, or at once if that has already happened. */
  onClose(callback: () => void): void
  /** Keeps the connection open until the reply is sent, even if other clients need a connection. Called for requests with a valid credential. */
  protect(): void
}

/** Receives the bytes of a streamed reply. */
export interface ByteSink {
  /** Calls `onSent` when the chunk is on its way to the client. If the connection closes first, the callback may not be called. */
  write(chunk: Buffer, onSent?: () => void): void
  /** Returns the number of bytes that the client has not read yet. */
  buffered(): number
  end(last: Buffer): void
  /** Ends the stream at once and discards buffered bytes. */
  destroy(): void
}

/** Alternating header names and values. Node writes headers fastest in this form. */
export type FlatHeaders = readonly string[]
export interface OutgoingReply {
  readonly status: number
  readonly headers: FlatHeaders
  readonly body: string | Buffer | ((sink: ByteSink) => void)
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** The headers that every reply contains. */
export const securityHeaders: FlatHeaders = [
  'content-security-policy',
  contentSecurityPolicy,
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
  'cross-origin-resource-policy',
  'same-origin',
  'x-frame-options',
  'DENY',
]
const jsonHeaders: FlatHeaders = [...securityHeaders, 'cache-control', 'no-store', 'content-type', 'application/json']

export function jsonReply(status: number, body: unknown, extra?: FlatHeaders): OutgoingReply {
  return { status, headers: extra ? [...jsonHeaders, ...extra] : jsonHeaders, body: JSON.stringify(body) }
}

export function faultReply(fault: Fault, extra: FlatHeaders = []): OutgoingReply {
  const challenge = fault.code === 'unauthenticated' ? ['www-authenticate', 'Bearer'] : []
  return jsonReply(fault.status, fault, [...challenge, ...extra])
}

/** A log line. It reports either a bug with the id that the caller received, or a client that the server disconnected and the reason. */
export type LogLine =
  | { readonly bug: string; readonly error: string }
  | { readonly disconnected: string; readonly reason: string }
export type Log = (line: LogLine) => void

/** Converts any error into the Fault that the caller receives. An error that is not a Fault is a bug, so this function logs the error, and callers must not log it again. */
export function toFault(error: unknown, log: Log): Fault {
  if (error instanceof Fault) return error
  const bug = crypto.randomUUID()
  log({ bug, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return new Fault(
    'internal',
    `Something went wrong in the gateway. The log of the gateway has the details under ${bug}.`,
    {
      id: bug,
    },
  )
}
