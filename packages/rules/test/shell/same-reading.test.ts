/** Tests the comparison of the two readings of a shell command. The readings never differ for a known command, so these tests make them differ. */
import { expect, it } from 'vitest'
import { isSameReading } from '../../src/shell/same-reading.ts'
import { type TreeSegment, treeSegments } from '../../src/shell/tree-segments.ts'

const text = 'ls -l 2>/dev/null | wc >/dev/null'
const reading = () => treeSegments(text) ?? []
/** Returns a reading whose first part is changed. */
const changed = (change: (segment: TreeSegment) => TreeSegment) =>
  reading().map((segment, index) => (index === 0 ? change(segment) : segment))
const changedWord = (change: Partial<TreeSegment['words'][number]>) =>
  changed(({ words: [word, ...words], ...segment }) => ({
    ...segment,
    words: [{ value: '', start: 0, end: 0, ...word, ...change }, ...words],
  }))

it('two readings of a shell command are equal if every part is equal', () => {
  expect(reading()).toHaveLength(2)
  expect(isSameReading(reading(), reading())).toBe(true)
})
it.each<[string, readonly TreeSegment[] | null]>([
  ['is missing', null],
  ['has no parts', []],
  ['lacks the last part', reading().slice(0, -1)],
  ['has one more part', [...reading(), ...reading()]],
  ['has another operator', changed(segment => ({ ...segment, operator: '||' }))],
  ['lacks a word', changed(segment => ({ ...segment, words: segment.words.slice(0, -1) }))],
  ['has one more word', changed(segment => ({ ...segment, words: [...segment.words, ...segment.words] }))],
  ['has another word', changedWord({ value: 'rm' })],
  ['has a word that starts elsewhere', changedWord({ start: 1 })],
  ['has a word that ends elsewhere', changedWord({ end: 1 })],
  ['lacks a redirect', changed(segment => ({ ...segment, redirects: [] }))],
  ['has another redirect', changed(segment => ({ ...segment, redirects: ['>/dev/null'] }))],
])('two readings of a shell command differ if one %s', (_, other) => {
  expect(isSameReading(other, reading())).toBe(false)
  if (other !== null) expect(isSameReading(reading(), other)).toBe(false)
})
