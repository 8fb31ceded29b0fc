/** Calls operations over HTTP. A call that can be repeated safely is retried after a transient error. */
import {
  type Call,
  type CallOptions,
  isTransient,
  type OperationName,
  operationRoutes,
  retry,
} from '@holdpoint/protocol'
import {
  type Connection,
  faultFromReply,
  formatRequest,
  inProcess,
  newIdempotencyKey,
  Unreachable,
} from './connection.ts'
import { sendRequest } from './send-request.ts'

/** The default number of attempts. The pauses between eight attempts add up to at most about 5 seconds. */
const attemptsDefault = 8
const retryPauses = { firstPauseMs: 50, pauseMaxMs: 2000 }
/** Browsers refuse `keepalive` for bodies of more than 64 KB, so larger bodies are sent without `keepalive`. */
const keepaliveMaxBytes = 60 * 1024

export interface HttpCallOptions extends Connection {
  /** The total number of attempts of a call. Default: 8. */
  readonly attempts?: number
}

export function httpCall({ attempts = attemptsDefault, ...connection }: HttpCallOptions): Call {
  async function call(name: OperationName, input: object, options: CallOptions = {}): Promise<unknown> {
    const { method } = operationRoutes[name]
    const key = options.idempotencyKey ?? (method === 'POST' ? newIdempotencyKey() : undefined)
    const isRepeatable = method === 'GET' || key !== undefined
    return retry(() => callOnce(connection, name, input, key, options), {
      ...retryPauses,
      attempts,
      isRetryable: error => isRepeatable && isTransient(error) && mayAnswerSoon(error),
      signal: options.signal,
    })
  }
  return call as Call // the gateway's replies have the types that the contract declares
}

/** A gateway that restarts refuses connections for a moment. A gateway that does not reply or cannot prove itself will not succeed a moment later either. */
function mayAnswerSoon(error: unknown): boolean {
  return !(error instanceof Unreachable) || error.reason === 'no connection'
}

/** Like `httpCall`, but calls a server's request handler directly, without a port. */
export function inProcessCall(
  handler: (request: Request) => Promise<Response>,
  caller: Pick<Connection, 'token'> = {},
): Call {
  return httpCall(inProcess(handler, caller))
}

async function callOnce(
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
    method: operationRoutes[name].method,
    headers,
    body,
    signal: signal ?? null,
    keepalive: keepalive && new TextEncoder().encode(body ?? '').length <= keepaliveMaxBytes,
  })
  if (!reply.ok) throw await faultFromReply(reply)
  try {
    return JSON.parse(await reply.text())
  } catch (error) {
    throw signal?.aborted ? signal.reason : new Unreachable(connection, 'no connection', error)
  }
}
