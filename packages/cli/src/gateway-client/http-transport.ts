/** Sends HTTP requests with node:http, because loading `fetch` takes a third of the run time of a short command. */
import { type IncomingMessage, request as plain } from 'node:http'
import { Readable } from 'node:stream'
import type { Fetch, HttpReply } from '@holdpoint/client'

/** A connection that has received no data for this long is closed. Every long poll ends sooner, so the gateway no longer responds. */
const idleMaxMs = 300_000

export const httpFetch: Fetch = async (url, { method = 'GET', headers, body, signal }) => {
  const target = new URL(url)
  const request = target.protocol === 'https:' ? (await import('node:https')).request : plain
  return new Promise((resolve, reject) => {
    const sent = request(target, { method, headers, timeout: idleMaxMs, ...(signal && { signal }) })
    sent.once('response', reply => resolve(toReply(reply)))
    sent.once('timeout', () => sent.destroy(new Error(`no data for ${idleMaxMs / 1000} seconds`)))
    sent.on('error', reject)
    sent.end(body ?? undefined)
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
