/** The WebSocket class with which the runner connects to its gateway: over TCP, or over the Unix socket of the data folder. */
import { connect, Socket } from 'node:net'
import type { SocketConstructor } from '@holdpoint/client'
import { WebSocket } from 'ws'

export const tcpWebSocket = WebSocket as unknown as SocketConstructor // the class of ws has the same methods, but its types differ

/** Returns a class whose connections go over a Unix socket, for every host in the URL. `socketPath` is called for every connection, because a restarted gateway may have another socket. */
export function unixWebSocket(socketPath: () => string): SocketConstructor {
  class UnixWebSocket extends WebSocket {
    constructor(url: string, protocols: string[], { headers }: { readonly headers: Record<string, string> }) {
      const createConnection = () => connectTo(socketPath)
      super(url, protocols, { createConnection, headers: { ...headers, host: 'localhost' } })
    }
  }
  return UnixWebSocket as unknown as SocketConstructor // the class of ws has the same methods, but its types differ
}

/** Reports every problem as an error of the connection, so that the caller handles it like a gateway that does not run. */
function connectTo(socketPath: () => string): Socket {
  try {
    return connect(socketPath())
  } catch (error) {
    const socket = new Socket()
    // The caller attaches its listeners after this function returns. If it missed the error, the handshake would never end.
    setImmediate(() => socket.destroy(error as Error)) // `socketPath` throws only errors
    return socket
  }
}
