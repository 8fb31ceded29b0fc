/** Draws frames on the terminal and writes only the lines that differ from the last frame. A frame is below the printed output, or over the whole screen. */
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import type { Output } from '../../output/output.ts'
import { cutSpans, type StyledLine, widthOf } from '../../output/width.ts'

const csi = '\u001b['
/** Terminals that know it show a frame at once; the others ignore it. */
const frame = { begin: `${csi}?2026h`, end: `${csi}?2026l` }
const cursor = { hide: `${csi}?25l`, show: `${csi}?25h` }
const alternate = { enter: `${csi}?1049h${csi}2J${csi}H`, leave: `${csi}?1049l` }

export interface Painter {
  draw(lines: readonly StyledLine[]): void
  /** Lets something be written that stays, above the frame that is to follow. */
  above(write: () => void): void
  /** The terminal has another size: what is on it goes, and a frame of that size is to follow. */
  resized(): void
  /** Writes all of the frame again, on a screen with nothing else on it. */
  repaint(): void
  /** Gives the terminal to another program, and takes it back: a frame is to follow. */
  suspend(): void
  resume(): void
}

/** No line is wider than the screen: one that wraps would push the rest of the frame down. */
function encode(lines: readonly StyledLine[], { columns }: WriteStream, style: Output): readonly string[] {
  return lines.map(line => style.styled(cutSpans(line, columns || 80)).trimEnd())
}

/** A frame right below what was printed. The cursor rests at the end of its last line. */
export class InlinePainter implements Painter {
  readonly #out: WriteStream
  readonly #style: Output
  #drawn: readonly string[] = []
  #wanted: readonly string[] = []

  constructor(out: WriteStream, style: Output) {
    this.#out = out
    this.#style = style
  }

  draw(lines: readonly StyledLine[]): void {
    this.#show(encode(lines, this.#out, this.#style))
  }
  #show(lines: readonly string[]): void {
    this.#wanted = lines
    const drawn = this.#drawn
    if (lines.length === drawn.length && lines.every((line, index) => line === drawn[index])) return
    let text = this.#toTop(drawn.length)
    for (const [index, line] of lines.entries()) {
      if (index > 0) text += '\r\n'
      // Erased before it is written: behind a line that fills the screen, the cursor stands on its last character.
      if (line !== drawn[index]) text += `\r${csi}2K${line}`
    }
    // Below the last line there may be more of the old frame.
    if (drawn.length > lines.length) text += lines.length === 0 ? `\r${csi}J` : `\r\n${csi}J${csi}A`
    this.#write(text)
    this.#drawn = lines
  }

  above(write: () => void): void {
    this.#erase(this.#drawn.length)
    write()
  }

  /** A narrower terminal has broken the old lines into more. */
  resized(): void {
    const columns = this.#out.columns || 80
    const rows = this.#drawn.map(line => Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns)))
    this.#erase(rows.reduce((sum, count) => sum + count, 0))
  }

  suspend(): void {
    this.#erase(this.#drawn.length)
    this.#drawn = []
    this.#out.write(cursor.show)
  }
  resume(): void {
    this.#out.write(cursor.hide)
  }

  repaint(): void {
    this.#write(`${csi}H${csi}2J`)
    this.#drawn = []
    this.#show(this.#wanted)
  }
  #erase(rows: number): void {
    if (rows > 0) this.#write(`${this.#toTop(rows)}\r${csi}J`)
    this.#drawn = []
  }
  #toTop(rows: number): string {
    return rows > 1 ? `${csi}${rows - 1}A` : ''
  }
  #write(text: string): void {
    this.#out.write(`${frame.begin}${text}${frame.end}`)
  }
}

/** A frame over the whole screen, on a page of its own that leaves the person's scrollback alone. */
export class FullPainter implements Painter {
  readonly #out: WriteStream
  readonly #style: Output
  #drawn: readonly string[] = []
  #wanted: readonly string[] = []

  constructor(out: WriteStream, style: Output) {
    this.#out = out
    this.#style = style
  }

  draw(lines: readonly StyledLine[]): void {
    this.#show(encode(lines, this.#out, this.#style))
  }
  #show(lines: readonly string[]): void {
    this.#wanted = lines
    const count = Math.max(lines.length, this.#drawn.length)
    let text = ''
    for (let index = 0; index < count; index++) {
      const line = lines[index] ?? ''
      if (line !== (this.#drawn[index] ?? '')) text += `${csi}${index + 1};1H${csi}2K${line}`
    }
    if (text !== '') this.#out.write(`${frame.begin}${text}${frame.end}`)
    this.#drawn = lines
  }
  above(write: () => void): void {
    write()
  }
  resized(): void {
    this.#out.write(`${csi}2J`)
    this.#drawn = []
  }
  repaint(): void {
    this.resized()
    this.#show(this.#wanted)
  }
  suspend(): void {
    this.#out.write(`${alternate.leave}${cursor.show}`)
  }
  resume(): void {
    this.#out.write(`${alternate.enter}${cursor.hide}`)
    this.#drawn = []
  }
}
