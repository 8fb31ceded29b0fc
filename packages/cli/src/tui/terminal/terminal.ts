/** The terminal while a live view is open: draws the view's frames, animates the spinner, forwards keys, and lends the terminal to the shell or an editor. */
import { out } from '../../output/output.ts'
import { trusted } from '../../output/span.ts'
import type { StyledLine } from '../../output/width.ts'
import { Attention } from './attention.ts'
import { type EditorExtension, editText } from './editor.ts'
import { exitInBackground, isInForeground } from './foreground.ts'
import type { Key } from './key-parser.ts'
import { Keyboard } from './keyboard.ts'
import { FullPainter, InlinePainter, type Painter } from './painter.ts'

/** The screen content that a view returns. */
export interface ScreenFrame {
  readonly lines: readonly StyledLine[]
  /** The spinner is drawn at the end of the line with the index `line`. */
  readonly spinner: { readonly line: number; readonly text: string } | null
}

/** Returns a frame with a line for the spinner between the other lines. If `text` is null, that line is blank, so that nothing moves when the agent starts or stops. */
export function withSpinner(
  above: readonly StyledLine[],
  text: string | null,
  below: readonly StyledLine[] = [],
): ScreenFrame {
  return { lines: [...above, [], ...below], spinner: text === null ? null : { line: above.length, text } }
}

export interface TerminalListeners {
  readonly onKey: (key: Key) => void
  /** Called after a whole frame was written to the terminal. */
  readonly onPaint: () => void
  readonly onResize: () => void
  /** Called when the shell or an editor has returned the terminal, before the view is drawn again. */
  readonly onTerminalReturned: () => void
  readonly onExitSignal: () => void
}

const spinnerSigns = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const spinnerStepMs = 120

const exitSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** For this time after the view is closed, and after every SIGINT that follows, SIGINT is ignored. */
const interruptsIgnoredMs = 3000

/** SIGTSTP and SIGTTOU stop the process within this time, so a timer of this length fires only after the process was continued. */
const suspendMs = 50

/** The parts of a view's model that react to the terminal. */
interface ViewModel {
  handleKey(key: Key): void
  onPainted(): void
  readonly update: () => void
  onTerminalReturned(): void
}

/** Returns the listeners of a view. `leave` is called when a signal ends the program. */
export function listenersFor(model: ViewModel, leave: () => void): TerminalListeners {
  return {
    onKey: key => model.handleKey(key),
    onPaint: () => model.onPainted(),
    onResize: model.update,
    onTerminalReturned: () => model.onTerminalReturned(),
    onExitSignal: leave,
  }
}

