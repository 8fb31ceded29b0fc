/** A program in a pseudo-terminal whose screen can be read as text and as HTML. */
// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS module, whose exports the linter cannot see
import { spawn } from '@lydell/node-pty'
// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS module, whose exports the linter cannot see
import xterm from '@xterm/headless'

const waitMaxMs = 30_000
const pollMs = 50
/** What is drawn for characters with a meaning in HTML, and for those that the font lacks. */
const drawn = { '&': '&amp;', '<': '&lt;', '⎿': '└', '⏸': '‖' }
/** The colors of a dark terminal. Its bright colors look the same. */
const palette = ['#1d1f21', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0']
/** The brightness of each of the six levels of red, green and blue among the 256 colors. */
const levels = [0, 95, 135, 175, 215, 255]

/** Returns the CSS color for one of the 256 colors: 16 named ones, a cube of 216, and 24 shades of gray. */
function indexedColor(index) {
  if (index < 16) return palette[index % palette.length]
  if (index > 231) return `rgb(${Array(3).fill(8 + 10 * (index - 232))})`
  const place = index - 16
  return `rgb(${[Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map(level => levels[level])})`
}
/** Returns the CSS color of a cell, or null if the cell has the color of the screen. */
function cssColor(isIndexed, isRgb, color) {
  if (isIndexed) return indexedColor(color)
  return isRgb ? `#${color.toString(16).padStart(6, '0')}` : null
}

export class TerminalScreen {
  #pty
  #screen
  #isOver = false

  /** @param {{ words: readonly string[], columns: number, rows: number, env: Record<string, string>, cwd: string }} options */
  constructor({ words, columns, rows, env, cwd }) {
    this.#screen = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true })
    const [file = '', ...args] = words
    this.#pty = spawn(file, args, { name: 'xterm-256color', cols: columns, rows, cwd, env })
    this.#pty.onData(data => this.#screen.write(data))
    // Programs ask the terminal, for example, where its cursor is.
    this.#screen.onData(reply => this.#isOver || this.#pty.write(reply))
    this.#pty.onExit(() => this.#screen.write('', () => (this.#isOver = true)))
  }

  press(...typed) {
    for (const key of typed) this.#pty.write(key)
  }
  /** Waits until the screen has the text. */
  async waitFor(text) {
    await this.#until(() => (typeof text === 'string' ? this.text().includes(text) : text.test(this.text())), text)
  }
  /** Waits until the program has ended. */
  async ended() {
    await this.#until(() => this.#isOver, 'the end of the program')
  }
  async #until(isDone, what) {
    for (let waitedMs = 0; !isDone(); waitedMs += pollMs) {
      if (waitedMs > waitMaxMs) throw new Error(`${what} did not appear. The screen:\n${this.text()}`)
      await new Promise(done => setTimeout(done, pollMs))
    }
  }

  /** Returns the lines of the screen and of what has scrolled off it. */
  #lines() {
    const { active } = this.#screen.buffer
    const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row))
    while (lines.length > 1 && lines.at(-1).translateToString(true) === '') lines.pop()
    return lines
  }
  text() {
    return this.#lines()
      .map(line => line.translateToString(true))
      .join('\n')
  }
  /** Returns the screen as HTML in which every character has the width of its cells. */
  html() {
    return this.#lines()
      .map(line => `${this.#lineHtml(line)}\n`)
      .join('')
  }
  #lineHtml(line) {
    let html = ''
    for (let column = 0; column < this.#screen.cols; column++) {
      const cell = line.getCell(column)
      const width = cell.getWidth()
      if (width === 0) continue
      const color = cssColor(cell.isFgPalette(), cell.isFgRGB(), cell.getFgColor())
      const background = cssColor(cell.isBgPalette(), cell.isBgRGB(), cell.getBgColor())
      const styles = [
        ...(width > 1 ? [`width:${width}ch`] : []),
        ...(color === null ? [] : [`color:${color}`]),
        ...(background === null ? [] : [`background:${background}`]),
        ...(cell.isBold() ? ['font-weight:700'] : []),
        ...(cell.isDim() ? ['opacity:.6'] : []),
        ...(cell.isItalic() ? ['font-style:italic'] : []),
        ...(cell.isInverse() ? ['filter:invert(1)', `background:${palette[0]}`] : []),
      ]
      const text = (cell.getChars() || ' ').replace(/[&<⎿⏸]/g, char => drawn[char] ?? char)
      html += `<i style="${styles.join(';')}">${text}</i>`
    }
    return html
  }

  close() {
    if (!this.#isOver) this.#pty.kill('SIGKILL')
    this.#screen.dispose()
  }
}

/** Returns a page that shows the HTML of a screen. `frameRows` marks the lines of a screen without scrolling. */
export function pageOf(html, { columns, rows }) {
  return `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; display: inline-block; background: ${palette[0]}; color: ${palette[7]}; padding: 12px }
pre { margin: 0; font: 14px/18px "DejaVu Sans Mono", monospace; width: ${columns}ch; min-height: ${rows * 18}px; outline: 1px solid #444 }
i { display: inline-block; width: 1ch; height: 18px; font-style: normal; white-space: pre; overflow: visible; vertical-align: top }
</style><pre>${html}</pre>`
}
