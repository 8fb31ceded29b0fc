/** Lines as Ink puts them out, without a terminal. */
import { EventEmitter } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { render } from 'ink'
import type { StyledLine } from '../../src/output/width.ts'
import { Lines } from '../../src/tui/lines.tsx'

export async function drawnByInk(pieces: readonly StyledLine[], columns: number): Promise<readonly string[]> {
  const frames: string[] = []
  const stdout = Object.assign(new EventEmitter(), {
    columns,
    rows: 24,
    write: (text: string) => frames.push(text) > 0,
  })
  // What Ink uses of a stream in this mode.
  const ink = render(<Lines pieces={pieces} busy={null} />, {
    stdout: stdout as unknown as NodeJS.WriteStream,
    debug: true,
    patchConsole: false,
  })
  ink.unmount()
  // Where CI is set it puts out one more line when it goes.
  return stripVTControlCharacters(frames.findLast(frame => frame.trim() !== '') ?? '')
    .split('\n')
    .slice(0, pieces.length)
}
