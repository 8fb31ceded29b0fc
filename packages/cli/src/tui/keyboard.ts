/** The person's keyboard: raw while somebody listens, and given back whenever the terminal is another program's. */
import type { ReadStream } from 'node:tty'
import { type Key, KeyReader } from './key.ts'

const paste = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

export class Keyboard {
  readonly #input: ReadStream
  readonly #write: (text: string) => void
  #reader = new KeyReader()
  #listener: ((key: Key) => void) | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(input: ReadStream, write: (text: string) => void) {
    this.#input = input
    this.#write = write
  }

  open(listener: (key: Key) => void): void {
    this.#listener = listener
    this.#reader = new KeyReader()
    this.#input.setRawMode(true)
    this.#input.setEncoding('utf8')
    this.#input.on('data', this.#hear)
    this.#input.resume()
    this.#write(paste.on)
  }

  close(): void {
    if (!this.#listener) return
    this.#listener = null
    clearTimeout(this.#timer)
    this.#write(paste.off)
    this.#input.off('data', this.#hear)
    this.#input.setRawMode(false)
    this.#input.pause()
  }

  readonly #hear = (chunk: Buffer | string): void => {
    clearTimeout(this.#timer)
    for (const key of this.#reader.push(String(chunk))) this.#listener?.(key)
    const { waitsMs } = this.#reader
    if (waitsMs === null) return
    this.#timer = setTimeout(() => {
      for (const key of this.#reader.flush()) this.#listener?.(key)
    }, waitsMs)
  }
}
