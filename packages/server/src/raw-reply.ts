/** Replies written by hand, where Node has no response to write them with: refused handshakes, and requests that could not be read. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Fault, limits } from '@holdpoint/protocol'
import { faultReply } from './http-message.ts'

/** The last words on a connection. */
export function refuse(socket: Duplex, fault: Fault): void {
  const { status, headers, body } = faultReply(fault)
  const text = String(body) // a fault's reply is JSON text
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`]
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  lines.push(`content-length: ${Buffer.byteLength(text)}`, 'connection: close', '', text)
  // Whoever does not close in turn would keep the connection.
  socket.end(lines.join('\r\n'), () => socket.destroy())
}

/** What Node's parser did not accept. `midReply`: something else is being said on this connection already. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex, midReply: boolean): void {
  if (midReply || !socket.writable) socket.destroy()
  else refuse(socket, faultOfParser(error))
}

function faultOfParser({ code }: NodeJS.ErrnoException): Fault {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Fault('headers_too_large', `The headers are larger than ${limits.headersMaxBytes} bytes.`)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault('too_slow', 'The request took too long to arrive.')
  return new Fault('bad_input', 'This is not a request that HTTP/1.1 knows.')
}
