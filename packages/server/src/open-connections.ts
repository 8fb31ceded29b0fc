/** Keeps track of all open connections: makes room for new ones by closing those that nobody with a credential uses, and closes those whose client has stopped reading. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '@holdpoint/protocol'
import type { Log } from './http-message.ts'
import { HttpWriter } from './http-writer.ts'

export class OpenConnections {
  readonly #max: number
  /** Connections without a request in progress that has a valid credential. The one that has been unused longest comes first. */
  readonly #unused = new Set<Socket>()
  /** The number of requests in progress with a valid credential on each of the other connections. */
  readonly #inUse = new Map<Socket, number>()
  /** The replies that are being sent, and whether the client had read nothing at the last check. */
  readonly #replies = new Map<HttpWriter, boolean>()
  readonly #readCheck: NodeJS.Timeout

  constructor(max: number, log: Log) {
    this.#max = max
    this.#readCheck = setInterval(() => this.#closeUnread(log), limits.unreadMaxMs / 2).unref()
  }

  *[Symbol.iterator](): Iterator<Socket> {
    yield* this.#unused
    yield* this.#inUse.keys()
  }

  /** Adds a new connection, or closes it if there is no room. */
  add(socket: Socket): void {
    if (this.#unused.size + this.#inUse.size >= this.#max) {
      const [oldest] = this.#unused
      if (!oldest) {
        socket.destroy()
        return
      }
      this.#unused.delete(oldest)
      oldest.destroy()
    }
    this.#unused.add(socket)
    socket.once('close', () => {
      this.#unused.delete(socket)
      this.#inUse.delete(socket)
    })
  }

  /** Protects a connection from being closed to make room, until `unprotect` is called as often. */
  protect(socket: Socket): void {
    if (socket.destroyed) return
    this.#unused.delete(socket)
    this.#inUse.set(socket, (this.#inUse.get(socket) ?? 0) + 1)
  }

  unprotect(socket: Socket): void {
    const remaining = (this.#inUse.get(socket) ?? 1) - 1
    if (remaining > 0) this.#inUse.set(socket, remaining)
    else {
      this.#inUse.delete(socket)
      if (!socket.destroyed) this.#unused.add(socket)
    }
  }

  /** Returns the writer of a reply. The connection is closed if the client reads nothing for `unreadMaxMs` while bytes are unread. */
  writerFor(res: ServerResponse): HttpWriter {
    const writer = new HttpWriter(res)
    this.#replies.set(writer, false)
    res.once('close', () => this.#replies.delete(writer))
    return writer
  }

  stopChecks(): void {
    clearInterval(this.#readCheck)
  }

  #closeUnread(log: Log): void {
    for (const [writer, wasStalled] of this.#replies) {
      const isStalled = writer.isStalled()
      if (isStalled && wasStalled) {
        log({ disconnected: 'an HTTP client', reason: `the client read nothing for ${limits.unreadMaxMs} ms` })
        writer.destroy()
      }
      this.#replies.set(writer, isStalled)
    }
  }
}
