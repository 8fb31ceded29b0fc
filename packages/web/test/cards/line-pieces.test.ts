import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineSegments } from '../../src/text/line-segments.ts'

describe('the pieces of a line', () => {
  it('name tabs and the blanks at its end', () => {
    expect(lineSegments('\tx  ').map(({ text, kind }) => [text, kind])).toEqual([
      ['\t', 'tab'],
      ['x', 'text'],
      ['  ', 'trail'],
    ])
  })
  it('name a tab at its end as both', () => {
    expect(lineSegments('x \t').map(({ text, kind }) => [text, kind])).toEqual([
      ['x', 'text'],
      [' ', 'trail'],
      ['\t', 'trail tab'],
    ])
  })
  it('name what was changed', () => {
    expect(lineSegments('abcd', [1, 3]).map(({ text, marked }) => [text, marked])).toEqual([
      ['a', false],
      ['bc', true],
      ['d', false],
    ])
  })
  it('name our signs, and mark them whole or not at all', () => {
    const line = 'a\\u{200b}b ⟨50 spaces⟩c  ⟨CR⟩'
    expect(lineSegments(line, [0, 3]).map(({ text, kind, marked }) => [text, kind, marked])).toEqual([
      ['a', 'text', true],
      ['\\u{200b}', 'escape', true],
      ['b ', 'text', false],
      ['⟨50 spaces⟩', 'count', false],
      ['c', 'text', false],
      ['  ', 'trail', false],
      ['⟨CR⟩', 'end', false],
    ])
  })
  it('are together the line, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('\t', ' ', 'x', 'é') }), fc.nat(20), fc.nat(20), (line, a, b) => {
        const [from, to] = [Math.min(a, b, line.length), Math.min(Math.max(a, b), line.length)]
        const pieces = lineSegments(line, [from, to])
        expect(pieces.map(piece => piece.text).join('')).toBe(line)
        expect(
          pieces
            .filter(piece => piece.marked)
            .map(piece => piece.text)
            .join(''),
        ).toBe(line.slice(from, to))
      }),
    )
  })
})
