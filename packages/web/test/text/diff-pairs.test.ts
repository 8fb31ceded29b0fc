import { diffLines } from '@holdpoint/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differingSpans, hunksOf, pairRows } from '../../src/text/diff-pairs.ts'

const rowsOf = (before: string, after: string) => diffLines([{ before, after }]).diffs[0] ?? []
const lines = fc.array(fc.constantFrom('a', 'b', 'c', '.'), { maxLength: 12 }).map(all => all.join('\n'))

describe('pairRows', () => {
  it('pairRows puts each added row beside the removed row that it replaces', () => {
    const pairs = pairRows(rowsOf('a\nold\nz', 'a\nnew\nmore\nz'))
    expect(pairs.map(({ left, right }) => [left?.text ?? null, right?.text ?? null])).toEqual([
      ['a', 'a'],
      ['old', 'new'],
      [null, 'more'],
      ['z', 'z'],
    ])
  })

  it('pairRows keeps every line of both texts in order', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const pairs = pairRows(rowsOf(before, after))
        const side = (name: 'left' | 'right') => pairs.flatMap(pair => pair[name]?.text ?? []).join('\n')
        expect(side('left')).toBe(before)
        expect(side('right')).toBe(after)
      }),
    )
  })
})

describe('differingSpans', () => {
  it('differingSpans returns the part between the equal start and the equal end', () => {
    expect(differingSpans('sum + line.price, 0)', 'sum + line.price * n, 0)')).toEqual([
      [16, 16],
      [16, 20],
    ])
  })
  it('differingSpans returns null for lines that are equal or have nothing in common', () => {
    expect(differingSpans('same', 'same')).toBeNull()
    expect(differingSpans('abc', 'xyz')).toBeNull()
  })
  it('differingSpans never splits a surrogate pair or separates a character from its combining mark', () => {
    expect(differingSpans('aa😀bb', 'aa😁bb')).toEqual([
      [2, 4],
      [2, 4],
    ])
    expect(differingSpans('aae\u0301bb', 'aaebb')?.[0][0]).toBe(2)
  })
})

describe('hunksOf', () => {
  it('hunksOf returns the requested context around each change without repeating rows', () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i}`)
    const after = before.map((line, i) => (i === 3 || i === 15 ? `${line}!` : line))
    const hunks = hunksOf(rowsOf(before.join('\n'), after.join('\n')), 2)
    expect(hunks.map(hunk => hunk.map(row => `${row.sign}${row.before ?? row.after}`))).toEqual([
      [' 2', ' 3', '-4', '+4', ' 5', ' 6'],
      [' 14', ' 15', '-16', '+16', ' 17', ' 18'],
    ])
  })
})
