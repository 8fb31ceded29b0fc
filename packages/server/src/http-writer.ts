/** Sends a reply to an HTTP client in parts, so that the server can tell whether the client still reads. */
import type { ServerResponse } from 'node:http'
import { limits } from '@holdpoint/protocol'
import type { ByteSink } from './http-message.ts'

interface Chunk {
  readonly bytes: Buffer
  readonly onSent: (() => void) | undefined
  /** The number of bytes that were already passed to Node. */
  passed: number
}

export class HttpWriter implements ByteSink {
  readonly #res: ServerResponse
  readonly #queue: Chunk[] = []
  #queuedBytes = 0
  #writtenBytes = 0
  #sentAtLastCheck = 0
  #ending = false

  constructor(res: ServerResponse) {
    this.#res = res
    res.on('drain', () => this.#pump())
  }

  write(bytes: Buffer, onSent?: () => void): void {
    this.#writtenBytes += bytes.length
    if (this.#queue.length === 0 && this.#res.writableLength + bytes.length <= limits.httpPartMaxBytes) {
      this.#res.write(bytes, onSent)
      return
    }
    this.#queue.push({ bytes, onSent, passed: 0 })
    this.#queuedBytes += bytes.length
    this.#pump()
  }

  end(last: Buffer): void {
    this.write(last)
    this.#ending = true
    this.#pump()
  }

  buffered(): number {
    return this.#queuedBytes + this.#res.writableLength
  }

  /** Returns whether bytes are unread and the client has read nothing since the last call. */
  isStalled(): boolean {
    const buffered = this.buffered()
    const sent = this.#writtenBytes - buffered
    const isStalled = buffered > 0 && sent <= this.#sentAtLastCheck
    this.#sentAtLastCheck = sent
    return isStalled
  }

  destroy(): void {
    this.#res.destroy()
  }

  #pump(): void {
    for (let next = this.#queue[0]; next && this.#res.writableLength < limits.httpPartMaxBytes; next = this.#queue[0]) {
      const part = next.bytes.subarray(next.passed, next.passed + limits.httpPartMaxBytes)
      next.passed += part.length
      this.#queuedBytes -= part.length
      const isLastPart = next.passed === next.bytes.length
      if (isLastPart) this.#queue.shift()
      this.#res.write(part, isLastPart ? next.onSent : undefined)
    }
    if (this.#ending && this.#queue.length === 0 && !this.#res.writableEnded) this.#res.end()
  }
}
