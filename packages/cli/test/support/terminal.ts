/** Runs a program in a pseudo-terminal, renders its output with a terminal emulator, and types keys. */
import { readSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { typingPauseMs } from '@holdpoint/client'
// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS module, whose exports the linter cannot see
import { type IPty, spawn } from '@lydell/node-pty'
// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS module, whose exports the linter cannot see
import xterm from '@xterm/headless'
import { afterEach, beforeEach } from 'vitest'
import { cleanEnvironment, holdpoint } from '../../../../test/support/gateway.ts'

export interface TerminalOptions {
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Whether the program runs under a shell with job control. The shell reports that the program was suspended, and resumes the program on Enter. */
  readonly asJob?: boolean
  /** The program, if it is not Holdpoint. Questions that it asks the terminal, for example where the cursor is, are answered. */
  readonly program?: string
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

const waitMaxMs = 60_000

/**
 * Passes on the output that is still unread when the socket of the pseudo-terminal closes. Once the program has exited, libuv reads at most
 * 4095 bytes and then reports the end, and node-pty closes the socket after 200 ms. On a busy machine, more than that is unread.
 */
function readRemainingOutput(pty: IPty, onData: (data: Buffer) => void): void {
  const { _socket: socket, fd } = pty as unknown as { readonly _socket: Socket; readonly fd: number } // private fields of node-pty
  const destroy = socket.destroy.bind(socket)
  socket.destroy = error => {
    if (!socket.destroyed) for (const data of unreadData(fd)) onData(data)
    return destroy(error)
  }
}
function* unreadData(fd: number): Iterable<Buffer> {
  const buffer = Buffer.alloc(65_536)
  for (;;) {
    let count: number
    try {
      count = readSync(fd, buffer)
    } catch {
      return // EIO: everything is read and no process has the terminal open. EAGAIN: everything is read and another process still has it open.
    }
    if (count === 0) return
    yield Buffer.from(buffer.subarray(0, count))
  }
}

export class Terminal {
  readonly #pty: IPty
  readonly #screen: xterm.Terminal
  readonly #waiters = new Set<() => void>()
  /** Everything that was written to the terminal, including escape sequences. */
  raw = ''
  readonly exit: Promise<number>
  #exited: number | null = null

  constructor(
    args: readonly string[],
    { columns = 80, rows = 24, env = {}, cwd, asJob, program }: TerminalOptions = {},
  ) {
    // Leave out the variables that switch colors on or off in CI, because a person's terminal usually does not set them.
    const { CI: _ci, NO_COLOR: _noColor, FORCE_COLOR: _forceColor, ...plain } = cleanEnvironment()
    this.#screen = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true })
    const job = [
      '-c',
      'set -m; "$@"; echo stopped with $?; read -r; fg > /dev/null',
      'bash',
      process.execPath,
      holdpoint,
    ]
    const own = asJob ? ['/bin/bash', ...job] : [process.execPath, holdpoint]
    const [file = '', ...words] = [...(program === undefined ? own : [program]), ...args]
    this.#pty = spawn(file, words, {
      name: 'xterm-256color',
      cols: columns,
      rows,
      cwd: cwd ?? process.cwd(),
      env: { ...plain, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env } as Record<string, string>, // spawn drops undefined values
      encoding: null,
    })
    const decoder = new StringDecoder('utf8')
    const onData = (data: Buffer) => {
      const text = decoder.write(data)
      this.raw += text
      this.#screen.write(text, () => this.#notify())
    }
    this.#pty.onData(data => onData(data as unknown as Buffer)) // without an encoding, node-pty passes buffers on
    readRemainingOutput(this.#pty, onData)
    if (program !== undefined) this.#screen.onData(reply => this.#pty.write(reply))
    this.exit = new Promise(resolve => {
      this.#pty.onExit(({ exitCode }) => {
        // The emulator may still be processing the last output, so wait for an empty write, which it processes after that output.
        this.#screen.write('', () => {
          this.#exited = exitCode
          this.#notify()
          resolve(exitCode)
        })
      })
    })
    openTerminals.add(this)
  }

  get pid(): number {
    return this.#pty.pid
  }
  press(...typed: readonly string[]): void {
    for (const key of typed) this.#pty.write(key)
  }
  /** Types one character at a time and waits until the caret has moved after each, so that every character is read alone. */
  async type(text: string): Promise<void> {
    for (const char of text) {
      const column = this.#caretColumn()
      this.#pty.write(char)
      await this.waitUntil(() => ![-1, column].includes(this.#caretColumn()), `the echo of ${char}`)
    }
  }
  /** Returns the column of the caret, or -1 while a line is drawn without it. Only typing changes the column; lines above the caret may change at any time. */
  #caretColumn(): number {
    return Math.max(...this.lines().map(line => line.indexOf('▏')))
  }
  /** Waits as long as a person who has finished typing. The program ignores keys that decide until then, and the screen may not show when this time is over. */
  async pause(): Promise<void> {
    await new Promise(resolve => setTimeout(resolve, typingPauseMs + 100))
  }
  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows)
    this.#pty.resize(columns, rows)
  }

  /** Returns the visible lines. */
  lines(): readonly string[] {
    const { active } = this.#screen.buffer
    return Array.from({ length: this.#screen.rows }, (_, row) => this.#line(active.baseY + row))
  }
  /** Returns the visible text and the text that has scrolled off the screen. */
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

  /** Waits until the screen shows the text, and resolves with the text of the whole screen. */
  async waitFor(text: string | RegExp): Promise<string> {
    await this.waitUntil(
      () => (typeof text === 'string' ? this.text().includes(text) : text.test(this.text())),
      String(text),
    )
    return this.text()
  }
  async waitForGone(text: string): Promise<void> {
    await this.waitUntil(() => !this.text().includes(text), `the end of ${text}`)
  }
  async waitUntil(condition: () => boolean, what = 'the expected output'): Promise<void> {
    const deadline = Date.now() + waitMaxMs
    while (!condition()) {
      if (Date.now() > deadline || this.#exited !== null)
        throw new Error(
          `${what} did not appear${this.#exited === null ? '' : ` (exit ${this.#exited})`}; the screen:\n${this.all()}`,
        )
      await new Promise<void>(resolve => {
        const timer = setTimeout(() => this.#notify(), deadline - Date.now() + 1)
        this.#waiters.add(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }
  #notify(): void {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const notify of waiters) notify()
  }

  close(): void {
    openTerminals.delete(this)
    try {
      this.#pty.kill('SIGKILL')
    } catch {
      // The program has already exited.
    }
    this.#screen.dispose()
  }
}

const openTerminals = new Set<Terminal>()
/** Closes every open terminal. Pass this function to `afterEach`. */
export function closeTerminals(): void {
  for (const terminal of [...openTerminals]) terminal.close()
}

/** Call in a `describe` whose tests share a terminal, which `open` opens. After a failed test the next test gets a new terminal, because the screen may show anything. */
export function reopenAfterFailure(open: () => void | Promise<void>): void {
  let isReusable = false
  beforeEach(async () => {
    if (isReusable) return
    closeTerminals()
    await open()
  })
  afterEach(({ task }) => {
    isReusable = task.result?.state !== 'fail'
  })
}

/** The path of a script that acts as the person's editor. */
export const scriptedEditor = join(import.meta.dirname, 'editor.mjs')
