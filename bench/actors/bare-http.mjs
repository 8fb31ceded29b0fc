/** A node:http server in three variants. The server only replies, commits the recorded rows in groups before it replies, or broadcasts each body. */
import { createServer } from 'node:http'
import { openBareCommits, readRecording } from '../kit/sqlite.mjs'

const subscribers = new Set()
let respond = (_req, res) => send(res, '{}')

const server = createServer({ noDelay: true }, (req, res) => {
  if (req.method === 'GET') return subscribe(res)
  const chunks = []
  req.on('data', chunk => chunks.push(chunk))
  req.on('end', () => respond(req, res, Buffer.concat(chunks)))
})

function send(res, text) {
  res.writeHead(200, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))])
  res.end(text)
}

function subscribe(res) {
  res.useChunkedEncodingByDefault = false
  res.shouldKeepAlive = false
  res.writeHead(200, ['content-type', 'text/event-stream'])
  res.flushHeaders()
  subscribers.add(res)
  res.on('close', () => subscribers.delete(res))
}

export function open() {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`))
  })
}

/** Every POST commits the next change of the recording. POSTs that arrive in one turn of the event loop share a commit, as in Holdpoint. */
export async function commitFirst({ recording, file, replies }) {
  const changes = readRecording(recording)
  const bare = await openBareCommits(file)
  const byPath = [
    [/\/requests$/, 'opened'],
    [/\/answer$/, 'resolved'],
    [/\/delivery$/, 'taken'],
    [/\/sessions$/, 'session'],
  ]
  let queue = []
  let next = 0
  function flush() {
    const group = queue
    queue = []
    bare.commit(changes.slice(next, next + group.length))
    next += group.length
    for (const { res, text } of group) send(res, text)
  }
  respond = (req, res, body) => {
    JSON.parse(body.toString())
    const step = byPath.find(([path]) => path.test(req.url))[1]
    if (step === 'session') return send(res, JSON.stringify({ id: changes[0].request.session }))
    if (queue.push({ res, text: replies[step] }) === 1) setImmediate(flush)
  }
}

/** Sends the body of every POST to all subscribers. */
export function broadcast() {
  respond = (_req, res, body) => {
    for (const subscriber of subscribers) subscriber.write(body)
    send(res, '{}')
  }
}
