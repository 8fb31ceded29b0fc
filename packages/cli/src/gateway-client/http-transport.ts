/** HTTP as Node has it at hand. `fetch` would do the same, but its first use costs a short command a third of its time. */
import { type IncomingMessage, request as plain } from 'node:http'
import { Readable } from 'node:stream'
import type { Fetch, HttpReply } from '@holdpoint/client'

/** Longer than any wait that the gateway is asked for: a peer that is gone without a word is noticed. */
const idleMaxMs = 300_000

export const send: Fetch = async (url, { method = 'GET', headers, body, signal }) => {
  const at = new URL(url)
  const request = at.protocol === 'https:' ? (await import('node:https')).request : plain
  return new Promise((resolve, reject) => {
    const sent = request(at, { method, headers, timeout: idleMaxMs, ...(signal && { signal }) })
    sent.once('response', reply => resolve(toReply(reply)))
    sent.once('timeout', () => sent.destroy(new Error(`nothing was heard for ${idleMaxMs / 1000} seconds`)))
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
      return Readable.toWeb(reply) as HttpReply['body'] // the same class under two names
    },
  }
}

async function readBody(reply: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of reply) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
