/** Sends replies and stream frames over one WebSocket. Unsent bytes of replies and frames are counted separately, because too many unread frames end the subscription, but too many unread replies only pause reading from the socket. */
import { limits } from '@holdpoint/protocol'
import type { WebSocket } from 'ws'

type MessageKind = 'reply' | 'frame'
interface Message {
  readonly kind: MessageKind
  /** The bytes, or a function that returns them. A reply is encoded only when it is about to be sent, so that unread replies do not exist twice in memory. */
  content: Buffer | (() => Buffer)
  readonly onSent: (() => void) | undefined
  /** The number of bytes that were already passed to the socket. */
  sent: number
}

export class SocketWriter {
  readonly #ws: WebSocket
  readonly #onReplySent: () => void
  readonly #queue: Message[] = []
  /** The number of bytes of frames that are not yet written to the network, including queued bytes. */
  #unsentFrameBytes = 0
  #queuedReplies = 0
  /** The number of bytes that were passed to the socket and are not yet written. This number stays small, so that a ping is sent without a long wait. */
  #inFlightBytes = 0
  #ending = false
  #progressed = false

  /** `onReplySent` is called whenever a reply has left the queue. */
  constructor(ws: WebSocket, onReplySent: () => void) {
    this.#ws = ws
    this.#onReplySent = onReplySent
    ws.once('close', () => this.#drop())
  }

  get unsentFrameBytes(): number {
    return this.#unsentFrameBytes
  }
  /** The number of replies that the client has not read yet. */
  get queuedReplies(): number {
    return this.#queuedReplies
  }

  /** Returns whether the client has read a part of the queue since the last call. */
  hasProgressed(): boolean {
    const progressed = this.#progressed
    this.#progressed = false
    return progressed
  }

  /** Sends a reply. `onSent` is called when the reply is written to the network or the socket is closed. */
  sendReply(encode: () => Buffer, onSent: () => void): void {
    this.#queuedReplies++
    this.#queue.push({ kind: 'reply', content: encode, onSent, sent: 0 })
    this.#pump()
  }

  /** Sends a frame. `onSent` is called when the frame is written to the network or the socket is closed. */
  sendFrame(bytes: Buffer, onSent?: () => void): void {
    this.#unsentFrameBytes += bytes.length
    this.#queue.push({ kind: 'frame', content: bytes, onSent, sent: 0 })
    this.#pump()
  }

  /** Closes the socket after all queued messages are sent. */
  end(): void {
    this.#ending = true
    this.#pump()
  }

  #pump(): void {
    for (let next = this.#queue[0]; next && this.#inFlightBytes < limits.fragmentMaxBytes; next = this.#queue[0]) {
      const message = next
      if (typeof message.content === 'function') message.content = message.content()
      const part = message.content.subarray(message.sent, message.sent + limits.fragmentMaxBytes)
      message.sent += part.length
      const fin = message.sent === message.content.length
      if (fin) this.#queue.shift()
      this.#inFlightBytes += part.length
      this.#ws.send(part, { binary: false, fin }, error => this.#onWritten(message, part.length, fin, error))
    }
    if (this.#ending && this.#queue.length === 0) this.#ws.close(1001, 'closing')
  }

  #onWritten(message: Message, bytes: number, fin: boolean, error: Error | null | undefined): void {
    this.#inFlightBytes -= bytes
    if (message.kind === 'frame') this.#unsentFrameBytes -= bytes
    if (fin) this.#finish(message)
    if (error) return
    // A write with an empty queue does not prove that the client is reading: the kernel accepts a few bytes even if the client is dead.
    if (this.#queue.length > 0) this.#progressed = true
    this.#pump()
  }

  #finish({ kind, onSent }: Message): void {
    onSent?.()
    if (kind !== 'reply') return
    this.#queuedReplies--
    this.#onReplySent()
  }

  /** Discards the queue of a closed socket. */
  #drop(): void {
    for (const message of this.#queue.splice(0)) this.#finish(message)
  }
}
