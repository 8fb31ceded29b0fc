/** The escaper of G9: after it nothing hidden remains, and nothing that was not hidden can be passed off as such. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeInvisible, hasInvisible } from '../src/index.ts'

// Read as text: one of them holds a lone surrogate, which not every importer of JSON accepts.
const texts = JSON.parse(readFileSync(new URL('./data/display.json', import.meta.url), 'utf8')) as readonly {
  readonly name: string
  readonly text: string
  readonly level: string
}[] // the file's own shape

/** Spelled here a second time on purpose: a change of the class in the source goes red. */
const hidden =
  /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}|(?<=(?:(?!\p{DI})[\p{Mn}\p{Me}]){4})(?!\p{DI})[\p{Mn}\p{Me}]/u

/** Reads a revealed text back: possible only where revealing is injective. */
function unreveal(shown: string): string {
  return shown.replace(/(\\+)(?:u\{([0-9a-f]+)\})?/g, (whole, slashes: string, hex: string | undefined, at: number) => {
    const named = shown.startsWith('u{', at + slashes.length)
    if (!named) return whole
    const literal = '\\'.repeat(Math.floor(slashes.length / 2))
    if (slashes.length % 2 === 0) return literal + whole.slice(slashes.length)
    return literal + String.fromCodePoint(Number.parseInt(hex ?? '', 16))
  })
}

/** Texts made of what matters to the escaper: backslashes, braces, letters of an escape, and hidden characters. */
const tricky = fc
  .array(
    fc.constantFrom(
      '\\',
      '\\\\',
      'u',
      '{',
      '}',
      'u{',
      '\\u{',
      '200b',
      '\u200b',
      '\n',
      '\t',
      '\u202e',
      'a',
      ' ',
      '\ud800',
      '\u{e0041}',
      '\u0301',
      '\u0301\u0489\u0301',
      '\ufe0f',
    ),
    { maxLength: 12 },
  )
  .map(parts => parts.join(''))
const anyText = fc.oneof(tricky, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))

describe('reveal', () => {
  it.each(texts)('leaves nothing hidden in "$name"', ({ text, level }) => {
    expect(escapeInvisible(text)).not.toMatch(hidden)
    if (level === 'character') {
      expect(escapeInvisible(text)).not.toBe(text)
      expect(hasInvisible(text)).toBe(true)
    }
  })

  it('leaves nothing hidden in any text', () => {
    fc.assert(fc.property(anyText, text => void expect(escapeInvisible(text)).not.toMatch(hidden)))
  })
  it('keeps line feeds and tabs, and nothing else, where the layout stays', () => {
    fc.assert(
      fc.property(anyText, text => {
        const shown = escapeInvisible(text, { multiline: true })
        expect(shown.replace(/[\n\t]/g, ' ')).not.toMatch(hidden)
        expect(shown.split('\n')).toHaveLength(text.split('\n').length)
      }),
    )
  })

  it('can be read back, so that no two texts look alike', () => {
    fc.assert(
      fc.property(anyText, text => void expect(unreveal(escapeInvisible(text))).toBe(text)),
      { numRuns: 2000 },
    )
    fc.assert(
      fc.property(anyText, text => void expect(unreveal(escapeInvisible(text, { multiline: true }))).toBe(text)),
      {
        numRuns: 2000,
      },
    )
  })
  it('tells a hidden character behind a backslash from the text of an escape', () => {
    expect(escapeInvisible('\\\u200b')).not.toBe(escapeInvisible('\\u{200b}'))
  })
  it('leaves plain text, paths and regular expressions as they are', () => {
    for (const text of ['npm test', 'C:\\new\\users', 'sed s/\\d\\u0041/x/', 'héllo 世界 😀', 'a {b} u{c}'])
      expect(escapeInvisible(text)).toBe(text)
  })
  it('names a hidden character by its code point', () => {
    expect(escapeInvisible('a\u202eb\u{e0041}\u0000')).toBe('a\\u{202e}b\\u{e0041}\\u{0}')
  })
  it('leaves the marks that people write on a letter, and spells out what is heaped upon them', () => {
    for (const text of ['Vie\u0323\u0302t', 'ש\u05bc\u05c1\u05b7\u0591', 'ก\u0e34\u0e48', 'a\u0301\u0301\u0301\u0301b'])
      expect([text, escapeInvisible(text), hasInvisible(text)]).toEqual([text, text, false])
    expect(escapeInvisible(`a${'\u0301'.repeat(6)}b`)).toBe(`a${'\u0301'.repeat(4)}\\u{301}\\u{301}b`)
    expect(escapeInvisible(`${'\u20dd'.repeat(5)}b`), 'also where there is nothing to stand on').toBe(
      `${'\u20dd'.repeat(4)}\\u{20dd}b`,
    )
    const picture = `\u{26a0}\u{fe0f}${'\u0301'.repeat(4)}`
    expect([escapeInvisible(picture, { keepEmoji: true }), hasInvisible(picture, { keepEmoji: true })]).toEqual([
      picture,
      false,
    ])
  })
  it('stays quick however long the run of backslashes or marks', () => {
    const begun = performance.now()
    for (const unit of ['\\', '\u0301']) escapeInvisible(unit.repeat(262_144))
    expect(performance.now() - begun).toBeLessThan(500)
  })
})

describe('hidesSomething', () => {
  it('is true exactly where a hidden character stands', () => {
    fc.assert(fc.property(anyText, text => void expect(hasInvisible(text)).toBe(hidden.test(text))))
    fc.assert(
      fc.property(
        anyText,
        text => void expect(hasInvisible(text, { multiline: true })).toBe(hidden.test(text.replace(/[\n\t]/g, ' '))),
      ),
    )
  })
})

describe('pictures in sentences', () => {
  const family = '\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}'
  it.each(['\u{26a0}\u{fe0f}', '\u{2764}\u{fe0f}', family, '\u{1f44d}\u{1f3fd}', '\u{1f680}'])(
    '%s stays as it is',
    text => {
      expect(escapeInvisible(`so ${text} it is`, { keepEmoji: true })).toBe(`so ${text} it is`)
      expect(hasInvisible(text, { keepEmoji: true })).toBe(false)
    },
  )
  it('are spelt out where what is executed is shown', () => {
    expect(escapeInvisible('\u{26a0}\u{fe0f}')).toBe('\u{26a0}\\u{fe0f}')
    expect(hasInvisible('\u{26a0}\u{fe0f}')).toBe(true)
  })
  it.each([
    ['a selector after a letter', 'a\u{fe0f}', 'a\\u{fe0f}'],
    ['a joiner between letters', 'a\u{200d}b', 'a\\u{200d}b'],
    ['a joiner with nothing to join', '\u{1f680}\u{200d}x', '\u{1f680}\\u{200d}x'],
    ['a second selector', '\u{26a0}\u{fe0f}\u{fe0f}', '\u{26a0}\u{fe0f}\\u{fe0f}'],
    ['letters of tags', '\u{1f3f4}\u{e0067}', '\u{1f3f4}\\u{e0067}'],
    ['a picture that is not assigned', '\u{1fbff}', '\\u{1fbff}'],
  ])('hide nothing: %s is spelt out', (_, text, shown) => {
    expect(escapeInvisible(text, { keepEmoji: true })).toBe(shown)
    expect(hasInvisible(text, { keepEmoji: true })).toBe(true)
  })
  it('change nothing of the rest', () => {
    fc.assert(
      fc.property(tricky, text => {
        expect(escapeInvisible(text, { keepEmoji: true })).toBe(escapeInvisible(text))
      }),
    )
  })
})
