import { expect, it } from 'vitest'
import { formatCost, formatCount, formatDuration, formatSize, turnSummary } from '../../src/text/format-amounts.ts'

it('durations, costs, sizes and counts are formatted with units, and a turn is summarized in one line', () => {
  expect([0, 420, 1500, 12_000, 61_000, 3_720_000].map(formatDuration)).toEqual([
    '0 ms',
    '420 ms',
    '1.5 s',
    '12 s',
    '1 min 1 s',
    '1 h 2 min',
  ])
  expect([0, 0.0421, 1.5].map(formatCost)).toEqual(['$0.00', '$0.0421', '$1.50'])
  expect([10, 2048, 5 * 1024 * 1024].map(formatSize)).toEqual(['10 B', '2 KB', '5.0 MB'])
  expect(formatCount(3120, 'line')).toBe('3,120 lines')
  expect(formatCount(1, 'line')).toBe('1 line')
  expect(turnSummary({ ending: 'done', usage: { inputTokens: 12345, outputTokens: 6 }, cost: 0.5 })).toBe(
    'Turn done · 12,345 tokens in · 6 out · $0.50',
  )
  expect(turnSummary({ ending: 'interrupted' })).toBe('Turn interrupted')
})
