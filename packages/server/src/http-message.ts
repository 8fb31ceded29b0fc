/** One request and its reply, free of what carries them: Node's HTTP, a socket's handshake, or `fetch` in process. */
import { Fault } from '@holdpoint/protocol'

export interface IncomingRequest {
  readonly method: string
  /** As sent: path and query, where the sender kept to the origin form. */
  readonly target: string
  /** A header that must stand once and stands twice. */
  readonly repeated: string | null
  readonly hasBody: boolean
  header(name: string): string | undefined
  /** Reads no further than the limit. */
  body(maxBytes: number): Promise<Buffer>
  /** Calls back when the other side is gone, at once where it is already. */
  onGone(callback: () => void): void
}

/** Where the bytes of a stream go. */
export interface ByteSink {
  write(chunk: Buffer): void
  /** Bytes that the other side has not taken yet. */
  buffered(): number
  end(last: Buffer): void
  /** Ends at once; what is buffered is dropped. */
  destroy(): void
}

/** Names and values in turn, as Node takes them fastest. */
export type FlatHeaders = readonly string[]
export interface OutgoingReply {
  readonly status: number
  readonly headers: FlatHeaders
  readonly body: string | Buffer | ((outlet: ByteSink) => void)
}

const policy = [
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

/** On every reply, whatever it says. */
export const securityHeaders: FlatHeaders = [
  'content-security-policy',
  policy,
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
  const asks = fault.code === 'unauthenticated' ? ['www-authenticate', 'Bearer'] : []
  return jsonReply(fault.status, fault, [...asks, ...extra])
}

/** Whatever was no Fault: a bug, under the id that its reader was given. Or a reader that was let go, and why. */
export type LogLine =
  | { readonly bug: string; readonly error: string }
  | { readonly dropped: string; readonly why: string }
export type Log = (line: LogLine) => void

/** What the caller is told of an error; a bug is logged here, once, and nowhere else. */
export function toFault(error: unknown, log: Log): Fault {
  if (error instanceof Fault) return error
  const bug = crypto.randomUUID()
  log({ bug, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return new Fault('internal', `Something went wrong here, and was logged as ${bug}.`, { id: bug })
}
