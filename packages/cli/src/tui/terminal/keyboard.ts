/** The keyboard of a live view: reads keys in raw mode while it is open, and leaves the terminal's input to other programs while it is closed. */
import type { ReadStream } from 'node:tty'
import { type Key, KeyParser } from './key-parser.ts'

const paste = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

/** A digit that is typed after a longer pause than this starts a new item number. */
export const pauseMs = 1000

/**
 * Input typed while the process was suspended (Ctrl+Z) must be ignored, but SIGCONT may be delivered after that input is read.
 * So the process sends SIGURG to itself and handles the input only when SIGURG arrives, because a pending SIGCONT is delivered before SIGURG.
 */
function afterPendingSignals(handle: () => void): void {
  if (process.platform === 'win32') return void setImmediate(handle)
  process.once(probeSignal, handle)
  process.kill(process.pid, probeSignal)
}
const probeSignal = 'SIGURG'

export class Keyboard {
  readonly #input: ReadStream
  readonly #write: (text: string) => void
  #parser = new KeyParser()
  #listener: ((key: Key) => void) | null = null
  #timer: NodeJS.Timeout | undefined
  #pressedAt = 0
  /** Whether arriving input is ignored, because it may have been typed while another program had the terminal. */
  #isStale = false

  constructor(input: ReadStream, write: (text: string) => void) {
    this.#input = input
    this.#write = write
  }

  open(listener: (key: Key) => void): void {
    this.#listener = listener
    this.#parser = new KeyParser()
    this.#input.setRawMode(true)
    this.#input.setEncoding('utf8')
    this.#input.on('data', this.#onData)
    this.#input.resume()
    this.#write(paste.on)
    // By the second iteration of the event loop, all input that was typed before `open` has been read.
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
    this.#input.off('data', this.#onData)
    this.#input.setRawMode(false)
    this.#input.pause()
  }

  readonly #onData = (chunk: Buffer | string): void => {
    if (this.#isStale) return
    const parser = this.#parser
    afterPendingSignals(() => {
      if (this.#listener && this.#parser === parser) this.#read(String(chunk))
    })
  }
  #read(chunk: string): void {
    clearTimeout(this.#timer)
    this.#emit(this.#parser.push(chunk))
    const { flushAfterMs } = this.#parser
    if (flushAfterMs === null) return
    this.#timer = setTimeout(() => this.#emit(this.#parser.flush()), flushAfterMs)
  }
  #emit(keys: readonly Key[]): void {
    const now = performance.now()
    for (const key of keys) {
      this.#listener?.(now - this.#pressedAt > pauseMs ? { ...key, afterPause: true } : key)
      this.#pressedAt = now
    }
  }
}
