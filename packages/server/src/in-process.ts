/** A door without a port: `fetch` for tests and embedders, over web requests and streams. */

import type { ByteSink, FlatHeaders, IncomingRequest, OutgoingReply } from './http-message.ts'
import { tooLarge } from './input.ts'
import type { RequestHandler } from './request-handler.ts'

export async function fetchThrough(door: RequestHandler, request: Request): Promise<Response> {
  const gone = new Set<() => void>()
  const leave = () => {
    for (const callback of gone) callback()
  }
  request.signal.addEventListener('abort', leave, { once: true })
  const reply = await door.handle(incomingOf(request, gone))
  const headers = pairs(reply.headers)
  if (typeof reply.body === 'function')
    return new Response(streamOf(reply.body, leave, request.signal), { status: reply.status, headers })
  const empty = reply.status === 304 || request.method === 'HEAD'
  return new Response(empty ? null : reply.body, { status: reply.status, headers })
}

function pairs(flat: FlatHeaders): [string, string][] {
  const all: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) all.push([flat[i] as string, flat[i + 1] as string]) // names and values in turn
  return all
}

function incomingOf(request: Request, gone: Set<() => void>): IncomingRequest {
  const url = new URL(request.url)
  // A Request carries its host in the URL; one that names another in a header has two, and neither is right.
  const named = request.headers.get('host') ?? url.host
  const host = named === url.host ? named : `${named}, ${url.host}`
  return {
    method: request.method,
    target: url.pathname + url.search,
    repeated: null,
    hasBody: request.body !== null,
    header: name => (name === 'host' ? host : (request.headers.get(name) ?? undefined)),
    body: maxBytes => readBody(request.body, maxBytes),
    onGone(callback) {
      if (request.signal.aborted) callback()
      else gone.add(callback)
    },
  }
}

async function readBody(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

type Open = Exclude<OutgoingReply['body'], string | Buffer>
function streamOf(open: Open, leave: () => void, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener('abort', () => controller.error(signal.reason), { once: true })
        open(outletOf(controller))
      },
      cancel: leave,
    },
    { highWaterMark: 0, size: chunk => chunk?.length ?? 0 },
  )
}

function outletOf(controller: ReadableStreamDefaultController<Uint8Array>): ByteSink {
  return {
    write: chunk => controller.enqueue(chunk),
    buffered: () => -(controller.desiredSize ?? 0),
    end(last) {
      controller.enqueue(last)
      controller.close()
    },
    destroy: () => controller.error(new Error('this reader was too slow, or its credential is gone; watch again')),
  }
}