/** Returns whether the program can read keys and draw on the screen. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && process.env.TERM !== 'dumb'
}

export class Terminal {
  readonly #painter: Painter
  readonly #keyboard = new Keyboard(process.stdin, text => process.stdout.write(text))
  readonly #attention = new Attention(text => process.stdout.write(text))
  #listeners: TerminalListeners | null = null
  /** Returns the current frame; null while the terminal is closed. */
  #view: (() => ScreenFrame) | null = null
  #frame: ScreenFrame = { lines: [], spinner: null }
  #isDrawScheduled = false
  #spinnerTimer: NodeJS.Timeout | null = null
  #spinnerStep = 0
  /** Whether the shell or an editor has the terminal. Nothing is drawn or printed meanwhile. */
  #isLent = false
  #deferredPrints: (() => void)[] = []

  constructor(kind: 'inline' | 'full') {
    this.#painter = kind === 'full' ? new FullPainter(process.stdout, out) : new InlinePainter(process.stdout, out)
  }

  open(view: () => ScreenFrame, listeners: TerminalListeners): void {
    this.#listeners = listeners
    this.#view = view
    process.stdout.on('resize', this.#onResize)
    process.on('SIGCONT', this.#onContinue)
    process.once('exit', this.#restore)
    process.on('exit', exitInBackground)
    for (const signal of exitSignals) process.on(signal, this.#onSignal)
    this.#isLent = !isInForeground()
    if (this.#isLent) this.#stopJob('SIGTTOU')
    else {
      this.#painter.resume()
      this.#keyboard.open(this.#onKey)
    }
    this.#draw()
  }

  /** Schedules one redraw of the view for all changes of the current tick. */
  readonly redraw = (): void => {
    if (this.#isDrawScheduled) return
    this.#isDrawScheduled = true
    queueMicrotask(() => {
      this.#isDrawScheduled = false
      this.#draw()
    })
  }

  /** Tells the person which requests are pending, by the bell and the title of the window. */
  readonly setPending = (ids: readonly string[]): void => {
    if (this.#view && !this.#isLent) this.#attention.update(ids)
  }

  /** Prints output that stays on the terminal, above the frame. */
  printAbove(print: () => void): void {
    if (this.#isLent) this.#deferredPrints.push(print)
    else this.#painter.printAbove(print)
  }

  /** Opens the text in the person's editor. Resolves with the edited text, or with null if the editor failed. */
  async edit(text: string, extension: EditorExtension): Promise<string | null> {
    this.#lend()
    try {
      return await editText(text, extension)
    } finally {
      this.#reclaim()
    }
  }

  /** Removes the frame and restores the terminal; printed output stays. */
  close(): void {
    if (!this.#view) return
    if (!this.#isLent) this.#painter.draw([])
    process.stdout.off('resize', this.#onResize)
    process.off('SIGCONT', this.#onContinue)
    ignoreInterrupts()
    for (const signal of exitSignals) process.off(signal, this.#onSignal)
    process.off('exit', this.#restore)
    this.#restore()
  }

  #draw(): void {
    if (!this.#view) return
    this.#frame = this.#view()
    this.#animate(this.#frame.spinner !== null)
    this.#paint()
  }
  #paint(): void {
    if (this.#isLent) return
    const { lines, spinner } = this.#frame
    const sign = spinnerSigns[this.#spinnerStep % spinnerSigns.length]
    this.#painter.draw(
      lines.map((line, index) =>
        index === spinner?.line ? [...line, trusted(`${sign} ${spinner.text}`, 'quiet')] : line,
      ),
    )
    this.#listeners?.onPaint()
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

  /** Handles Ctrl+L and Ctrl+Z, which mean the same in every view, and forwards all other keys. */
  readonly #onKey = (key: Key): void => {
    if (key.name === 'ctrl-l') this.#painter.repaint()
    else if (key.name === 'ctrl-z') this.#suspend()
    else this.#listeners?.onKey(key)
  }
  /** Stops the whole job, as Ctrl+Z does outside raw mode, until the shell continues it. */
  #suspend(): void {
    this.#lend()
    this.#stopJob('SIGTSTP')
  }
  #stopJob(signal: 'SIGTSTP' | 'SIGTTOU'): void {
    process.kill(0, signal)
    setTimeout(() => this.#reclaim(), suspendMs)
  }
  /** Redraws the screen after a stop that `#suspend` did not cause, such as a SIGSTOP from another process, because the screen may have changed meanwhile. */
  readonly #onContinue = (): void => {
    if (this.#isLent) return
    this.#lend()
    this.#reclaim()
  }

  /** Leaves the view. A Ctrl+C in the editor sends SIGINT to this process too, so SIGINT is ignored while the terminal is lent. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    if (!(signal === 'SIGINT' && this.#isLent)) this.#listeners?.onExitSignal()
  }

  #lend(): void {
    this.#isLent = true
    this.#keyboard.close()
    this.#painter.suspend()
  }
  #reclaim(): void {
    if (!this.#isLent || !this.#view) return
    this.#listeners?.onTerminalReturned()
    // Wait for the redraw that the listener has scheduled, so that the old frame is not shown again.
    setImmediate(() => this.#resume())
  }
  #resume(): void {
    if (!this.#isLent || !this.#view) return
    // `bg` continues the program without giving it the terminal.
    if (!isInForeground()) {
      this.#stopJob('SIGTTOU')
      return
    }
    this.#isLent = false
    this.#painter.resume()
    for (const print of this.#deferredPrints.splice(0)) this.#painter.printAbove(print)
    this.#paint()
    this.#keyboard.open(this.#onKey)
  }
  readonly #restore = (): void => {
    this.#view = null
    this.#attention.close()
    this.#animate(false)
    // The shell has the terminal already if the program was suspended.
    if (this.#isLent) return
    this.#keyboard.close()
    this.#painter.suspend()
  }
  readonly #onResize = (): void => {
    if (!this.#isLent) this.#painter.resized()
    this.#listeners?.onResize()
  }
}

/** Outside raw mode, Ctrl+C sends SIGINT. A person who presses it several times to leave must not kill the program before it has said what happens to the session and has stopped its gateway, however long that takes. A Ctrl+C after a pause ends the program. */
export function ignoreInterrupts(): void {
  const timer = setTimeout(() => process.off('SIGINT', ignore), interruptsIgnoredMs).unref()
  const ignore = () => void timer.refresh()
  process.on('SIGINT', ignore)
}
