import { hasRightToLeft, readsRightToLeft, splitRightToLeft } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('readsRightToLeft', () => {
  it.each(['שלום', 'שלום עולם!', 'مرحبا، كيف الحال؟', 'שלום, "עולם"…'])('F7: readsRightToLeft is true for %j', text => {
    expect(readsRightToLeft(text)).toBe(true)
  })
  it.each(['', 'abc', 'שלום npm', 'אאא > בבב', 'א/ב', 'א 1', '(א)', 'א;ב', 'א\u200fב'])(
    'F7: readsRightToLeft is false for %j, which mixes directions or has characters that have a meaning in code',
    text => {
      expect(readsRightToLeft(text)).toBe(false)
    },
  )
})

describe('splitRightToLeft', () => {
  it('splitRightToLeft separates right-to-left words from the rest, and loses nothing', () => {
    expect(splitRightToLeft('a אב > ג')).toEqual([
      { text: 'a ', isRightToLeft: false },
      { text: 'אב', isRightToLeft: true },
      { text: ' > ', isRightToLeft: false },
      { text: 'ג', isRightToLeft: true },
    ])
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const runs = splitRightToLeft(text)
        expect(runs.map(run => run.text).join('')).toBe(text)
        for (const run of runs) expect(hasRightToLeft(run.text)).toBe(run.isRightToLeft)
      }),
    )
  })
})
