import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareLines } from '../src/diff.ts'

test('a changed line stands as removed and added between the lines that stay', () => {
  expect(compareLines('a\nb\nc\nd', 'a\nB\nc\nd\ne')).toEqual([
    [' ', 'a'],
    ['−', 'b'],
    ['+', 'B'],
    [' ', 'c'],
    [' ', 'd'],
    ['+', 'e'],
  ])
})

test('nothing is left out: both texts can be read back from the comparison', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 })
    .map(lines => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const rows = compareLines(before, after)
      const side = (sign: string) => rows.filter(row => row[0] !== sign).map(row => row[1])
      expect(side('+').join('\n')).toBe(before)
      expect(side('−').join('\n')).toBe(after)
    }),
  )
})

test('texts too long to compare line by line are shown whole, the old before the new', () => {
  const lines = (prefix: string) => Array.from({ length: 2100 }, (_, i) => `${prefix}${i}`).join('\n')
  const rows = compareLines(lines('a'), lines('b'))
  expect(rows.map(row => row[0]).join('')).toBe('−'.repeat(2100) + '+'.repeat(2100))
})
