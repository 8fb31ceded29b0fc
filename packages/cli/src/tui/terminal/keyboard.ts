/** The person's keyboard: raw while somebody listens, and given back whenever the terminal is another program's. */
import type { ReadStream } from 'node:tty'
import { type Key, KeyParser } from './key-parser.ts'

const paste = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

/** Whoever waits so long begins anew. */
export const lateMs = 1000

/**
 * Nothing that was typed while we were stopped is for us. But the signal that says that we go on may be in the hands of another thread while
 * ours reads the keys: one that we send to ourselves comes behind it, unless that thread is held up just then.
 */
function behindSignals(act: () => void): void {
  if (process.platform === 'win32') return void setImmediate(act)
  process.once(marker, act)
  process.kill(process.pid, marker)
}
const marker = 'SIGURG'

export class Keyboard {
  readonly #input: ReadStream
  readonly #write: (text: string) => void
  #reader = new KeyParser()
  #listener: ((key: Key) => void) | null = null
  #timer: NodeJS.Timeout | undefined
  #pressedAt = 0
  /** What can be read was typed to the program that had the terminal before. */
  #isStale = false

  constructor(input: ReadStream, write: (text: string) => void) {
    this.#input = input
    this.#write = write
  }

  open(listener: (key: Key) => void): void {
    this.#listener = listener
    this.#reader = new KeyParser()
    this.#input.setRawMode(true)
    this.#input.setEncoding('utf8')
    this.#input.on('data', this.#hear)
    this.#input.resume()
    this.#write(paste.on)
    // By the second of these all that was there has been read, however long it took to get here.
    setImmediate(() =>
      setImmediate(() => {
        this.#isStale = false
      }),
    )
  }

  close(): void {
    if (!this.#listener) return
    this.#listener = null
    this.#isStale = true
    clearTimeout(this.#timer)
    this.#write(paste.off)
    this.#input.off('data', this.#hear)
    this.#input.setRawMode(false)
    this.#input.pause()
  }

  readonly #hear = (chunk: Buffer | string): void => {
    if (this.#isStale) return
    const reader = this.#reader
    behindSignals(() => {
      if (this.#listener && this.#reader === reader) this.#read(String(chunk))
    })
  }
  #read(chunk: string): void {
    clearTimeout(this.#timer)
    this.#tell(this.#reader.push(chunk))
    const { waitsMs } = this.#reader
    if (waitsMs === null) return
    this.#timer = setTimeout(() => this.#tell(this.#reader.flush()), waitsMs)
  }
  #tell(keys: readonly Key[]): void {
    const now = performance.now()
    for (const key of keys) {
      this.#listener?.(now - this.#pressedAt > lateMs ? { ...key, late: true } : key)
      this.#pressedAt = now
    }
  }
}
