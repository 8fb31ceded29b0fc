/** Where the live views are played: Ink lays a view out, the painter puts it on the terminal, the keyboard speaks to whoever listens. */
import { EventEmitter } from 'node:events'
import { Box, render, Text } from 'ink'
import type { ReactNode } from 'react'
import type { Look } from '../text/span.ts'
import type { Piece } from '../text/width.ts'
import { editText } from './editor.ts'
import type { Key } from './key.ts'
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

export class Stage {
  readonly #painter: Painter
  readonly #easel: Easel
  readonly #keyboard = new Keyboard(process.stdin, text => process.stdout.write(text))
  readonly #resizeListeners = new Set<() => void>()
  #onKey: (key: Key) => void = () => {}
  #ink: ReturnType<typeof render> | null = null
  /** While another program has the terminal, everything waits: the last frame, and what is to stay. */
  #away = false
  #lines: readonly string[] = []
  #held: (() => void)[] = []

  constructor(kind: 'inline' | 'full') {
    this.#painter = kind === 'full' ? new FullPainter(process.stdout) : new InlinePainter(process.stdout)
    this.#easel = new Easel(lines => {
      if (!this.#away) this.#painter.draw(lines)
      this.#lines = lines
    })
  }

  open(view: ReactNode, onKey: (key: Key) => void): void {
    this.#onKey = onKey
    this.#painter.resume()
    this.#keyboard.open(onKey)
    process.stdout.on('resize', this.#resize)
    process.once('exit', this.#leave)
    this.#ink = render(view, {
      // It has the members that Ink uses in this mode, in which it writes whole frames and leaves the terminal to us.
      stdout: this.#easel as unknown as NodeJS.WriteStream,
      debug: true,
      patchConsole: false,
      exitOnCtrlC: false,
    })
  }

  readonly onResize = (listener: () => void): (() => void) => {
    this.#resizeListeners.add(listener)
    return () => this.#resizeListeners.delete(listener)
  }

  above(write: () => void): void {
    if (this.#away) this.#held.push(write)
    else this.#painter.above(write)
  }

  /** The person's editor gets the terminal; null where it could not be used. */
  async edit(text: string): Promise<string | null> {
    this.#keyboard.close()
    this.#away = true
    this.#painter.suspend()
    try {
      return await editText(text)
    } finally {
      this.#away = false
      this.#painter.resume()
      for (const write of this.#held.splice(0)) this.#painter.above(write)
      this.#painter.draw(this.#lines)
      this.#keyboard.open(this.#onKey)
    }
  }

  /** What is on the screen goes, what was printed stays. */
  close(): void {
    this.#ink?.unmount()
    this.#painter.draw([])
    process.stdout.off('resize', this.#resize)
    process.off('exit', this.#leave)
    this.#leave()
  }

  readonly #leave = (): void => {
    this.#keyboard.close()
    this.#painter.suspend()
  }
  readonly #resize = (): void => {
    this.#easel.columns = process.stdout.columns || 80
    this.#easel.rows = process.stdout.rows || 24
    if (!this.#away) this.#painter.resized()
    for (const listener of this.#resizeListeners) listener()
  }
}

const coloured = !process.env.NO_COLOR && process.env.TERM !== 'dumb'
const looks: Readonly<Record<Look, object>> = {
  strong: { bold: true },
  quiet: { dimColor: true },
  waiting: { color: 'yellow' },
  yes: { color: 'green' },
  no: { color: 'red' },
}

/** Lines that have their width already. */
export function Pieces({ pieces }: { readonly pieces: readonly Piece[] }) {
  return (
    <Box flexDirection="column" flexShrink={0}>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
        <Text key={index} wrap="truncate">
          {piece.length === 0
            ? ' '
            : piece.map((span, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a span is its place in the line
                <Text key={at} {...(span.look && coloured ? looks[span.look] : {})}>
                  {span.text}
                </Text>
              ))}
        </Text>
      ))}
    </Box>
  )
}
