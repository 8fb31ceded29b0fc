/** Implements the server's `fetch`, which handles a web Request without a port, for tests and for programs that embed the gateway. */
import type { ByteSink, FlatHeaders, IncomingRequest, OutgoingReply } from './http-message.ts'
import { bodyTooLarge } from './input.ts'
import type { RequestHandler } from './request-handler.ts'

export async function handleFetch(handler: RequestHandler, request: Request): Promise<Response> {
  const closeCallbacks = new Set<() => void>()
  const close = () => {
    for (const callback of closeCallbacks) callback()
  }
  request.signal.addEventListener('abort', close, { once: true })
  const reply = await handler.handle(toIncoming(request, closeCallbacks))
  const headers = headerPairs(reply.headers)
  if (typeof reply.body === 'function')
    return new Response(toStream(reply.body, close, request.signal), { status: reply.status, headers })
  close()
  const hasNoBody = reply.status === 304 || request.method === 'HEAD'
  return new Response(hasNoBody ? null : reply.body, { status: reply.status, headers })
}

function headerPairs(flat: FlatHeaders): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as string]) // the list alternates between names and values
  return pairs
}

function toIncoming(request: Request, closeCallbacks: Set<() => void>): IncomingRequest {
  const url = new URL(request.url)
  // The URL of a Request contains the host. If the Host header differs, pass on both hosts, so that the authenticator refuses the request.
  const hostHeader = request.headers.get('host') ?? url.host
  const host = hostHeader === url.host ? hostHeader : `${hostHeader}, ${url.host}`
  return {
    transport: 'inProcess',
    method: request.method,
    target: url.pathname + url.search,
    repeatedHeader: null,
    headerCount: [...request.headers.keys()].length,
    hasBody: request.body !== null,
    localAddress: null,
    bodyBytes: 0,
    source: 'in-process',
    header: name => (name === 'host' ? host : (request.headers.get(name) ?? undefined)),
    body: maxBytes => readBody(request.body, maxBytes),
    onClose(callback) {
      if (request.signal.aborted) callback()
      else closeCallbacks.add(callback)
    },
    protect() {},
  }
}

async function readBody(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw bodyTooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

type StreamBody = Exclude<OutgoingReply['body'], string | Buffer>
function toStream(open: StreamBody, close: () => void, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener('abort', () => controller.error(signal.reason), { once: true })
        open(sinkFor(controller))
      },
      cancel: close,
    },
    { highWaterMark: 0, size: chunk => chunk?.length ?? 0 },
  )
}

function sinkFor(controller: ReadableStreamDefaultController<Uint8Array>): ByteSink {
  return {
    write(chunk, onSent) {
      controller.enqueue(chunk)
      onSent?.()
    },
    buffered: () => -(controller.desiredSize ?? 0),
    end(last) {
      controller.enqueue(last)
      controller.close()
    },
    destroy: () =>
      controller.error(new Error('The stream was read too slowly, or its credential was revoked. Subscribe again.')),
  }
}
