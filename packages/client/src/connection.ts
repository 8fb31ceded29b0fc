/** Sends HTTP requests to a gateway and converts error replies into faults. */
import { Fault, isFaultBody, type OperationName, operationRoutes } from '@holdpoint/protocol'

/** The part of `fetch` that the client uses. Tests and the terminal pass their own implementations. */
export type Fetch = (url: string, init: HttpRequest) => Promise<HttpReply>
export interface HttpRequest {
  readonly method?: string
  readonly headers: Record<string, string>
  readonly body?: string | null
  readonly signal?: AbortSignal | null
  readonly keepalive?: boolean
  readonly redirect: 'error'
}
export type HttpReply = Pick<Response, 'ok' | 'status' | 'text' | 'body'>

export type TokenSource = string | (() => string)
/** Returns the secret that is valid now. */
export function currentToken(source: TokenSource): string {
  return typeof source === 'function' ? source() : source
}

export interface Connection {
  /** The address of the gateway, such as http://127.0.0.1:4242. The gateway's own page uses location.origin. */
  readonly url: string
  /** The secret of a token, or a function that returns it, for a token in a file that can be replaced while the connection is used. The page needs no token because it has a cookie and a page secret. */
  readonly token?: TokenSource
  /** Returns the page secret, or null if this browser is not signed in. */
  readonly pageSecret?: () => string | null
  readonly fetch?: Fetch
  /** Whether `fetch` reaches only the gateway, as over a Unix socket in a private folder. Then the gateway does not have to prove itself before it gets the token. */
  readonly trusted?: boolean
  /** Returns what to do if the gateway cannot be reached, as a sentence for the person. */
  readonly advice?: (reason: UnreachableReason) => string
}

/** The reason why the client got no reply from the gateway: nothing listens at the address or the connection broke, the gateway accepts connections but stays silent, or another program may have answered in its place. */
export type UnreachableReason = 'no connection' | 'no answer' | 'no proof'

const unreachableMessages: Readonly<Record<UnreachableReason, (url: string) => string>> = {
  'no connection': url => `Cannot reach the gateway at ${url}.`,
  'no answer': url => `The gateway at ${url} does not answer.`,
  'no proof': url =>
    `The program at ${url} could not prove that it is the gateway that knows your token, so the token was not sent.`,
}

/** The client got no reply from the gateway. This is not a Fault, because only gateways send faults. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  readonly reason: UnreachableReason
  constructor({ url, advice }: Pick<Connection, 'url' | 'advice'>, reason: UnreachableReason, cause?: unknown) {
    super(`${unreachableMessages[reason](url)}${advice ? ` ${advice(reason)}` : ''}`, { cause })
    this.reason = reason
  }
}

/** A `fetch` rejects with this error if the gateway accepts connections but does not reply. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** Returns a connection that calls a server's request handler directly, without a port. */
export function inProcess(
  handler: (request: Request) => Promise<Response>,
  caller: Pick<Connection, 'token'>,
): Connection {
  return { ...caller, url: 'http://localhost', trusted: true, fetch: (url, init) => handler(new Request(url, init)) }
}

/** Sends a request as it is, without a credential of the connection. */
export async function transmit(
  connection: Connection,
  url: string,
  init: Partial<Omit<HttpRequest, 'redirect'>>,
): Promise<HttpReply> {
  const { fetch: send = (target, request) => fetch(target, request) } = connection
  try {
    return await send(url, { headers: {}, ...init, redirect: 'error' })
  } catch (error) {
    if (init.signal?.aborted) throw init.signal.reason
    if (error instanceof Fault) throw error
    throw new Unreachable(connection, error instanceof NoAnswer ? 'no answer' : 'no connection', error)
  }
}

/** Reads the fault from an error reply. Also handles a reply without a fault body, which may come from a proxy. */
export async function faultFromReply(reply: HttpReply): Promise<Fault> {
  const text = await reply.text().catch(() => '')
  return faultFromBody(reply.status, parse(text))
}

export function faultFromBody(status: number, body: unknown): Fault {
  if (!isFaultBody(body))
    return new Fault(
      'internal',
      `The client got an unexpected reply with status ${status}, perhaps from a proxy or from another version of the gateway.`,
    )
  const { code, message, detail } = body.error
  return new Fault(code, message, detail)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Puts the properties of the input that the path names into the path, and the remaining properties into the query or the body. */
export function formatRequest(operation: OperationName, input: object): { path: string; body: string | null } {
  const op = operationRoutes[operation]
  const rest: Record<string, unknown> = { ...input }
  const path = op.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  if (op.method !== 'GET' && op.method !== 'DELETE') return { path, body: JSON.stringify(rest) }
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(rest)) if (value !== undefined) query.set(key, String(value))
  return { path: query.size > 0 ? `${path}?${query}` : path, body: null }
}

/** Returns a random idempotency key. Does not use `crypto.randomUUID`, because browsers offer it only in secure contexts and the page may be served over plain HTTP. */
export function newIdempotencyKey(): string {
  return randomHex(16)
}
export function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), byte => byte.toString(16).padStart(2, '0')).join('')
}
