/** Writes HTTP replies directly to a connection when Node has no response object, for example after a refused handshake or an unreadable request. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Fault, limits } from '@holdpoint/protocol'
import { faultReply } from './http-message.ts'

/** Sends the fault and closes the connection. */
export function refuse(socket: Duplex, fault: Fault): void {
  const { status, headers, body } = faultReply(fault)
  const text = String(body) // the body of a fault reply is JSON text
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`]
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  lines.push(`content-length: ${Buffer.byteLength(text)}`, 'connection: close', '', text)
  // Destroy the connection, because a client that never closes its side would keep the connection open.
  socket.end(lines.join('\r\n'), () => socket.destroy())
}

/** Replies to a request that Node's HTTP parser could not read. If another reply is half sent (`isMidReply`), only closes the connection. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex, isMidReply: boolean): void {
  if (isMidReply || !socket.writable) socket.destroy()
  else refuse(socket, parserFault(error))
}

function parserFault({ code }: NodeJS.ErrnoException): Fault {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Fault('headers_too_large', `The headers are larger than ${limits.headersMaxBytes} bytes.`)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault('too_slow', 'The request took too long to arrive.')
  return new Fault('bad_input', 'This is not a valid HTTP/1.1 request.')
}
