/** Checks that escaping leaves no invisible characters, and that plain text cannot imitate an escape (G9). */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { escapeInvisible, hasInvisible } from '../src/index.ts'

// The file is read instead of imported, because one entry has a lone surrogate, which not every JSON importer accepts.
const texts = JSON.parse(readFileSync(new URL('./data/display.json', import.meta.url), 'utf8')) as readonly {
  readonly name: string
  readonly text: string
  readonly level: string
}[] // the file contains a list of such objects

/** A copy of the pattern in the source, so that this test fails if the pattern in the source changes. */
const invisible =
  /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}|(?<=(?:(?!\p{DI})[\p{Mn}\p{Me}]){4})(?!\p{DI})[\p{Mn}\p{Me}]/u

/** Leaves out emoji with the selector of their colored form, which are visible as a whole. */
function withoutEmoji(text: string): string {
  return text.replace(/(?!\p{C})\p{Extended_Pictographic}\u{fe0f}/gu, ' ')
}

/** Reverses the escaping, which is possible only if no two texts have the same escaped form. */
function decodeEscapes(shown: string): string {
  return shown.replace(/(\\+)(?:u\{([0-9a-f]+)\})?/g, (whole, slashes: string, hex: string | undefined, at: number) => {
    const isEscape = shown.startsWith('u{', at + slashes.length)
    if (!isEscape) return whole
    const literal = '\\'.repeat(Math.floor(slashes.length / 2))
    if (slashes.length % 2 === 0) return literal + whole.slice(slashes.length)
    return literal + String.fromCodePoint(Number.parseInt(hex ?? '', 16))
  })
}

/** Generates strings of backslashes, braces, letters that occur in escapes, and invisible characters. */
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

describe('escapeInvisible', () => {
  it.each(texts)('escapeInvisible escapes every invisible character of "$name"', ({ text, level }) => {
    expect(withoutEmoji(escapeInvisible(text))).not.toMatch(invisible)
    if (level === 'character') {
      expect(escapeInvisible(text)).not.toBe(text)
      expect(hasInvisible(text)).toBe(true)
    }
  })

  it('escapeInvisible escapes every invisible character of any text', () => {
    fc.assert(fc.property(anyText, text => void expect(withoutEmoji(escapeInvisible(text))).not.toMatch(invisible)))
  })
  it('escapeInvisible with `multiline` keeps line feeds and tabs but no other invisible characters', () => {
    fc.assert(
      fc.property(anyText, text => {
        const shown = escapeInvisible(text, { multiline: true })
        expect(withoutEmoji(shown).replace(/[\n\t]/g, ' ')).not.toMatch(invisible)
        expect(shown.split('\n')).toHaveLength(text.split('\n').length)
      }),
    )
  })

  it('escapeInvisible is reversible, so that no two texts look alike', () => {
    fc.assert(
      fc.property(anyText, text => void expect(decodeEscapes(escapeInvisible(text))).toBe(text)),
      { numRuns: 2000 },
    )
    fc.assert(
      fc.property(anyText, text => void expect(decodeEscapes(escapeInvisible(text, { multiline: true }))).toBe(text)),
      {
        numRuns: 2000,
      },
    )
  })
  it('escapeInvisible distinguishes an invisible character after a backslash from a written escape', () => {
    expect(escapeInvisible('\\\u200b')).not.toBe(escapeInvisible('\\u{200b}'))
  })
  it('escapeInvisible leaves plain text, paths and regular expressions unchanged', () => {
    for (const text of ['npm test', 'C:\\new\\users', 'sed s/\\d\\u0041/x/', 'héllo 世界 😀', 'a {b} u{c}'])
      expect(escapeInvisible(text)).toBe(text)
  })
  it('escapeInvisible shows the code point of an invisible character', () => {
    expect(escapeInvisible('a\u202eb\u{e0041}\u0000')).toBe('a\\u{202e}b\\u{e0041}\\u{0}')
  })
  it('escapeInvisible keeps ordinary combining marks and escapes excess marks', () => {
    for (const text of ['Vie\u0323\u0302t', 'ש\u05bc\u05c1\u05b7\u0591', 'ก\u0e34\u0e48', 'a\u0301\u0301\u0301\u0301b'])
      expect([text, escapeInvisible(text), hasInvisible(text)]).toEqual([text, text, false])
    expect(escapeInvisible(`a${'\u0301'.repeat(6)}b`)).toBe(`a${'\u0301'.repeat(4)}\\u{301}\\u{301}b`)
    expect(escapeInvisible(`${'\u20dd'.repeat(5)}b`), 'also without a base character').toBe(
      `${'\u20dd'.repeat(4)}\\u{20dd}b`,
    )
    const picture = `\u{26a0}\u{fe0f}${'\u0301'.repeat(4)}`
    expect([escapeInvisible(picture, { keepEmoji: true }), hasInvisible(picture, { keepEmoji: true })]).toEqual([
      picture,
      false,
    ])
  })
  it('escapeInvisible takes linear time for a long run of backslashes or marks', () => {
    for (const unit of ['\\', '\u0301'])
      expect(leastCpuMs(() => escapeInvisible(unit.repeat(262_144)))).toBeLessThan(250)
  })
})

