/** Bytes as terminals send them, and the keys they are. */
import { PassThrough } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { describe, expect, it, vi } from 'vitest'
import { type Key, KeyParser, type NamedKey } from '../src/tui/terminal/key-parser.ts'
import { Keyboard, lateMs } from '../src/tui/terminal/keyboard.ts'

const text = (one: string, alone = false): Key => ({ name: 'text', text: one, alone })
const key = (name: NamedKey, alone = false): Key => ({ name, alone })
function read(...chunks: readonly string[]): Key[] {
  const reader = new KeyParser()
  return [...chunks.flatMap(chunk => reader.push(chunk)), ...reader.flush()]
}

describe('keys', () => {
  it.each<[string, string[], Key[]]>([
    ['a letter alone', ['a'], [text('a', true)]],
    ['letters together are none of them alone', ['ab'], [text('a'), text('b')]],
    ['a letter with another key is not alone', ['\u001b[Ba'], [key('down'), text('a')]],
    ['nor is one with Enter behind it', ['a\r'], [text('a'), key('enter')]],
    ['nor is one behind an escape', ['\u001ba'], [key('escape'), text('a')]],
    ['nor is one behind an escape that came before it', ['\u001b', 'a'], [key('escape'), text('a')]],
    ['nor is one beside what means nothing', ['\u001b[Ia'], [text('a')]],
    ['a character beyond the first plane is one', ['😀'], [text('😀', true)]],
    ['arrows of both kinds', ['\u001b[A\u001bOB'], [key('up'), key('down')]],
    ['arrows with modifiers', ['\u001b[1;5C'], [key('right', true)]],
    ['a sequence cut in two', ['\u001b[', '6~'], [key('pagedown', true)]],
    ['an escape that nothing follows', ['\u001b'], [key('escape', true)]],
    ['Enter behind words', ['hi\r'], [text('h'), text('i'), key('enter')]],
    ['a paste, whole, with its lines', ['\u001b[200~a\r\nb\u001b[201~'], [text('a\nb')]],
    ['a paste cut in two', ['\u001b[200~a', 'b\u001b[201~'], [text('ab')]],
    ['an escape within a paste is text', ['\u001b[200~\u001b[A\u001b[201~'], [text('\u001b[A')]],
    [
      'controls that mean something',
      ['\u0003\u0004\u007f\u0015\u0017'],
      [key('ctrl-c'), key('ctrl-d'), key('backspace'), key('clear-line'), key('clear-word')],
    ],
    [
      'Ctrl+C breaks out of a paste that does not end',
      ['\u001b[200~ab', '\u0003', 'a'],
      [key('ctrl-c', true), text('a', true)],
    ],
    ['a Ctrl+C within a paste is text', ['\u001b[200~a\u0003b', '\u001b[201~'], [text('a\u0003b')]],
    ['a paste that has lost its end is what there is of it', ['\u001b[200~ab'], [text('ab')]],
    ['controls and sequences that mean nothing', ['\u0002\u001b[99~\u001b[I'], []],
  ])('%s', (_, chunks, keys) => {
    expect(read(...chunks)).toEqual(keys)
  })
})

describe('a keyboard', () => {
  it('tells which keys go on with the one before, and which came late', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const input = Object.assign(new PassThrough(), { setRawMode: () => {} })
    const keyboard = new Keyboard(input as unknown as ReadStream, () => {}) // all that it uses of one
    const heard: Key[] = []
    let told = () => {}
    keyboard.open(one => {
      heard.push(one)
      told()
    })
    const press = (char: string) =>
      new Promise<void>(resolve => {
        told = resolve
        input.write(char)
      })
    vi.advanceTimersByTime(lateMs * 2)
    for (const [char, afterMs] of [
      ['1', 0],
      ['2', lateMs],
      ['3', lateMs + 1],
    ] as const) {
      vi.advanceTimersByTime(afterMs)
      await press(char)
    }
    keyboard.close()
    vi.useRealTimers()
    expect(heard.map(({ late = false }) => late)).toEqual([true, false, true])
  })
})
