/** Sends replies and stream frames over one WebSocket. Unsent bytes of replies and frames are counted separately, because too many unread frames end the subscription, but too many unread replies only pause reading from the socket. */
import { limits } from '@holdpoint/protocol'
import type { WebSocket } from 'ws'

type MessageKind = 'reply' | 'frame'
interface Message {
  readonly kind: MessageKind
  readonly bytes: Buffer
  /** The number of bytes that were already passed to the socket. */
  sent: number
}

export class SocketWriter {
  readonly #ws: WebSocket
  readonly #queue: Message[] = []
  /** For each kind of message, the number of bytes that are not yet written to the network, including queued bytes. */
  readonly #unsentBytes = { reply: 0, frame: 0 }
  /** The number of bytes that were passed to the socket and are not yet written. This number stays small, so that a ping is sent without a long wait. */
  #inFlightBytes = 0
  #ending = false
  #progressed = false

  constructor(ws: WebSocket) {
    this.#ws = ws
  }

  get unsentFrameBytes(): number {
    return this.#unsentBytes.frame
  }

  /** Returns whether the client has read a part of the queue since the last call. */
  hasProgressed(): boolean {
    const progressed = this.#progressed
    this.#progressed = false
    return progressed
  }

  send(kind: MessageKind, bytes: Buffer): void {
    this.#queue.push({ kind, bytes, sent: 0 })
    this.#unsentBytes[kind] += bytes.length
    // Refusing further operations would only add more replies to the queue, so stop reading from the socket instead.
    if (this.#unsentBytes.reply > limits.queuedRepliesMaxBytes) this.#ws.pause()
    this.#pump()
  }

  /** Closes the socket after all queued messages are sent. */
  end(): void {
    this.#ending = true
    this.#pump()
  }

  #pump(): void {
    for (let next = this.#queue[0]; next && this.#inFlightBytes < limits.fragmentMaxBytes; next = this.#queue[0]) {
      const part = next.bytes.subarray(next.sent, next.sent + limits.fragmentMaxBytes)
      next.sent += part.length
      const fin = next.sent === next.bytes.length
      if (fin) this.#queue.shift()
      this.#inFlightBytes += part.length
      const { kind } = next
      this.#ws.send(part, { binary: false, fin }, error => this.#onWritten(kind, part.length, error))
    }
    if (this.#ending && this.#queue.length === 0) this.#ws.close(1001, 'closing')
  }

  #onWritten(kind: MessageKind, bytes: number, error: Error | null | undefined): void {
    this.#inFlightBytes -= bytes
    this.#unsentBytes[kind] -= bytes
    if (error) return
    // A write with an empty queue does not prove that the client is reading: the kernel accepts a few bytes even if the client is dead.
    if (this.#queue.length > 0) this.#progressed = true
    if (this.#ws.isPaused && this.#unsentBytes.reply <= limits.queuedRepliesMaxBytes) this.#ws.resume()
    this.#pump()
  }
}
