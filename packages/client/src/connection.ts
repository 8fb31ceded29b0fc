/** Sends HTTP requests to a gateway and converts error replies into faults. */
import {
  apiRoot,
  contract,
  Fault,
  FaultBody,
  type Operation,
  type OperationName,
  pageSecretHeader,
} from '@holdpoint/protocol'

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

export interface Connection {
  /** The address of the gateway, such as http://127.0.0.1:4242. The gateway's own page uses location.origin. */
  readonly url: string
  /** The secret of a token. The page needs no token because it has a cookie and a page secret. */
  readonly token?: string
  /** Returns the page secret, or null if this browser is not signed in. */
  readonly pageSecret?: () => string | null
  /** The name of this client in the audit log, such as “page” or “cli”. */
  readonly via?: string
  readonly fetch?: Fetch
}

/** The client got no reply, because no gateway runs at the address or the connection broke. This is not a Fault, because only gateways send faults. */
export class Unreachable extends Error {
  constructor(url: string, cause: unknown) {
    super(`Cannot reach the gateway at ${url}.`, { cause })
    this.name = 'Unreachable'
  }
}

/** Returns a connection that calls a server's request handler directly, without a port. */
export function inProcess(
  handler: (request: Request) => Promise<Response>,
  caller: Pick<Connection, 'token' | 'via'>,
): Connection {
  return { ...caller, url: 'http://localhost', fetch: (url, init) => handler(new Request(url, init)) }
}

export async function sendRequest(
  connection: Connection,
  path: string,
  init: Partial<Omit<HttpRequest, 'redirect'>>,
): Promise<HttpReply> {
  const { url, token, via = 'api', fetch: send = (target, request) => fetch(target, request) } = connection
  const secret = connection.pageSecret?.() ?? null
  const headers = {
    ...init.headers,
    'x-holdpoint-via': via,
    ...(secret !== null && { [pageSecretHeader]: secret }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  try {
    return await send(`${url.replace(/\/$/, '')}${apiRoot}${path}`, { ...init, headers, redirect: 'error' })
  } catch (error) {
    throw init.signal?.aborted ? init.signal.reason : new Unreachable(url, error)
  }
}

/** Reads the fault from an error reply. Also handles a reply without a fault body, which may come from a proxy. */
export async function faultFromReply(reply: HttpReply): Promise<Fault> {
  const text = await reply.text().catch(() => '')
  return faultFromBody(reply.status, parse(text))
}

export function faultFromBody(status: number, body: unknown): Fault {
  const parsed = FaultBody.safeParse(body)
  if (!parsed.success)
    return new Fault(
      'internal',
      `The client got an unexpected reply with status ${status}, perhaps from a proxy or from another version of the gateway.`,
    )
  const { code, message, detail } = parsed.data.error
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
  const op: Operation = contract[operation]
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

/** Returns a random key. Does not use `crypto.randomUUID`, because browsers offer it only in secure contexts and the page may be served over plain HTTP. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
}
