import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineSegments } from '../../src/text/line-segments.ts'

describe('lineSegments', () => {
  it('lineSegments marks tabs and trailing blanks', () => {
    expect(lineSegments('\tx  ').map(({ text, kind }) => [text, kind])).toEqual([
      ['\t', 'tab'],
      ['x', 'text'],
      ['  ', 'trail'],
    ])
  })
  it('lineSegments marks a trailing tab as trailing and as a tab', () => {
    expect(lineSegments('x \t').map(({ text, kind }) => [text, kind])).toEqual([
      ['x', 'text'],
      [' ', 'trail'],
      ['\t', 'trail tab'],
    ])
  })
  it('lineSegments marks the changed part', () => {
    expect(lineSegments('abcd', [1, 3]).map(({ text, marked }) => [text, marked])).toEqual([
      ['a', false],
      ['bc', true],
      ['d', false],
    ])
  })
  it('lineSegments marks display markers and never cuts a marker in two', () => {
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
  it('lineSegments returns segments that equal the line when joined', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('\t', ' ', 'x', 'é') }), fc.nat(20), fc.nat(20), (line, a, b) => {
        const [from, to] = [Math.min(a, b, line.length), Math.min(Math.max(a, b), line.length)]
        const segments = lineSegments(line, [from, to])
        expect(segments.map(segment => segment.text).join('')).toBe(line)
        expect(
          segments
            .filter(segment => segment.marked)
            .map(segment => segment.text)
            .join(''),
        ).toBe(line.slice(from, to))
      }),
    )
  })
})
