/** Tests the key parser and the keyboard. */
import { PassThrough } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { describe, expect, it, vi } from 'vitest'
import { type Key, KeyParser, type NamedKey } from '../src/tui/terminal/key-parser.ts'
import { Keyboard, pauseMs } from '../src/tui/terminal/keyboard.ts'

const text = (one: string, alone = false): Key => ({ name: 'text', text: one, alone })
const key = (name: NamedKey, alone = false): Key => ({ name, alone })
function read(...chunks: readonly string[]): Key[] {
  const reader = new KeyParser()
  return [...chunks.flatMap(chunk => reader.push(chunk)), ...reader.flush()]
}

describe('the key parser', () => {
  it.each<[string, string[], Key[]]>([
    ['a single letter as a key that arrived alone', ['a'], [text('a', true)]],
    ['letters in one chunk as keys that did not arrive alone', ['ab'], [text('a'), text('b')]],
    ['a letter after another key as a key that did not arrive alone', ['\u001b[Ba'], [key('down'), text('a')]],
    ['a letter before Enter as a key that did not arrive alone', ['a\r'], [text('a'), key('enter')]],
    ['a letter after an escape as a key that did not arrive alone', ['\u001ba'], [key('escape'), text('a')]],
    [
      'a letter after an escape in an earlier chunk as a key that did not arrive alone',
      ['\u001b', 'a'],
      [key('escape'), text('a')],
    ],
    ['a letter after an unknown sequence as a key that did not arrive alone', ['\u001b[Ia'], [text('a')]],
    ['an astral character as one key', ['😀'], [text('😀', true)]],
    ['arrow keys from CSI and SS3 sequences', ['\u001b[A\u001bOB'], [key('up'), key('down')]],
    ['an arrow key with a modifier as the plain arrow key', ['\u001b[1;5C'], [key('right', true)]],
    ['a sequence split over two chunks as one key', ['\u001b[', '6~'], [key('pagedown', true)]],
    ['a lone escape character as the Escape key', ['\u001b'], [key('escape', true)]],
    ['Enter after letters as the Enter key', ['hi\r'], [text('h'), text('i'), key('enter')]],
    ['a paste as one text with its line breaks', ['\u001b[200~a\r\nb\u001b[201~'], [text('a\nb')]],
    ['a paste split over two chunks as one text', ['\u001b[200~a', 'b\u001b[201~'], [text('ab')]],
    ['an escape sequence within a paste as text', ['\u001b[200~\u001b[A\u001b[201~'], [text('\u001b[A')]],
    [
      'known control characters as named keys',
      ['\u0003\u0004\u007f\u0015\u0017'],
      [key('ctrl-c'), key('ctrl-d'), key('backspace'), key('clear-line'), key('clear-word')],
    ],
    [
      'a separate Ctrl+C during an unfinished paste as the Ctrl+C key',
      ['\u001b[200~ab', '\u0003', 'a'],
      [key('ctrl-c', true), text('a', true)],
    ],
    ['a Ctrl+C within a paste as text', ['\u001b[200~a\u0003b', '\u001b[201~'], [text('a\u0003b')]],
    ['a paste without an end marker as the text received so far', ['\u001b[200~ab'], [text('ab')]],
    ['Ctrl+\\ as the key that leaves', ['\u001c'], [key('ctrl-d', true)]],
    [
      'mouse reports as no key, even if they contain letters or are split',
      ['\u001b[M aa', '\u001b[<0;10;10M', '\u001b[M', ' a', 'a'],
      [],
    ],
    ['an unfinished mouse report as no key', ['\u001b[M a'], []],
    [
      'a letter right after several letters in one chunk as a key that did not arrive alone',
      ['ok', 'a'],
      [text('o'), text('k'), text('a')],
    ],
    ['unknown control characters and sequences as no key', ['\u0002\u001b[99~\u001b[I'], []],
  ])('the key parser parses %s', (_, chunks, keys) => {
    expect(read(...chunks)).toEqual(keys)
  })
})

describe('the keyboard', () => {
  it('the keyboard marks keys that come after a pause', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const input = Object.assign(new PassThrough(), { setRawMode: () => {} })
    const keyboard = new Keyboard(input as unknown as ReadStream, () => {}) // `input` has all members that `Keyboard` uses
    const received: Key[] = []
    let onReceived = () => {}
    keyboard.open(one => {
      received.push(one)
      onReceived()
    })
    const press = (char: string) =>
      new Promise<void>(resolve => {
        onReceived = resolve
        input.write(char)
      })
    vi.advanceTimersByTime(pauseMs * 2)
    for (const [char, afterMs] of [
      ['1', 0],
      ['2', pauseMs],
      ['3', pauseMs + 1],
    ] as const) {
      vi.advanceTimersByTime(afterMs)
      await press(char)
    }
    keyboard.close()
    vi.useRealTimers()
    expect(received.map(({ afterPause = false }) => afterPause)).toEqual([true, false, true])
  })
})
