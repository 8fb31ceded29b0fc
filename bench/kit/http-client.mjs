/** A minimal HTTP/1.1 client: one kept-alive connection, one call at a time. `fetch` would take more CPU time than the measured server. */
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')

/** Opens a TCP connection. */
export function connectTo(url) {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
}

export async function openHttpClient(url, root = '/api/v1') {
  const socket = await connectTo(url)
  const { host } = new URL(url)
  let received = null
  let pending = null
  socket.on('data', chunk => {
    received = received === null ? chunk : Buffer.concat([received, chunk])
    const reply = readReply(received)
    if (!reply) return
    received = null
    pending.resolve(reply)
  })
  const fail = error => pending?.reject(error ?? new Error(`${url} closed the connection`))
  socket.on('error', fail)
  socket.on('close', () => fail())

  /** Sends a request. A POST has an idempotency key, as in the client package. */
  async function call(method, path, token, body) {
    const text = body === undefined ? '' : JSON.stringify(body)
    let head = `${method} ${root}${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n`
    if (method === 'POST') head += `idempotency-key: ${randomUUID()}\r\n`
    if (text) head += `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`
    const reply = await new Promise((resolve, reject) => {
      pending = { resolve, reject }
      socket.write(`${head}\r\n${text}`)
    })
    if (reply.status >= 300) throw new Error(`${method} ${path} got ${reply.status}: ${reply.text}`)
    return reply.text
  }
  return {
    call,
    get: async (path, token) => JSON.parse(await call('GET', path, token)),
    post: async (path, token, body = {}) => JSON.parse(await call('POST', path, token, body)),
    close: () => socket.destroy(),
  }
}

function readReply(bytes) {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return null
  const head = bytes.latin1Slice(0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const start = end + headEnd.length
  if (bytes.length < start + length) return null
  return { status: Number(head.slice(9, 12)), text: bytes.utf8Slice(start, start + length) }
}

/** Opens an event stream and passes the body's raw bytes to `onBytes`. */
export async function openStream(url, token, onBytes, path = '/api/v1/events') {
  const socket = await connectTo(url)
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`,
  )
  let head = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', function first(chunk) {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf(headEnd)
    if (end < 0) return
    if (!head.latin1Slice(0, 12).endsWith('200')) throw new Error(`the stream was refused: ${head}`)
    socket.off('data', first)
    socket.on('data', onBytes)
    if (head.length > end + headEnd.length) onBytes(head.subarray(end + headEnd.length))
  })
  return socket
}

/** Opens an event stream and passes its parsed frames to `onFrame`. */
export async function openFrames(url, token, onFrame) {
  let received = ''
  return openStream(url, token, bytes => {
    received += bytes.toString('utf8')
    for (let end = received.indexOf('\n\n'); end >= 0; end = received.indexOf('\n\n')) {
      const data = received
        .slice(0, end)
        .split('\n')
        .find(line => line.startsWith('data: '))
      received = received.slice(end + 2)
      if (data) onFrame(JSON.parse(data.slice(6)))
    }
  })
}
