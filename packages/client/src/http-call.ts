/** Operations over HTTP. What cannot do harm twice is tried again when the gateway is away for a moment. */
import { type Call, type CallOptions, contract, isTransient, type OperationName, retry } from '@holdpoint/protocol'
import {
  type Connection,
  faultFromReply,
  formatRequest,
  inProcess,
  newIdempotencyKey,
  sendRequest,
  Unreachable,
} from './connection.ts'

/** Eight attempts take about 5 seconds. `attempts: Infinity` never gives up. */
const attemptsDefault = 8
const retryPauses = { firstPauseMs: 50, pauseMaxMs: 2000 }
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
    return retry(() => once(connection, name, input, key, options), {
      ...retryPauses,
      attempts,
      isRetryable: error => repeatable && isTransient(error),
      signal: options.signal,
    })
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
