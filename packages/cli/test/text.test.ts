import type { WriteStream } from 'node:tty'
import { describe, expect, it } from 'vitest'
import { Screen } from '../src/text/screen.ts'
import { ours, quoted, row, theirs } from '../src/text/span.ts'
import { cut, widthOf, wrap } from '../src/text/width.ts'

const textOf = (pieces: ReturnType<typeof wrap>) => pieces.map(piece => piece.map(span => span.text).join(''))

describe('colours', () => {
  it.each<[string, boolean, NodeJS.ProcessEnv, string]>([
    ['a terminal', true, { TERM: 'xterm' }, '\u001b[33mx\u001b[0m\n'],
    ['a terminal that has none', true, { TERM: 'dumb' }, 'x\n'],
    ['a terminal of someone who wants none', true, { TERM: 'xterm', NO_COLOR: '1' }, 'x\n'],
    ['a pipe', false, { TERM: 'xterm' }, 'x\n'],
  ])('on %s', (_what, isTTY, env, expected) => {
    let out = ''
    const stream = { isTTY, columns: 80, write: (text: string) => (out += text) }
    new Screen(stream as unknown as WriteStream, env).print(row(ours('x', 'waiting'))) // what is used of a stream
    expect(out).toBe(expected)
  })
})

describe('text on a screen', () => {
  it.each([
    ['letters', 'abc', 3],
    ['accents that stand on a letter', 'e\u0301', 1],
    ['Chinese, Japanese and Korean', '漢かカ한', 8],
    ['pictures', '🚀✅', 4],
    ['full-width forms', 'ＡＢ', 4],
    ['lines and arrows', '│→…', 3],
  ])('is as wide as a terminal draws it: %s', (_what, text, columns) => {
    expect(widthOf(text)).toBe(columns)
  })

  it('is cut by columns, with a sign', () => {
    expect(cut('漢字漢字', 5)).toBe('漢字…')
    expect(cut('short', 5)).toBe('short')
  })

  it('is broken behind a blank where there is one, and every piece stands behind the gutter', () => {
    const [line] = quoted('one two three four five six')
    expect(textOf(wrap(line as NonNullable<typeof line>, 18))).toEqual(['  │ one two three ', '  ┊ four five six'])
    expect(textOf(wrap(row(theirs('x'.repeat(25))), 10))).toEqual(['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)])
    expect(textOf(wrap(row(ours('a '), theirs('b'.repeat(12)), ours('c')), 10))).toEqual(['a bbbbbbbb', 'bbbbc'])
    expect(textOf(wrap(row(), 10))).toEqual([''])
  })

  it('is whole in a pipe', () => {
    expect(textOf(wrap(row(theirs('x'.repeat(500))), null))).toEqual(['x'.repeat(500)])
  })

  it('shows what an agent hides, and draws its tabs', () => {
    expect(quoted('a\tb\u001b[0m\r\nc').map(({ spans }) => spans.map(span => span.text).join(''))).toEqual([
      'a→   b\\u{1b}[0m\\u{d}',
      'c',
    ])
    expect(theirs('\\u{1b}').text, 'what only looks like it is told from it').toBe('\\\\u{1b}')
    expect(ours('slip\u001b').text).toBe('slip\\u{1b}')
  })
})
