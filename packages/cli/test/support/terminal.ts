/** A person at a real terminal: the program in a pseudo-terminal, its screen as an emulator shows it, keys as they are typed. */
import { join } from 'node:path'
// biome-ignore lint/correctness/noUnresolvedImports: CommonJS, whose names the linter cannot see
import { type IPty, spawn } from '@lydell/node-pty'
// biome-ignore lint/correctness/noUnresolvedImports: as above
import xterm from '@xterm/headless'
import { holdpoint, plainEnvironment } from '../../../../test/support/gateway.ts'

export interface TerminalOptions {
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Below a shell that knows of jobs: stopped, it says so, and lets the program go on. */
  readonly asJob?: boolean
}

export const keys = {
  enter: '\r',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  pageUp: '\u001b[5~',
  pageDown: '\u001b[6~',
  end: '\u001b[F',
  home: '\u001b[H',
  backspace: '\u007f',
  tab: '\t',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlL: '\u000c',
  ctrlZ: '\u001a',
} as const

const patienceMs = 25_000

export class Terminal {
  readonly #pty: IPty
  readonly #screen: xterm.Terminal
  readonly #waiting = new Set<() => void>()
  /** Everything that has reached the terminal, byte for byte. */
  raw = ''
  readonly exit: Promise<number>
  #exited: number | null = null

  constructor(words: readonly string[], { columns = 80, rows = 24, env = {}, cwd, asJob }: TerminalOptions = {}) {
    // Not as in CI: a person is at it, with colours.
    const { CI: _ci, NO_COLOR: _colours, FORCE_COLOR: _more, ...plain } = plainEnvironment()
    this.#screen = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true })
    const job = [
      '-c',
      'set -m; "$@"; echo stopped with $?; read -r; fg > /dev/null',
      'bash',
      process.execPath,
      holdpoint,
    ]
    this.#pty = spawn(asJob ? '/bin/bash' : process.execPath, [...(asJob ? job : [holdpoint]), ...words], {
      name: 'xterm-256color',
      cols: columns,
      rows,
      cwd: cwd ?? process.cwd(),
      env: { ...plain, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env } as Record<string, string>, // what is undefined is left out
    })
    this.#pty.onData(data => {
      this.raw += data
      this.#screen.write(data, () => this.#wake())
    })
    this.exit = new Promise(resolve => {
      this.#pty.onExit(({ exitCode }) => {
        this.#exited = exitCode
        // What was written last may still be on its way to the screen.
        this.#screen.write('', () => {
          this.#wake()
          resolve(exitCode)
        })
      })
    })
    open.add(this)
  }

  get pid(): number {
    return this.#pty.pid
  }
  press(...typed: readonly string[]): void {
    for (const key of typed) this.#pty.write(key)
  }
  /** Key by key, each seen before the next is typed: as a person does, however fast the machine is. */
  async type(text: string): Promise<void> {
    for (const char of text) {
      const before = this.raw.length
      this.#pty.write(char)
      await this.until(() => this.raw.length > before)
    }
  }
  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows)
    this.#pty.resize(columns, rows)
  }

  /** What is in sight, line by line. */
  lines(): readonly string[] {
    const { active } = this.#screen.buffer
    return Array.from({ length: this.#screen.rows }, (_, row) => this.#line(active.baseY + row))
  }
  /** That, and what has scrolled away. */
  all(): string {
    const { active } = this.#screen.buffer
    return Array.from({ length: active.length }, (_, row) => this.#line(row))
      .join('\n')
      .trimEnd()
  }
  text(): string {
    return this.lines().join('\n').trimEnd()
  }
  #line(row: number): string {
    return this.#screen.buffer.active.getLine(row)?.translateToString(true) ?? ''
  }
  get isAlternate(): boolean {
    return this.#screen.buffer.active.type === 'alternate'
  }

  /** Waits until the screen shows it. */
  async sees(wanted: string | RegExp): Promise<string> {
    await this.until(
      () => (typeof wanted === 'string' ? this.text().includes(wanted) : wanted.test(this.text())),
      String(wanted),
    )
    return this.text()
  }
  async seesNot(unwanted: string): Promise<void> {
    await this.until(() => !this.text().includes(unwanted), `no ${unwanted}`)
  }
  async until(fits: () => boolean, what = 'it'): Promise<void> {
    const late = Date.now() + patienceMs
    while (!fits()) {
      if (Date.now() > late || this.#exited !== null)
        throw new Error(
          `${what} did not come${this.#exited === null ? '' : ` (exit ${this.#exited})`}; the screen:\n${this.all()}`,
        )
      await new Promise<void>(resolve => {
        const timer = setTimeout(() => this.#wake(), late - Date.now() + 1)
        this.#waiting.add(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }
  #wake(): void {
    const woken = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of woken) wake()
  }

  close(): void {
    open.delete(this)
    try {
      this.#pty.kill('SIGKILL')
    } catch {
      // It has ended by itself.
    }
    this.#screen.dispose()
  }
}

const open = new Set<Terminal>()
/** For afterEach: no terminal outlives its test. */
export function closeTerminals(): void {
  for (const terminal of [...open]) terminal.close()
}

/** An editor that puts its words in place of the file's. */
export const scriptedEditor = join(import.meta.dirname, 'editor.mjs')
