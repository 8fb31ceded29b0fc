/** A process with several people who answer a request at the same moment, each with their own connection, credential and answer. The parent process starts each round. */
import { Agent, request } from 'node:http'

const { url, people } = JSON.parse(process.argv[2] ?? '')
const { hostname, port } = new URL(url)
const agent = new Agent({ keepAlive: true, maxSockets: people.length })

function post(path, token, body) {
  const text = JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, path: `/api/v1${path}`, method: 'POST', headers }, reply => {
      const chunks = []
      reply.on('data', chunk => chunks.push(chunk))
      reply.on('end', () => resolve({ status: reply.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) }))
      reply.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

/** Returns the status and the winning resolution that this person received. */
function outcome(name, { status, body }) {
  const request = status === 200 ? body : body.error?.detail?.request
  return { name, status, code: body.error?.code ?? null, resolution: request?.resolution ?? null }
}

process.on('message', async ({ id, digest }) => {
  try {
    const replies = people.map(({ name, token }) => {
      const answer = { kind: 'deny', reason: `${name} says no` }
      return post(`/requests/${id}/answer`, token, { digest, answer }).then(reply => outcome(name, reply))
    })
    process.send({ outcomes: await Promise.all(replies) })
  } catch (error) {
    process.send({ error: String(error) })
  }
})
process.on('disconnect', () => process.exit())
