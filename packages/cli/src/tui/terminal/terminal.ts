/** Where the live views are played: Ink lays a view out, the painter puts it on the terminal, the keyboard speaks to whoever listens. */
import { EventEmitter } from 'node:events'
import { render } from 'ink'
import type { ReactNode } from 'react'
import { editText } from './editor.ts'
import type { Key } from './key-parser.ts'
import { Keyboard } from './keyboard.ts'
import { FullPainter, InlinePainter, type Painter } from './painter.ts'

/** What Ink takes for a terminal: it hands every frame to the painter, whole. */
class Easel extends EventEmitter {
  readonly isTTY = false
  columns = process.stdout.columns || 80
  rows = process.stdout.rows || 24
  readonly #show: (lines: readonly string[]) => void

  constructor(show: (lines: readonly string[]) => void) {
    super()
    this.#show = show
  }
  write(text: string): boolean {
    this.#show(text === '' || text === '\n' ? [] : text.replace(/\n$/, '').split('\n'))
    return true
  }
}

export interface TerminalListeners {
  readonly onKey: (key: Key) => void
  /** The frame is on the terminal, all of it. */
  readonly onPaint: () => void
  readonly onResize: () => void
  /** Another program had the terminal: whoever looks at it now begins to read. */
  readonly onReturn: () => void
  /** A signal asks us to go. */
  readonly onStop: () => void
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** So long after we were told to stop, we have stopped; then this passes when we go on. */
const stopMs = 50

export class Terminal {
  readonly #painter: Painter
  readonly #easel: Easel
  readonly #keyboard = new Keyboard(process.stdin, text => process.stdout.write(text))
  #audience: TerminalListeners | null = null
  #ink: ReturnType<typeof render> | null = null
  /** While another program has the terminal, everything waits: the last frame, and what is to stay. */
  #away = false
  #lines: readonly string[] = []
  #held: (() => void)[] = []

  constructor(kind: 'inline' | 'full') {
    this.#painter = kind === 'full' ? new FullPainter(process.stdout) : new InlinePainter(process.stdout)
    this.#easel = new Easel(lines => {
      this.#lines = lines
      this.#paint()
    })
  }

  open(view: ReactNode, audience: TerminalListeners): void {
    this.#audience = audience
    this.#painter.resume()
    this.#keyboard.open(this.#hear)
    process.stdout.on('resize', this.#resize)
    process.on('SIGCONT', this.#wake)
    process.once('exit', this.#leave)
    this.#ink = render(view, {
      // It has the members that Ink uses in this mode, in which it writes whole frames and leaves the terminal to us.
      stdout: this.#easel as unknown as NodeJS.WriteStream,
      debug: true,
      patchConsole: false,
      exitOnCtrlC: false,
    })
    // Behind Ink's own, which ends the process where it finds nobody else that listens.
    for (const signal of signals) process.on(signal, this.#signal)
  }

  above(write: () => void): void {
    if (this.#away) this.#held.push(write)
    else this.#painter.above(write)
  }

  /** The person's editor gets the terminal; null where it could not be used. */
  async edit(text: string): Promise<string | null> {
    this.#giveAway()
    try {
      return await editText(text)
    } finally {
      this.#takeBack()
    }
  }

  /** What is on the screen goes, what was printed stays. */
  close(): void {
    this.#ink?.unmount()
    this.#painter.draw([])
    process.stdout.off('resize', this.#resize)
    process.off('SIGCONT', this.#wake)
    for (const signal of signals) process.off(signal, this.#signal)
    process.off('exit', this.#leave)
    this.#leave()
  }

  #paint(): void {
    if (this.#away) return
    this.#painter.draw(this.#lines)
    this.#audience?.onPaint()
  }

  /** Keys that mean the same in every view; the others are the view's. */
  readonly #hear = (key: Key): void => {
    if (key.name === 'ctrl-l') this.#painter.repaint()
    else if (key.name === 'ctrl-z') this.#stop()
    else this.#audience?.onKey(key)
  }
  /** As Ctrl+Z does elsewhere: the shell has the terminal until it lets all of the job go on. */
  #stop(): void {
    this.#giveAway()
    process.kill(0, 'SIGTSTP')
    setTimeout(() => this.#takeBack(), stopMs)
  }
  /** Stopped by someone else, without notice: what is on the terminal is not ours any more. */
  readonly #wake = (): void => {
    if (this.#away) return
    this.#giveAway()
    this.#takeBack()
  }

  /** Ctrl+C reaches everybody at the terminal; in an editor it is for the editor. */
  readonly #signal = (signal: NodeJS.Signals): void => {
    if (!(signal === 'SIGINT' && this.#away)) this.#audience?.onStop()
  }

  #giveAway(): void {
    this.#away = true
    this.#keyboard.close()
    this.#painter.suspend()
  }
  #takeBack(): void {
    if (!this.#away || !this.#ink) return
    this.#audience?.onReturn()
    // By then the view says what is so now: the frame of before is not shown again.
    setImmediate(() => this.#resume())
  }
  #resume(): void {
    if (!this.#away || !this.#ink) return
    this.#away = false
    this.#painter.resume()
    for (const write of this.#held.splice(0)) this.#painter.above(write)
    this.#paint()
    this.#keyboard.open(this.#hear)
  }
  readonly #leave = (): void => {
    this.#ink = null
    this.#keyboard.close()
    this.#painter.suspend()
  }
  readonly #resize = (): void => {
    this.#easel.columns = process.stdout.columns || 80
    this.#easel.rows = process.stdout.rows || 24
    if (!this.#away) this.#painter.resized()
    this.#audience?.onResize()
  }
}
