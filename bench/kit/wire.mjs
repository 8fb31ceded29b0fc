/** The smallest HTTP/1.1 client that serves: one connection, kept alive, one call at a time. `fetch` would cost more than what is measured. */
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')

/** Opens a connection and writes nothing yet. */
export function dial(url) {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
}

export async function openWire(url, root = '/api/v1') {
  const socket = await dial(url)
  const { host } = new URL(url)
  let held = null
  let settle = null
  socket.on('data', chunk => {
    held = held === null ? chunk : Buffer.concat([held, chunk])
    const reply = readReply(held)
    if (!reply) return
    held = null
    settle.resolve(reply)
  })
  const lost = error => settle?.reject(error ?? new Error(`${url} closed the connection`))
  socket.on('error', lost)
  socket.on('close', () => lost())

  /** A POST carries an idempotency key, as our client's do. */
  async function call(method, path, token, body) {
    const text = body === undefined ? '' : JSON.stringify(body)
    let head = `${method} ${root}${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n`
    if (method === 'POST') head += `idempotency-key: ${randomUUID()}\r\n`
    if (text) head += `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`
    const reply = await new Promise((resolve, reject) => {
      settle = { resolve, reject }
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

/** An event stream: raw bytes to `onBytes`, from the first byte behind the head of the reply. */
export async function openStream(url, token, onBytes, path = '/api/v1/events') {
  const socket = await dial(url)
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

/** The frames of an event stream, parsed. */
export async function openFrames(url, token, onFrame) {
  let held = ''
  return openStream(url, token, bytes => {
    held += bytes.toString('utf8')
    for (let end = held.indexOf('\n\n'); end >= 0; end = held.indexOf('\n\n')) {
      const data = held
        .slice(0, end)
        .split('\n')
        .find(line => line.startsWith('data: '))
      held = held.slice(end + 2)
      if (data) onFrame(JSON.parse(data.slice(6)))
    }
  })
}