describe('an emoji with a variation selector', () => {
  it.each(['\u{2600}\u{fe0f}', '\u{26a0}\u{fe0f}', '\u{2764}\u{fe0f}'])('the emoji %s is never escaped', text => {
    expect(escapeInvisible(`echo ${text}`)).toBe(`echo ${text}`)
    expect(escapeInvisible(`echo ${text}`, { escapeRightToLeft: true })).toBe(`echo ${text}`)
    expect(hasInvisible(text)).toBe(false)
  })
  it.each([
    ['after a letter', 'a\u{fe0f}', 'a\\u{fe0f}'],
    ['after a digit', '1\u{fe0f}', '1\\u{fe0f}'],
    ['twice', '\u{2600}\u{fe0f}\u{fe0f}', '\u{2600}\u{fe0f}\\u{fe0f}'],
    ['of another kind', '\u{2600}\u{e0100}', '\u{2600}\\u{e0100}'],
  ])('a variation selector %s is escaped', (_, text, shown) => {
    expect(escapeInvisible(text)).toBe(shown)
    expect(hasInvisible(text)).toBe(true)
  })
})

describe('hasInvisible', () => {
  it('hasInvisible returns true if and only if the text has an invisible character', () => {
    fc.assert(fc.property(anyText, text => void expect(hasInvisible(text)).toBe(invisible.test(withoutEmoji(text)))))
    fc.assert(
      fc.property(
        anyText,
        text =>
          void expect(hasInvisible(text, { multiline: true })).toBe(
            invisible.test(withoutEmoji(text).replace(/[\n\t]/g, ' ')),
          ),
      ),
    )
  })
})

describe('escapeInvisible with `keepEmoji`', () => {
  const family = '\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}'
  it.each(['\u{26a0}\u{fe0f}', '\u{2764}\u{fe0f}', family, '\u{1f44d}\u{1f3fd}', '\u{1f680}'])(
    'escapeInvisible with `keepEmoji` keeps %s',
    text => {
      expect(escapeInvisible(`so ${text} it is`, { keepEmoji: true })).toBe(`so ${text} it is`)
      expect(hasInvisible(text, { keepEmoji: true })).toBe(false)
    },
  )
  it('escapeInvisible with `keepEmoji` keeps a joined emoji that is escaped without the option', () => {
    expect(escapeInvisible(family)).toBe('\u{1f468}\\u{200d}\u{1f469}\\u{200d}\u{1f467}')
    expect(hasInvisible(family)).toBe(true)
  })
  it.each([
    ['a selector after a letter', 'a\u{fe0f}', 'a\\u{fe0f}'],
    ['a joiner between letters', 'a\u{200d}b', 'a\\u{200d}b'],
    ['a joiner without a second emoji', '\u{1f680}\u{200d}x', '\u{1f680}\\u{200d}x'],
    ['a second selector', '\u{26a0}\u{fe0f}\u{fe0f}', '\u{26a0}\u{fe0f}\\u{fe0f}'],
    ['tag characters', '\u{1f3f4}\u{e0067}', '\u{1f3f4}\\u{e0067}'],
    ['an unassigned emoji', '\u{1fbff}', '\\u{1fbff}'],
  ])('escapeInvisible with `keepEmoji` escapes %s', (_, text, shown) => {
    expect(escapeInvisible(text, { keepEmoji: true })).toBe(shown)
    expect(hasInvisible(text, { keepEmoji: true })).toBe(true)
  })
  it('escapeInvisible with `keepEmoji` treats all other text exactly as it does without the option', () => {
    fc.assert(
      fc.property(tricky, text => {
        expect(escapeInvisible(text, { keepEmoji: true })).toBe(escapeInvisible(text))
      }),
    )
  })
})

describe('F7: with `escapeRightToLeft`, escapeInvisible', () => {
  const options = { escapeRightToLeft: true } as const
  it('F7: with `escapeRightToLeft`, escapeInvisible escapes letters of every right-to-left script, so that no software can reorder them', () => {
    expect(escapeInvisible('cat א > ب', options)).toBe('cat \\u{5d0} > \\u{628}')
    // Syriac, Thaana, N'Ko, Mandaic, an Arabic digit, a presentation form, Phoenician, Adlam, Arabic mathematics.
    for (const letter of ['ܐ', 'ހ', 'ߊ', 'ࡀ', '١', 'ﭐ', 'ﺀ', '𐤀', '𞤀', '𞸀'])
      expect(escapeInvisible(`a${letter}`, options)).toMatch(/^a\\u\{[0-9a-f]+\}$/)
  })
  it('F7: with `escapeRightToLeft`, escapeInvisible keeps letters of all other scripts', () => {
    const text = 'aé ж λ 中 あ 한 हि ไ 😀'
    expect(escapeInvisible(text, options)).toBe(text)
    expect(escapeInvisible('א')).toBe('א')
  })
  it('F7: with `escapeRightToLeft`, escapeInvisible produces text that can still be unescaped', () => {
    const unit = fc.constantFrom('א', '\\', 'u{5d0}', 'a', '\u200b', '٣')
    fc.assert(
      fc.property(fc.string({ unit }), text => void expect(decodeEscapes(escapeInvisible(text, options))).toBe(text)),
    )
  })
})
