/** What goes out over one WebSocket, replies and stream frames counted apart: who is slow with frames is let go, who is slow with replies is not read from. */
import { limits } from '@holdpoint/protocol'
import type { WebSocket } from 'ws'

type Kind = 'reply' | 'frame'
interface Message {
  readonly kind: Kind
  readonly bytes: Buffer
  /** How much of it has been handed to the socket. */
  sent: number
}

export class SocketWriter {
  readonly #ws: WebSocket
  readonly #queue: Message[] = []
  /** Bytes that the other side has not taken yet. */
  readonly #owed = { reply: 0, frame: 0 }
  /** Those of them that were handed to the socket: few, so that a ping never waits behind a long queue. */
  #handed = 0
  #ending = false
  #moved = false

  constructor(ws: WebSocket) {
    this.#ws = ws
  }

  get framesOwed(): number {
    return this.#owed.frame
  }

  /** Whether the other side has taken anything of what piles up here, since this was asked last. */
  hasMoved(): boolean {
    const moved = this.#moved
    this.#moved = false
    return moved
  }

  send(kind: Kind, bytes: Buffer): void {
    this.#queue.push({ kind, bytes, sent: 0 })
    this.#owed[kind] += bytes.length
    // To refuse what comes would only add to what waits.
    if (this.#owed.reply > limits.queuedRepliesMaxBytes) this.#ws.pause()
    this.#pump()
  }

  /** Closes when everything has been said. */
  end(): void {
    this.#ending = true
    this.#pump()
  }

  #pump(): void {
    for (let next = this.#queue[0]; next && this.#handed < limits.fragmentMaxBytes; next = this.#queue[0]) {
      const part = next.bytes.subarray(next.sent, next.sent + limits.fragmentMaxBytes)
      next.sent += part.length
      const fin = next.sent === next.bytes.length
      if (fin) this.#queue.shift()
      this.#handed += part.length
      const { kind } = next
      this.#ws.send(part, { binary: false, fin }, error => this.#taken(kind, part.length, error))
    }
    if (this.#ending && this.#queue.length === 0) this.#ws.close(1001, 'closing')
  }

  #taken(kind: Kind, bytes: number, error: Error | null | undefined): void {
    this.#handed -= bytes
    this.#owed[kind] -= bytes
    if (error) return
    // Where nothing waits behind it, the kernel may have taken it for a peer that is long gone.
    if (this.#queue.length > 0) this.#moved = true
    if (this.#ws.isPaused && this.#owed.reply <= limits.queuedRepliesMaxBytes) this.#ws.resume()
    this.#pump()
  }
}
