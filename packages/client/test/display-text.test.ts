import { readFileSync } from 'node:fs'
import { displayText, hasEscapes, markersIn, plainText } from '@holdpoint/client'
import { hasInvisible } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

// The file is read instead of imported, because one entry has a lone surrogate, which not every JSON importer accepts.
const data = new URL('../../protocol/test/data/display.json', import.meta.url)
const texts = JSON.parse(readFileSync(data, 'utf8')) as readonly { readonly name: string; readonly text: string }[] // the file contains a list of such objects

const block = { multiline: true } as const
const signs = (shown: string) => markersIn(shown).map(({ from, to, kind }) => [shown.slice(from, to), kind])

describe('plainText', () => {
  it.each([
    ['All **done**, see `a.ts`.', 'All done, see a.ts.'],
    ['## Report\n\nThe tests pass:\n```sh\nnpm test\n```', 'Report The tests pass: npm test'],
    ['2 * 3 ** 4, and __init__', '2 * 3 ** 4, and __init__'],
    ['```', ''],
  ])('turns %j into %j', (markdown, expected) => {
    expect(plainText(markdown)).toBe(expected)
  })
})

describe('displayText', () => {
  it.each(texts)('leaves no invisible characters and no long runs of blanks in the sample “$name”', ({ text }) => {
    for (const shown of [displayText(text), displayText(text, block)]) {
      expect(hasInvisible(shown, block)).toBe(false)
      expect(shown).not.toMatch(/[ \t]{41}|\t{11}|(?:\n[ \t]*){7}/)
    }
  })
  it('replaces long runs of spaces, tabs and blank lines with their count', () => {
    expect(displayText(`ls${' '.repeat(3000)}; rm -rf ~`)).toBe('ls⟨3000 spaces⟩; rm -rf ~')
    expect(displayText(`ls${'\t'.repeat(400)}; rm`, block)).toBe('ls⟨400 tabs⟩; rm')
    expect(displayText(`ls${' \t'.repeat(40)}; rm`, block)).toBe('ls⟨80 whitespace characters⟩; rm')
    expect(displayText(`ls${'\n'.repeat(201)}rm`, block)).toBe('ls\n⟨200 blank lines⟩\nrm')
    expect(displayText(`ls\n${' \n'.repeat(200)}rm`, block)).toBe('ls\n⟨200 whitespace lines⟩\nrm')
  })
  it('keeps indentation and a few blank lines', () => {
    for (const text of [`${' '.repeat(40)}x`, 'a\n\n\n\n\n\nb', '\t\tx\n', ''])
      expect(displayText(text, block)).toBe(text)
  })
  it('marks a carriage return at the end of a line and escapes any other carriage return', () => {
    expect(displayText('a\r\nb\rc\r\n', block)).toBe('a⟨CR⟩\nb\\u{d}c⟨CR⟩\n')
    expect(displayText('a\r\nb')).toBe('a\\u{d}\\u{a}b')
  })
  it('escapes text that looks like a marker', () => {
    expect(displayText('a⟨3 spaces⟩b \\⟨4 tabs⟩')).toBe('a\\u{27e8}3 spaces⟩b \\\\\\u{27e8}4 tabs⟩')
    expect(displayText('a⟨CR⟩\nb ⟨CRC⟩', block)).toBe('a\\u{27e8}CR⟩\nb \\u{27e8}CRC⟩')
    const unit = fc.constantFrom('⟨', '⟩', '3', ' spaces', 'CR', '\r', '\n', '\\', 'u{27e8}', '\u200b', ' '.repeat(41))
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (one, other) => {
        if (one !== other) expect(displayText(one, block)).not.toBe(displayText(other, block))
      }),
      { numRuns: 2000 },
    )
  })
  it('produces markers that `markersIn` finds', () => {
    const shown = displayText(`\\u{1} \\\u200b${' '.repeat(50)}⟨1 tab⟩\r`, block)
    expect(signs(shown)).toEqual([
      ['\\u{200b}', 'escape'],
      ['⟨50 spaces⟩', 'count'],
      ['\\u{27e8}', 'escape'],
      ['⟨CR⟩', 'end'],
    ])
  })
  it('escapes characters if and only if `hasEscapes` returns true for the text', () => {
    expect(hasEscapes('a\r\nb\tc', block)).toBe(false)
    expect(hasEscapes('a\rb', block)).toBe(true)
    expect(hasEscapes('a\u200b', block)).toBe(true)
  })
  it('takes linear time for any text', () => {
    for (const unit of ['\\', '⟨', ' ', '\t', '\n', '\r', ' \n', '\\u{', '⟨1'] as const) {
      const text = unit.repeat(131_072 / unit.length)
      const begun = performance.now()
      markersIn(displayText(text, block))
      expect(performance.now() - begun, JSON.stringify(unit)).toBeLessThan(4000)
    }
  })
})
