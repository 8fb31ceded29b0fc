/** The terminal while a live view is open: draws the view's frames, animates its spinner, passes keys on, and lends the terminal to the shell or an editor. */
import { out } from '../../output/output.ts'
import { trusted } from '../../output/span.ts'
import type { StyledLine } from '../../output/width.ts'
import { editText } from './editor.ts'
import type { Key } from './key-parser.ts'
import { Keyboard } from './keyboard.ts'
import { FullPainter, InlinePainter, type Painter } from './painter.ts'

/** What a view wants on the screen. */
export interface Frame {
  readonly lines: readonly StyledLine[]
  /** Drawn at the end of the line with this index. */
  readonly spinner: { readonly line: number; readonly text: string } | null
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

const spinnerSigns = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const spinnerStepMs = 120

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** So long after we were told to stop, we have stopped; then this passes when we go on. */
const stopMs = 50

export class Terminal {
  readonly #painter: Painter
  readonly #keyboard = new Keyboard(process.stdin, text => process.stdout.write(text))
  #audience: TerminalListeners | null = null
  /** Null while the terminal is closed. */
  #view: (() => Frame) | null = null
  #frame: Frame = { lines: [], spinner: null }
  #isDrawScheduled = false
  #spinnerTimer: NodeJS.Timeout | null = null
  #spinnerStep = 0
  /** While another program has the terminal, everything waits: the last frame, and what is to stay. */
  #away = false
  #held: (() => void)[] = []

  constructor(kind: 'inline' | 'full') {
    this.#painter = kind === 'full' ? new FullPainter(process.stdout, out) : new InlinePainter(process.stdout, out)
  }

  open(view: () => Frame, audience: TerminalListeners): void {
    this.#audience = audience
    this.#view = view
    this.#painter.resume()
    this.#keyboard.open(this.#hear)
    process.stdout.on('resize', this.#resize)
    process.on('SIGCONT', this.#wake)
    process.once('exit', this.#leave)
    for (const signal of signals) process.on(signal, this.#signal)
    this.#draw()
  }

  /** Draws the view again, once for all changes of the current tick. */
  readonly redraw = (): void => {
    if (this.#isDrawScheduled) return
    this.#isDrawScheduled = true
    queueMicrotask(() => {
      this.#isDrawScheduled = false
      this.#draw()
    })
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
    if (!this.#view) return
    this.#view = null
    this.#painter.draw([])
    process.stdout.off('resize', this.#resize)
    process.off('SIGCONT', this.#wake)
    for (const signal of signals) process.off(signal, this.#signal)
    process.off('exit', this.#leave)
    this.#leave()
  }

  #draw(): void {
    if (!this.#view) return
    this.#frame = this.#view()
    this.#animate(this.#frame.spinner !== null)
    this.#paint()
  }
  #paint(): void {
    if (this.#away) return
    const { lines, spinner } = this.#frame
    const sign = spinnerSigns[this.#spinnerStep % spinnerSigns.length]
    this.#painter.draw(
      lines.map((line, index) =>
        index === spinner?.line ? [...line, trusted(`${sign} ${spinner.text}`, 'quiet')] : line,
      ),
    )
    this.#audience?.onPaint()
  }
  #animate(isSpinning: boolean): void {
    if (isSpinning === (this.#spinnerTimer !== null)) return
    if (this.#spinnerTimer) clearInterval(this.#spinnerTimer)
    const step = () => {
      this.#spinnerStep++
      this.#paint()
    }
    this.#spinnerTimer = isSpinning ? setInterval(step, spinnerStepMs) : null
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
    if (!this.#away || !this.#view) return
    this.#audience?.onReturn()
    // By then the view says what is so now: the frame of before is not shown again.
    setImmediate(() => this.#resume())
  }
  #resume(): void {
    if (!this.#away || !this.#view) return
    this.#away = false
    this.#painter.resume()
    for (const write of this.#held.splice(0)) this.#painter.above(write)
    this.#paint()
    this.#keyboard.open(this.#hear)
  }
  readonly #leave = (): void => {
    this.#view = null
    this.#animate(false)
    this.#keyboard.close()
    this.#painter.suspend()
  }
  readonly #resize = (): void => {
    if (!this.#away) this.#painter.resized()
    this.#audience?.onResize()
  }
}
