/** A proxy in front of a TCP server that makes connections bad on purpose: slow, cut at random bytes, or half open. */
import { connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  readonly port: number
  /** Sets the port of the server behind the proxy. */
  forwardTo(port: number): void
  /** Delays everything by up to this time, in each direction and in order. */
  delay(ms: number): void
  /** Closes all connections at once. */
  cut(): void
  /** Closes each later connection after it has carried this many bytes; null to stop doing so. */
  cutAfter(bytes: (() => number) | null): void
  /** Stops forwarding on all open connections without closing them, as if a cable was pulled. */
  freeze(): void
  readonly open: number
  close(): Promise<void>
}

export async function openTcpProxy(): Promise<TcpProxy> {
  const connections = new Set<ProxiedConnection>()
  const settings: ProxySettings = { port: 0, delayMs: 0, cutAfter: null }
  const server = createServer({ noDelay: true }, client => {
    const connection = new ProxiedConnection(client, settings, () => connections.delete(connection))
    connections.add(connection)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    forwardTo: port => {
      settings.port = port
    },
    delay: ms => {
      settings.delayMs = ms
    },
    cut: () => {
      for (const connection of connections) connection.destroy()
    },
    cutAfter: bytes => {
      settings.cutAfter = bytes
    },
    freeze: () => {
      for (const connection of connections) connection.isFrozen = true
    },
    get open() {
      return connections.size
    },
    close: async () => {
      for (const connection of connections) connection.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

interface ProxySettings {
  port: number
  delayMs: number
  cutAfter: (() => number) | null
}

class ProxiedConnection {
  isFrozen = false
  readonly #client: Socket
  readonly #server: Socket
  readonly #settings: ProxySettings
  #bytesLeft: number

  constructor(client: Socket, settings: ProxySettings, onClose: () => void) {
    this.#client = client
    this.#server = connect({ port: settings.port, host: '127.0.0.1', noDelay: true })
    this.#settings = settings
    this.#bytesLeft = settings.cutAfter?.() ?? Number.POSITIVE_INFINITY
    for (const socket of [this.#client, this.#server]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        if (this.isFrozen) return
        this.destroy()
        onClose()
      })
    }
    this.#client.on('data', chunk => this.#forward(chunk, this.#server))
    this.#server.on('data', chunk => this.#forward(chunk, this.#client))
  }

  destroy(): void {
    this.isFrozen = false
    this.#client.destroy()
    this.#server.destroy()
  }

  #forward(chunk: Buffer, to: Socket): void {
    const part = chunk.subarray(0, Math.min(chunk.length, this.#bytesLeft))
    this.#bytesLeft -= part.length
    const isLast = this.#bytesLeft <= 0
    const send = () => {
      if (this.isFrozen || to.destroyed) return
      to.write(part)
      if (isLast) to.end(() => this.destroy())
    }
    // Equal delays keep the order of the chunks.
    if (this.#settings.delayMs === 0) send()
    else setTimeout(send, this.#settings.delayMs)
  }
}
