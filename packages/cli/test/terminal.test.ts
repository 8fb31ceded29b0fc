/** Tests the pseudo-terminal that other tests rely on, and how a program that leaves a live view handles Ctrl+C. */
import { existsSync } from 'node:fs'
import { afterEach, expect, it, vi } from 'vitest'
import { ignoreInterrupts } from '../src/tui/terminal/terminal.ts'
import { runCli } from './support/cli-process.ts'
import { closeTerminals, Terminal } from './support/terminal.ts'

afterEach(closeTerminals)

/** Blocks this process, as other work on a busy machine does, until the other process has exited. */
function blockUntilExited(pid: number): void {
  const never = new Int32Array(new SharedArrayBuffer(4))
  while (existsSync(`/proc/${pid}`)) Atomics.wait(never, 0, 0, 20)
}

it('a terminal shows all output of a program that has exited before the output is read', async () => {
  const { out } = await runCli(['help'])
  // Libuv reads only 4095 bytes from the terminal of a program that has exited.
  expect(Buffer.byteLength(out)).toBeGreaterThan(5000)
  const terminal = new Terminal(['help'])
  blockUntilExited(terminal.pid)
  expect(await terminal.exit).toBe(0)
  expect(terminal.raw.replaceAll('\r\n', '\n')).toBe(out)
  // The terminal breaks long lines.
  const withoutSpaces = (text: string) => text.replace(/\s+/g, '')
  expect(withoutSpaces(terminal.all())).toBe(withoutSpaces(out))
})

it('a program that is leaving a live view ignores Ctrl+C until Ctrl+C was not pressed for three seconds', () => {
  vi.useFakeTimers()
  try {
    const listenersBefore = process.listeners('SIGINT')
    const newListeners = () => process.listeners('SIGINT').filter(listener => !listenersBefore.includes(listener))
    const ignoresInterrupts = () => newListeners().length > 0
    ignoreInterrupts()
    for (let press = 0; press < 10; press++) {
      vi.advanceTimersByTime(2900)
      expect(ignoresInterrupts()).toBe(true)
      // Only the new listeners are called: a browser that another file of this worker has opened ends the process on SIGINT.
      for (const listener of newListeners()) listener('SIGINT')
    }
    vi.advanceTimersByTime(3000)
    expect(ignoresInterrupts()).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})
