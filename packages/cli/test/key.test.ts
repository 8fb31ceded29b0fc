/** Bytes as terminals send them, and the keys they are. */
import { describe, expect, it } from 'vitest'
import { type Key, KeyReader } from '../src/tui/key.ts'

const text = (one: string, alone = false): Key => ({ name: 'text', text: one, alone })
function read(...chunks: readonly string[]): Key[] {
  const reader = new KeyReader()
  return [...chunks.flatMap(chunk => reader.push(chunk)), ...reader.flush()]
}

describe('keys', () => {
  it.each<[string, string[], Key[]]>([
    ['a letter alone', ['a'], [text('a', true)]],
    ['letters together are none of them alone', ['ab'], [text('a'), text('b')]],
    ['a letter behind an arrow is alone', ['\u001b[Ba'], [{ name: 'down' }, text('a', true)]],
    ['a character beyond the first plane is one', ['😀'], [text('😀', true)]],
    ['arrows of both kinds', ['\u001b[A\u001bOB'], [{ name: 'up' }, { name: 'down' }]],
    ['arrows with modifiers', ['\u001b[1;5C'], [{ name: 'right' }]],
    ['a sequence cut in two', ['\u001b[', '6~'], [{ name: 'pagedown' }]],
    ['an escape that nothing follows', ['\u001b'], [{ name: 'escape' }]],
    ['Enter behind words', ['hi\r'], [text('h'), text('i'), { name: 'enter' }]],
    ['a paste, whole, with its lines', ['\u001b[200~a\r\nb\u001b[201~'], [text('a\nb')]],
    ['a paste cut in two', ['\u001b[200~a', 'b\u001b[201~'], [text('ab')]],
    ['an escape within a paste is text', ['\u001b[200~\u001b[A\u001b[201~'], [text('\u001b[A')]],
    [
      'controls that mean something',
      ['\u0003\u0004\u007f\u0015\u0017'],
      [{ name: 'ctrl-c' }, { name: 'ctrl-d' }, { name: 'backspace' }, { name: 'clear-line' }, { name: 'clear-word' }],
    ],
    ['controls and sequences that mean nothing', ['\u0002\u001b[99~\u001b[I'], []],
  ])('%s', (_, chunks, keys) => {
    expect(read(...chunks)).toEqual(keys)
  })
})
