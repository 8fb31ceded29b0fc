/** Where a gateway is and who calls it; how one request to it is made, and what its refusals become. */
import { apiRoot, contract, Fault, FaultBody, type Operation, type OperationName } from '@holdpoint/protocol'

/** As much of `fetch` as is used here, so that there may be another. */
export type Fetch = (url: string, init: Outgoing) => Promise<HttpReply>
export interface Outgoing {
  readonly method?: string
  readonly headers: Record<string, string>
  readonly body?: string | null
  readonly signal?: AbortSignal | null
  readonly keepalive?: boolean
  readonly redirect: 'error'
}
export type HttpReply = Pick<Response, 'ok' | 'status' | 'text' | 'body'>

export interface Connection {
  /** The gateway's address, such as http://127.0.0.1:4242. In its own page: location.origin. */
  readonly url: string
  /** Left out in the page, where a cookie says who it is. */
  readonly token?: string
  /** What the record says the answer came from: page, cli … */
  readonly via?: string
  readonly fetch?: Fetch
}

/** Nobody answered: no gateway at that address, or the connection broke. Local, so it is no Fault. */
export class Unreachable extends Error {
  constructor(url: string, cause: unknown) {
    super(`The gateway at ${url} cannot be reached.`, { cause })
    this.name = 'Unreachable'
  }
}

/** A connection over a server's own `fetch`, without a port. */
export function inProcess(
  handler: (request: Request) => Promise<Response>,
  who: Pick<Connection, 'token' | 'via'>,
): Connection {
  return { ...who, url: 'http://localhost', fetch: (url, init) => handler(new Request(url, init)) }
}

export async function sendRequest(
  connection: Connection,
  path: string,
  init: Partial<Omit<Outgoing, 'redirect'>>,
): Promise<HttpReply> {
  const { url, token, via = 'api', fetch: send = (at, how) => fetch(at, how) } = connection
  const headers = {
    ...init.headers,
    'x-holdpoint': '1',
    'x-holdpoint-via': via,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  try {
    return await send(`${url.replace(/\/$/, '')}${apiRoot}${path}`, { ...init, headers, redirect: 'error' })
  } catch (error) {
    throw init.signal?.aborted ? init.signal.reason : new Unreachable(url, error)
  }
}

/** The Fault of a reply that is none of ours, too: a proxy in front may answer in its own words. */
export async function faultFromReply(reply: HttpReply): Promise<Fault> {
  const text = await reply.text().catch(() => '')
  return faultFromBody(reply.status, parse(text))
}

export function faultFromBody(status: number, body: unknown): Fault {
  const parsed = FaultBody.safeParse(body)
  if (!parsed.success)
    return new Fault('internal', `The gateway answered ${status} without a fault that is known here.`)
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

/** Members of the input go where the contract says: path, then query or body. */
export function formatRequest(name: OperationName, input: object): { path: string; body: string | null } {
  const op: Operation = contract[name]
  const rest: Record<string, unknown> = { ...input }
  const path = op.path.replace(/:(\w+)/g, (_, member: string) => {
    const value = rest[member]
    delete rest[member]
    return encodeURIComponent(String(value))
  })
  if (op.method !== 'GET' && op.method !== 'DELETE') return { path, body: JSON.stringify(rest) }
  const query = new URLSearchParams()
  for (const [member, value] of Object.entries(rest)) if (value !== undefined) query.set(member, String(value))
  return { path: query.size > 0 ? `${path}?${query}` : path, body: null }
}

/** An idempotency key. `randomUUID` would do, but a page on plain HTTP under another name than localhost has none. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
}
