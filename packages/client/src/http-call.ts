/** Operations over HTTP. What cannot do harm twice is tried again when the gateway is away for a moment. */
import { type Call, type CallOptions, contract, Fault, type OperationName } from '@holdpoint/protocol'
import { backoffMs, pause } from './backoff.ts'
import {
  type Connection,
  faultFromReply,
  formatRequest,
  inProcess,
  newIdempotencyKey,
  sendRequest,
  Unreachable,
} from './connection.ts'

/** The one retry loop here: 8 attempts, 50 ms doubling to 2 s between them, about 5 s in all. `attempts: Infinity` never gives up. */
const pace = { firstMs: 50, capMs: 2000 }
const attemptsDefault = 8
/** Browsers refuse to send more than 64 KB that outlives its page: what is larger is sent as long as there is one. */
const keepaliveMaxBytes = 60 * 1024

export interface HttpCallOptions extends Connection {
  readonly attempts?: number
}

export function httpCall({ attempts = attemptsDefault, ...connection }: HttpCallOptions): Call {
  async function call(name: OperationName, input: object, options: CallOptions = {}): Promise<unknown> {
    const { method } = contract[name]
    const key = options.idempotencyKey ?? (method === 'POST' ? newIdempotencyKey() : undefined)
    const repeatable = method === 'GET' || key !== undefined
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(connection, name, input, key, options)
      } catch (error) {
        if (!repeatable || attempt + 1 >= attempts || !isPassing(error)) throw error
      }
      await pause(backoffMs(pace, attempt), options.signal)
    }
  }
  return call as Call // the contract says which output an operation has; the gateway keeps to it
}

/** The same over a server's own `fetch`: one client, one path, another transport. */
export function inProcessCall(
  handler: (request: Request) => Promise<Response>,
  who: Pick<Connection, 'token' | 'via'> = {},
): Call {
  return httpCall(inProcess(handler, who))
}

async function once(
  connection: Connection,
  name: OperationName,
  input: object,
  key: string | undefined,
  { signal, keepalive = false }: CallOptions,
): Promise<unknown> {
  const { path, body } = formatRequest(name, input)
  const headers: Record<string, string> = {}
  if (body !== null) headers['content-type'] = 'application/json'
  if (key !== undefined) headers['idempotency-key'] = key
  const reply = await sendRequest(connection, path, {
    method: contract[name].method,
    headers,
    body,
    signal: signal ?? null,
    keepalive: keepalive && new TextEncoder().encode(body ?? '').length <= keepaliveMaxBytes,
  })
  if (!reply.ok) throw await faultFromReply(reply)
  try {
    return JSON.parse(await reply.text())
  } catch (error) {
    throw signal?.aborted ? signal.reason : new Unreachable(connection.url, error)
  }
}

/** Nobody there, or someone who is just leaving. */
function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof Fault && error.code === 'draining')
}
