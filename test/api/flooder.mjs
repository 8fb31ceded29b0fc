/** Attacks the gateway at a port with raw connections for some time: `node flooder.mjs PORT TOKEN SESSION MILLISECONDS`. The token is that of an agent. Everything stays on this machine and is limited in number. */
import { connect } from 'node:net'
import { WebSocket } from 'ws'

const [, , port, token, session, ms] = process.argv
const endsAt = Date.now() + Number(ms)
/** The pause between two waves of an attack. */
const waveMs = 100

function open() {
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  return socket
}
function openWebSocket() {
  const headers = { authorization: `Bearer ${token}` }
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/socket`, { headers })
  socket.on('error', () => {})
  return socket
}
function head(method, path, ...more) {
  return [`${method} ${path} HTTP/1.1`, `Host: localhost:${port}`, `Authorization: Bearer ${token}`, ...more].join(
    '\r\n',
  )
}
async function waves(wave) {
  for (let i = 0; Date.now() < endsAt; i++) {
    const stop = wave(i)
    await new Promise(resolve => setTimeout(resolve, waveMs))
    stop?.()
  }
}
/** Opens connections, sends something on each, and closes them after the wave. */
function connections(count, text) {
  return waves(i => {
    const sockets = Array.from({ length: count }, open)
    for (const [n, socket] of sockets.entries()) socket.resume().write(text(i * count + n))
    return () => {
      for (const socket of sockets) socket.destroy()
    }
  })
}

const broken = [
  'nonsense\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  `${head('POST', '/api/v1/sessions', 'Content-Length: 5', 'Transfer-Encoding: chunked')}\r\n\r\nffffffff\r\n`,
  `${head('POST', '/api/v1/sessions', 'Transfer-Encoding: chunked')}\r\n\r\nzz\r\n`,
  `${head('GET', '/api/v1/me', `X: ${'x'.repeat(20_000)}`)}\r\n\r\n`,
  `${head('GET', `/${'a/'.repeat(7000)}`)}\r\n\r\n`,
  `${head('POST', '/api/v1/sessions', 'Content-Type: application/json', 'Content-Length: 9999999999')}\r\n\r\n[[[`,
  Buffer.alloc(60_000, 0xff),
  `${head('GET', '/api/v1/socket', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x')}\r\n\r\n`,
]

function slowRequests() {
  const lines = ['Content-Type: application/json', 'Content-Length: 100000']
  const starts = ['GET / HTTP/1.1\r\nX', `${head('POST', '/api/v1/sessions', ...lines)}\r\n\r\n{`]
  const sockets = Array.from({ length: 100 }, (_, i) => {
    const socket = open()
    socket.resume().write(starts[i % 2])
    return socket
  })
  return waves(() => {
    for (const socket of sockets) if (socket.writable) socket.write('a')
  })
}

/** Subscribes and never reads, while another connection appends large events. */
function unreadStreams() {
  for (let i = 0; i < 10; i++) {
    const socket = open()
    socket.pause()
    socket.write(`${head('GET', `/api/v1/events?session=${session}`)}\r\n\r\n`)
    const ws = openWebSocket()
    ws.once('open', () => {
      ws.send(JSON.stringify({ subscribe: { session } }))
      ws.pause()
    })
  }
  const writer = openWebSocket()
  const items = [{ type: 'message.added', block: 'b', text: 'x'.repeat(100_000) }]
  return waves(id => {
    if (writer.readyState === WebSocket.OPEN)
      writer.send(JSON.stringify({ id, op: 'appendEvents', input: { id: session, items } }))
  })
}

function frames() {
  return waves(() => {
    const ws = openWebSocket()
    ws.once('open', () => {
      for (let i = 0; i < 200; i++) {
        ws.ping('x'.repeat(100))
        ws.send('{', { fin: i % 50 === 49 })
        if (i % 50 === 49) ws.send(JSON.stringify({ subscribe: { session } }))
      }
    })
    return () => ws.terminate()
  })
}

await Promise.all([
  connections(10, i => broken[i % broken.length]),
  slowRequests(),
  unreadStreams(),
  frames(),
  connections(1, () => `${head('GET', '/api/v1/me')}\r\n\r\n`.repeat(100)),
  connections(50, () => 'GET'),
])
process.exit()
