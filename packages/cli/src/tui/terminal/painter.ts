/** Draws frames on the terminal, below the printed output or over the whole screen, and writes only the lines that differ from the last frame. */
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import type { Output } from '../../output/output.ts'
import { cutSpans, type StyledLine, widthOf } from '../../output/width.ts'

const csi = '\u001b['
/** Terminals that support synchronized updates show a whole frame at once; other terminals ignore these sequences. */
const synchronizedUpdate = { begin: `${csi}?2026h`, end: `${csi}?2026l` }
const cursor = { hide: `${csi}?25l`, show: `${csi}?25h` }
const alternateScreen = { enter: `${csi}?1049h${csi}2J${csi}H`, leave: `${csi}?1049l` }

export interface Painter {
  draw(lines: readonly StyledLine[]): void
  /** Erases the frame and prints output that stays on the terminal. The caller must then draw a new frame. */
  printAbove(print: () => void): void
  /** Erases the frame after a change of the terminal's size. The caller must then draw a new frame. */
  resized(): void
  /** Clears the screen and draws the whole frame again. */
  repaint(): void
  /** Prepares the terminal for another program. After `resume`, the caller must draw a new frame. */
  suspend(): void
  resume(): void
}

/** Keeps the last frame, so that it can be drawn again. */
abstract class FramePainter implements Painter {
  protected readonly out: WriteStream
  readonly #style: Output
  protected drawn: readonly string[] = []
  #current: readonly string[] = []

  constructor(out: WriteStream, style: Output) {
    this.out = out
    this.#style = style
  }

  /** Cuts every line to the width of the screen, because a line that wraps would push the rest of the frame down. */
  draw(lines: readonly StyledLine[]): void {
    const columns = this.out.columns || 80
    this.#current = lines.map(line => this.#style.styled(cutSpans(line, columns)).trimEnd())
    this.show(this.#current)
  }
  repaint(): void {
    this.clear()
    this.drawn = []
    this.show(this.#current)
  }
  protected write(text: string): void {
    this.out.write(`${synchronizedUpdate.begin}${text}${synchronizedUpdate.end}`)
  }
  /** Writes the lines that differ from `drawn`. */
  protected abstract show(lines: readonly string[]): void
  protected abstract clear(): void
  abstract printAbove(print: () => void): void
  abstract resized(): void
  abstract suspend(): void
  abstract resume(): void
}

/** Draws the frame right below the printed output. The cursor stays at the end of the frame's last line. */
export class InlinePainter extends FramePainter {
  protected show(lines: readonly string[]): void {
    const drawn = this.drawn
    if (lines.length === drawn.length && lines.every((line, index) => line === drawn[index])) return
    let text = this.#toTop(drawn.length)
    for (const [index, line] of lines.entries()) {
      if (index > 0) text += '\r\n'
      // Erase before writing: after a line as wide as the screen, the cursor is on the last character, and erasing the rest of the line would remove that character.
      if (line !== drawn[index]) text += `\r${csi}2K${line}`
    }
    // Erase the lines that only the old frame had.
    if (drawn.length > lines.length) text += lines.length === 0 ? `\r${csi}J` : `\r\n${csi}J${csi}A`
    this.write(text)
    this.drawn = lines
  }

  printAbove(print: () => void): void {
    this.#erase(this.drawn.length)
    print()
  }

  /** Erases the frame. If the terminal has become narrower, it has wrapped the lines of the frame, so they take up more rows than before. */
  resized(): void {
    const columns = this.out.columns || 80
    const rows = this.drawn.map(line => Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns)))
    this.#erase(rows.reduce((sum, count) => sum + count, 0))
  }

  suspend(): void {
    this.#erase(this.drawn.length)
    this.drawn = []
    this.out.write(cursor.show)
  }
  resume(): void {
    this.out.write(cursor.hide)
  }

  protected clear(): void {
    this.write(`${csi}H${csi}2J`)
  }
  #erase(rows: number): void {
    if (rows > 0) this.write(`${this.#toTop(rows)}\r${csi}J`)
    this.drawn = []
  }
  #toTop(rows: number): string {
    return rows > 1 ? `${csi}${rows - 1}A` : ''
  }
}

/** Draws the frame on the alternate screen, which leaves the person's scrollback untouched. */
export class FullPainter extends FramePainter {
  protected show(lines: readonly string[]): void {
    const count = Math.max(lines.length, this.drawn.length)
    let text = ''
    for (let index = 0; index < count; index++) {
      const line = lines[index] ?? ''
      if (line !== (this.drawn[index] ?? '')) text += `${csi}${index + 1};1H${csi}2K${line}`
    }
    if (text !== '') this.write(text)
    this.drawn = lines
  }
  printAbove(print: () => void): void {
    print()
  }
  protected clear(): void {
    this.out.write(`${csi}2J`)
  }
  resized(): void {
    this.clear()
    this.drawn = []
  }
  suspend(): void {
    this.out.write(`${alternateScreen.leave}${cursor.show}`)
  }
  resume(): void {
    this.out.write(`${alternateScreen.enter}${cursor.hide}`)
    this.drawn = []
  }
}
