/** node:http without us, in three ways: it answers; it commits the same rows in groups first; it broadcasts what it is given. */
import { createServer } from 'node:http'
import { openBareCommits, readRecording } from '../kit/sqlite.mjs'

const listeners = new Set()
let respond = (_req, res) => send(res, '{}')

const server = createServer({ noDelay: true }, (req, res) => {
  if (req.method === 'GET') return listen(res)
  const chunks = []
  req.on('data', chunk => chunks.push(chunk))
  req.on('end', () => respond(req, res, Buffer.concat(chunks)))
})

function send(res, text) {
  res.writeHead(200, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))])
  res.end(text)
}

function listen(res) {
  res.useChunkedEncodingByDefault = false
  res.shouldKeepAlive = false
  res.writeHead(200, ['content-type', 'text/event-stream'])
  res.flushHeaders()
  listeners.add(res)
  res.on('close', () => listeners.delete(res))
}

export function open() {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`))
  })
}

/** Every POST commits the next change of the recording; what arrives in one turn shares a commit, as it does with us. */
export async function commitFirst({ recording, file, replies }) {
  const changes = readRecording(recording)
  const bare = await openBareCommits(file)
  const byPath = [
    [/\/requests$/, 'opened'],
    [/\/answer$/, 'resolved'],
    [/\/delivery$/, 'taken'],
    [/\/sessions$/, 'session'],
  ]
  let waiting = []
  let next = 0
  function flush() {
    const group = waiting
    waiting = []
    bare.commit(changes.slice(next, next + group.length))
    next += group.length
    for (const { res, text } of group) send(res, text)
  }
  respond = (req, res, body) => {
    JSON.parse(body.toString())
    const step = byPath.find(([path]) => path.test(req.url))[1]
    if (step === 'session') return send(res, JSON.stringify({ id: changes[0].request.session }))
    if (waiting.push({ res, text: replies[step] }) === 1) setImmediate(flush)
  }
}

/** Every POST is one write to everyone who listens. */
export function broadcast() {
  respond = (_req, res, body) => {
    for (const listener of listeners) listener.write(body)
    send(res, '{}')
  }
}
