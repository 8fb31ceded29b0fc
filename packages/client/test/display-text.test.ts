import { readFileSync } from 'node:fs'
import {
  CodeWarnings,
  cutMiddle,
  diffLines,
  displayText,
  exactText,
  hasEscapes,
  labelText,
  markersIn,
  plainText,
  proseWarnings,
  singleLine,
  textChunks,
  withoutOuterBlankLines,
} from '@holdpoint/client'
import { hasInvisible } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../test/support/cpu-time.ts'

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
    ['**a** ** b** **c**', 'a ** b** c'],
  ])('plainText turns %j into %j', (markdown, expected) => {
    expect(plainText(markdown)).toBe(expected)
  })
})

describe('displayText', () => {
  it.each(texts)(
    'displayText leaves no invisible characters and no long runs of blanks in the sample “$name”',
    ({ text }) => {
      for (const shown of [displayText(text), displayText(text, block)]) {
        expect(hasInvisible(shown, block)).toBe(false)
        expect(shown).not.toMatch(/[ \t]{41}|\t{11}|(?:\n[ \t]*){7}/)
      }
    },
  )
  it('displayText replaces long runs of spaces, tabs and blank lines with their count', () => {
    expect(displayText(`ls${' '.repeat(3000)}; rm -rf ~`)).toBe('ls⟨3000 spaces⟩; rm -rf ~')
    expect(displayText(`ls${'\t'.repeat(400)}; rm`, block)).toBe('ls⟨400 tabs⟩; rm')
    expect(displayText(`ls${' \t'.repeat(40)}; rm`, block)).toBe('ls⟨80 whitespace characters⟩; rm')
    expect(displayText(`ls${'\n'.repeat(201)}rm`, block)).toBe('ls\n⟨200 blank lines⟩\nrm')
    expect(displayText(`ls\n${' \n'.repeat(200)}rm`, block)).toBe('ls\n⟨200 whitespace lines⟩\nrm')
  })
  it('displayText keeps indentation and a few blank lines', () => {
    for (const text of [`${' '.repeat(40)}x`, 'a\n\n\n\n\n\nb', '\t\tx\n', ''])
      expect(displayText(text, block)).toBe(text)
  })
  it('displayText marks a carriage return at the end of a line and escapes any other carriage return', () => {
    expect(displayText('a\r\nb\rc\r\n', block)).toBe('a⟨CR⟩\nb\\u{d}c⟨CR⟩\n')
    expect(displayText('a\r\nb')).toBe('a\\u{d}\\u{a}b')
  })
  it('displayText escapes text that looks like a marker', () => {
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
  it('displayText produces markers that `markersIn` finds', () => {
    const shown = displayText(`\\u{1} \\\u200b${' '.repeat(50)}⟨1 tab⟩\r`, block)
    expect(signs(shown)).toEqual([
      ['\\u{200b}', 'escape'],
      ['⟨50 spaces⟩', 'count'],
      ['\\u{27e8}', 'escape'],
      ['⟨CR⟩', 'end'],
    ])
  })
  it('displayText escapes characters if and only if `hasEscapes` returns true for the text', () => {
    expect(hasEscapes('a\r\nb\tc', block)).toBe(false)
    expect(hasEscapes('a\rb', block)).toBe(true)
    expect(hasEscapes('a\u200b', block)).toBe(true)
  })
})

describe('exactText and labelText', () => {
  it('F7: exactText and labelText escape right-to-left letters, except in a label that is entirely in a right-to-left script', () => {
    expect(exactText('שלום')).toBe('\\u{5e9}\\u{5dc}\\u{5d5}\\u{5dd}')
    expect(labelText('שלום עולם')).toBe('שלום עולם')
    expect(labelText('שלום npm')).toBe('\\u{5e9}\\u{5dc}\\u{5d5}\\u{5dd} npm')
    expect(labelText('plain')).toBe('plain')
  })
})

describe('D5: cutMiddle', () => {
  it('D5: cutMiddle keeps the start and the end, and the number of missing characters', () => {
    expect(cutMiddle('abc', 3)).toEqual({ head: 'abc', omitted: 0, tail: '' })
    expect(cutMiddle('0123456789', 6)).toEqual({ head: '0123', omitted: 4, tail: '89' })
  })
  it('D5: cutMiddle never cuts a character or an escape in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '😀', 'e\u0301', '\\', 'u{200b}'), minLength: 12 }), text => {
        const { head, omitted, tail } = cutMiddle(text, 9)
        expect(head.length + omitted + tail.length).toBe(text.length)
        expect(head.isWellFormed() && tail.isWellFormed()).toBe(true)
        expect(tail.startsWith('\u0301') || head.endsWith('\\')).toBe(false)
      }),
    )
  })
})

describe('F13: textChunks', () => {
  it('F13: textChunks splits a long text into short chunks, which together display the same as the whole text', () => {
    const unit = fc.constantFrom(
      'a',
      ' '.repeat(60),
      '\n',
      '\n\n\n\n',
      '\\',
      'u{1}',
      '\u200b',
      '😀',
      '⟨1',
      '\r\n',
      'word '.repeat(400),
      'א',
    )
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 400 }), parts => {
        const text = parts.join('')
        const shown = textChunks(text).map(chunk => displayText(chunk, block))
        expect(shown.join('').replaceAll('\n', '')).toBe(displayText(text, block).replaceAll('\n', ''))
      }),
    )
    for (const one of ['a', '\\', '\u0301', 'a\n', ' a'])
      for (const chunk of textChunks(one.repeat(100_000 / one.length))) expect(chunk.length).toBeLessThan(10_000)
    expect(textChunks('')).toEqual([''])
    expect(textChunks('a\n'.repeat(300)).join('\n')).toBe('a\n'.repeat(300))
    expect(textChunks(`a${'\n'.repeat(400_000)}b`)).toHaveLength(2)
  })
})

/** Texts that agents could send to freeze a program: each is repeated to 400,000 characters. */
const hostile = [
  ' ',
  '\n',
  '\t',
  '[',
  '(',
  '`',
  '*_',
  '<',
  'a',
  'a ',
  'a\n',
  '- ',
  '> ',
  '\\',
  '⟨',
  '\r',
  ' \n',
  '\\u{',
  '⟨1',
  '**a',
  '```\n',
  '# ',
  '\u0301',
  '\u200b',
  'א ',
  'aа',
  '://а',
  '"',
  '${',
  '☀️',
]

describe('F13: 400,000 characters of hostile text', () => {
  // Each text takes some tens of milliseconds. The limit is far above that, so that a busy machine does not fail the test, and far below the minutes that quadratic work takes.
  const limitMs = 10_000
  const functions: Readonly<Record<string, (text: string) => unknown>> = {
    displayText: text => markersIn(displayText(text, block), 'command'),
    exactText,
    labelText,
    singleLine,
    plainText,
    withoutOuterBlankLines,
    proseWarnings,
    CodeWarnings: text => new CodeWarnings('command', 'drawn').add(text).sentences(),
    textChunks,
    diffLines: text => diffLines([{ before: text, after: `${text}b` }]),
  }
  it.each(Object.keys(functions))('%s takes linear time for 400,000 characters of hostile text', name => {
    for (const unit of hostile) {
      const text = `x${unit.repeat(400_000 / unit.length)}x`
      expect(
        cpuMs(() => functions[name]?.(text)),
        JSON.stringify(unit),
      ).toBeLessThan(limitMs)
    }
  })
})
