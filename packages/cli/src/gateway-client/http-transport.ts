/** Sends HTTP requests with node:http over TCP or a Unix socket. Loading `fetch` would take a third of the run time of a short command, and `fetch` has no Unix sockets. */
import { type ClientRequest, type IncomingMessage, request as plain, type RequestOptions } from 'node:http'
import { Readable } from 'node:stream'
import { type Fetch, type HttpReply, NoAnswer } from '@holdpoint/client'

/** A connection that has received no data for this long is closed. Every long poll ends sooner, so the gateway must be gone. */
const idleMaxMs = 300_000
/** If a reply takes longer than this, the gateway is asked whether it is alive, and has as long again to answer. */
const probeAfterMs = 2500

type Request = (options: RequestOptions) => ClientRequest
type HttpRequest = Parameters<Fetch>[1]

/** Sends requests to the host and port of the URL. */
export const httpFetch: Fetch = async (url, init) => {
  const { protocol, hostname, port, pathname, search, host } = new URL(url)
  const request = protocol === 'https:' ? (await import('node:https')).request : plain
  // node:http takes an IPv6 address without its brackets.
  const target = { protocol, host: hostname.replace(/^\[|\]$/g, ''), port, path: `${pathname}${search}` }
  return send(request, target, { ...init, headers: { host, ...init.headers } })
}

/** Returns a `fetch` that sends requests over a Unix socket, for every host in the URL. `socketPath` is called for every request, because a restarted gateway may have another socket. */
export function unixFetch(socketPath: () => string): Fetch {
  return async (url, init) => {
    const { pathname, search } = new URL(url)
    const target = { socketPath: socketPath(), path: `${pathname}${search}` }
    return send(plain, target, { ...init, headers: { host: 'localhost', ...init.headers } })
  }
}

function send(
  request: Request,
  target: RequestOptions,
  { method = 'GET', headers, body, signal }: HttpRequest,
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...target, method, headers, timeout: idleMaxMs, ...(signal && { signal }) })
    sent.once('response', reply => resolve(toReply(reply)))
    sent.once('timeout', () => sent.destroy(new Error(`no data for ${idleMaxMs / 1000} seconds`)))
    sent.on('error', reject)
    endIfSilent(sent, () => probe(request, { ...target, headers: { host: headers.host ?? '' } }))
    sent.end(body ?? undefined)
  })
}

/** Ends a request if the gateway stops answering, for example because its process is stopped. A long poll continues as long as the gateway answers probes. */
function endIfSilent(sent: ClientRequest, isAlive: () => Promise<void>): void {
  let timer: NodeJS.Timeout | undefined
  let isWaiting = true
  const waitForReply = () => {
    timer = setTimeout(() => {
      isAlive().then(
        () => isWaiting && waitForReply(),
        (error: Error) => isWaiting && sent.destroy(error),
      )
    }, probeAfterMs)
  }
  waitForReply()
  for (const event of ['response', 'close'] as const)
    sent.once(event, () => {
      isWaiting = false
      clearTimeout(timer)
    })
}

/** Resolves with any reply, because even a refusal shows that the gateway is alive. */
function probe(request: Request, target: RequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...target, path: '/healthz', agent: false })
    const timer = setTimeout(() => sent.destroy(new NoAnswer()), probeAfterMs)
    sent.once('response', reply => {
      reply.resume()
      resolve()
    })
    sent.on('error', reject)
    sent.once('close', () => clearTimeout(timer))
    sent.end()
  })
}

function toReply(reply: IncomingMessage): HttpReply {
  const { statusCode: status = 0 } = reply
  return {
    status,
    ok: status >= 200 && status < 300,
    text: () => readBody(reply),
    get body() {
      return Readable.toWeb(reply) as HttpReply['body'] // both types are the same class, which Node declares twice
    },
  }
}

async function readBody(reply: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of reply) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
