/** Checks which JSON numbers are refused because they would change when they are parsed (F9, D10). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { limits, parseJsonStrict } from '../src/index.ts'

const refusal = expect.objectContaining({ code: 'bad_json', message: expect.stringContaining('Send it as a string') })
const isAccepted = (text: string): boolean => {
  try {
    parseJsonStrict(text)
    return true
  } catch {
    return false
  }
}

/** The exact value of a decimal number as an integer and a power of ten. */
function exactValue(text: string): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
function isSameValue(a: string, b: string): boolean {
  const [x, y] = [exactValue(a), exactValue(b)]
  const scale = Math.min(x.exponent, y.exponent)
  return x.digits * 10n ** BigInt(x.exponent - scale) === y.digits * 10n ** BigInt(y.exponent - scale)
}

describe('a JSON number', () => {
  it.each([
    ['an integer above 2^53', '9007199254740993'],
    ['an integer of 30 digits', '123456789012345678901234567890'],
    ['an integer that a double represents exactly, but prints with other digits', '1180591620717411303424'],
    ['a number that becomes zero', '1e-400'],
    ['a number that becomes the smallest double', '3e-324'],
    ['a number with more digits than a double keeps', '0.1000000000000000055'],
    ['a number that overflows', '1e400'],
    ['a number just above the largest double', '1.7976931348623159e308'],
    ['a negative number that overflows', '-1e999999999999999999999'],
    ['400 digits', '9'.repeat(400)],
  ])('F9: a JSON number is refused if it is %s', (_name, text) => {
    for (const json of [text, `[${text}]`, `{"acct":${text}}`, `{"a":[1,{"b":-1,"c":${text} }]}`])
      expect(() => parseJsonStrict(json), json).toThrow(refusal)
  })

  it.each([
    ['a trailing zero after the point', '1.0', 1],
    ['an exponent', '1e3', 1000],
    ['an exponent with leading zeros, as Python writes it', '1e-05', 0.00001],
    ['a minus zero, which equals zero', '-0', -0],
    ['a zero with any exponent', '0.00e999999999999', 0],
    ['the largest safe integer plus one', '9007199254740992', 2 ** 53],
    ['the largest double', '1.7976931348623157e+308', Number.MAX_VALUE],
    ['the smallest double', '5e-324', Number.MIN_VALUE],
    ['many zeros that cancel the exponent', `0.${'0'.repeat(1000)}25e1001`, 2.5],
    ['many zeros before a negative exponent', `7${'0'.repeat(1000)}e-1000`, 7],
  ])('F9: a JSON number with %s is accepted', (_name, text, value) => {
    expect(parseJsonStrict(text)).toBe(value)
  })

  it('F9: two different numbers are never read as the same input', () => {
    expect(() => parseJsonStrict('{"acct":9007199254740993}')).toThrow(refusal)
    expect(parseJsonStrict('{"acct":9007199254740992}')).toEqual({ acct: 9007199254740992 })
    expect(parseJsonStrict('{"acct":"9007199254740993"}')).toEqual({ acct: '9007199254740993' })
  })

  it('a JSON number is accepted in every form in which JavaScript, Python and Go print a double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
        const scientific = value.toExponential()
        const [mantissa = '', exponent = ''] = scientific.split('e')
        const twoDigitExponent = `${mantissa}e${exponent.replace(/^([+-])(\d)$/, '$10$2')}`
        for (const text of [String(value), scientific, twoDigitExponent])
          expect(parseJsonStrict(`[${text}]`), text).toEqual([Number(text)])
      }),
      { numRuns: 5000 },
    )
  })

  it('a JSON number is accepted if and only if its exact value is the shortest form of its double', () => {
    const digits = (maxLength: number) =>
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength }).map(list => list.join(''))
    const written = fc
      .record({
        negative: fc.boolean(),
        whole: digits(22).map(text => text.replace(/^0+(?=\d)/, '')),
        fraction: fc.option(digits(22)),
        exponent: fc.option(fc.integer({ min: -345, max: 330 })),
      })
      .map(
        ({ negative, whole, fraction, exponent }) =>
          `${negative ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
      )
    fc.assert(
      fc.property(written, text => {
        const value = Number(text)
        expect(isAccepted(text), text).toBe(Number.isFinite(value) && isSameValue(text, String(value)))
      }),
      { numRuns: 20_000 },
    )
  })

  it('numbers in JSON are checked only outside strings, and each number is checked to its end', () => {
    const long = '9'.repeat(400)
    expect(parseJsonStrict(`{"${long}":"${long} 1e400","a\\"${long}":[1,2]}`)).toHaveProperty(long)
  })
})

describe('a JSON text', () => {
  it('a JSON text can have up to `jsonValuesMax` values, but not more', () => {
    const array = (values: number) => `[${'1,'.repeat(values - 1)}1]`
    expect(parseJsonStrict(array(limits.jsonValuesMax))).toHaveLength(limits.jsonValuesMax)
    expect(() => parseJsonStrict(array(limits.jsonValuesMax + 1))).toThrow(/more than 10000 values/)
    expect(() => parseJsonStrict(`[${'[],'.repeat(limits.jsonValuesMax / 2)}1]`)).toThrow(/more than 10000 values/)
  })

  it.each([
    ['digits', '1'.repeat(299).concat('x').repeat(3500)],
    ['numbers with an exponent', `[${'1e1,'.repeat(260_000)}1]`],
    ['small objects', `[${'{"a":1},'.repeat(130_000)}1]`],
    ['brackets', '['.repeat(1_000_000)],
    ['nested arrays', `[${`${'['.repeat(60)}${']'.repeat(60)},`.repeat(8000)}1]`],
    ['quotes', '"'.repeat(1_000_000)],
    ['backslashes', `"${'\\'.repeat(1_000_000)}`],
    ['escaped quotes', `"${'\\"'.repeat(500_000)}"`],
    ['escaped surrogates', `"${'\\ud83d\\ude00'.repeat(87_000)}"`],
    ['blanks', `[${' '.repeat(1_000_000)}`],
    ['keys', `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join()}}`],
  ])('F4: one mebibyte of %s is parsed or refused within 50 ms of CPU time', (_name, text) => {
    expect(leastCpuMs(() => isAccepted(text))).toBeLessThan(50)
  })
})
