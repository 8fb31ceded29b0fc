/** A request and its reply, independent of the transport: Node's HTTP, a WebSocket handshake, or `fetch` in process. */
import { Fault } from '@holdpoint/protocol'

export interface IncomingRequest {
  readonly method: string
  /** The request target as sent: usually path and query. */
  readonly target: string
  /** The name of a header that may be sent only once and was sent twice, or null. */
  readonly repeatedHeader: string | null
  readonly hasBody: boolean
  header(name: string): string | undefined
  /** Stops reading at the limit and rejects with a Fault. */
  body(maxBytes: number): Promise<Buffer>
  /** Calls back when the client disconnects, or at once if it already has. */
  onDisconnect(callback: () => void): void
}

/** Takes the bytes of a stream. */
export interface ByteSink {
  write(chunk: Buffer): void
  /** Bytes that the client has not read yet. */
  buffered(): number
  end(last: Buffer): void
  /** Ends at once and drops what is buffered. */
  destroy(): void
}

/** Names and values alternate, because Node writes that form fastest. */
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

/** Every reply carries these headers. */
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

/** A bug, under the id that the caller received; or a client that was disconnected, and why. */
export type LogLine =
  | { readonly bug: string; readonly error: string }
  | { readonly disconnected: string; readonly reason: string }
export type Log = (line: LogLine) => void

/** Turns any error into the Fault that the caller receives. An error that is not a Fault is a bug: it is logged here, and only here. */
export function toFault(error: unknown, log: Log): Fault {
  if (error instanceof Fault) return error
  const bug = crypto.randomUUID()
  log({ bug, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return new Fault('internal', `Something went wrong in the gateway. Its log has the details under ${bug}.`, {
    id: bug,
  })
}
