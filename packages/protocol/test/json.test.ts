import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, Fault, limits, parseJsonStrict } from '../src/index.ts'

/** JSON values without negative zero, which JSON cannot express, and without the three forbidden keys. */
const key = fc.string({ unit: 'grapheme' }).filter(k => !['__proto__', 'constructor', 'prototype'].includes(k))
const { value: jsonValue } = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(n => n + 0),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reverseKeys(item)]),
  )
}

describe('canonicalJson', () => {
  it('canonicalJson formats the example of RFC 8785 as the RFC does', () => {
    const example = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    }
    expect(canonicalJson(example)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  it('canonicalJson sorts keys by UTF-16 code units, as in the example of RFC 8785', () => {
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
    const sorted = JSON.parse(canonicalJson(Object.fromEntries(keys.map(name => [name, 0]))))
    expect(Object.keys(sorted)).toEqual(['1', '\r', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'])
  })

  it('canonicalJson formats numbers as ECMAScript does', () => {
    expect(canonicalJson([0, -0, 5e-324, 1.7976931348623157e308, 9007199254740992, 1e21, 1e-7])).toBe(
      '[0,0,5e-324,1.7976931348623157e+308,9007199254740992,1e+21,1e-7]',
    )
  })

  it('canonicalJson does not depend on the order of keys and parses back to the same value', () => {
    fc.assert(
      fc.property(jsonValue, value => {
        expect(canonicalJson(reverseKeys(value))).toBe(canonicalJson(value))
        expect(JSON.parse(canonicalJson(value))).toEqual(value)
      }),
    )
  })

  it('canonicalJson leaves out undefined fields and refuses values without a JSON form', () => {
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}')
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, Symbol('x'), undefined])
      expect(() => canonicalJson(value)).toThrow(Fault)
  })
})

describe('parseJsonStrict', () => {
  const refused: readonly [string, string][] = [
    ['an empty text', ''],
    ['a trailing comma', '{"a":1,}'],
    ['a byte order mark', '\ufeff{}'],
    ['a duplicate key', '{"a":1,"a":2}'],
    ['a duplicate key if one of the two is escaped', '{"a":1,"\\u0061":2}'],
    ['a duplicate key in a nested object', '[{"x":{"b":[{"k":1,"j":{},"k":2}]}}]'],
    ['a duplicate key after a nested object', '{"a":{"a":1},"a":2}'],
    ['the empty key twice', '{"":1,"":2}'],
    ['the key __proto__', '{"__proto__":{"x":1}}'],
    ['the escaped key __proto__', '{"\\u005f_proto__":{"x":1}}'],
    ['the key constructor', '{"a":{"constructor":1}}'],
    ['the key prototype', '{"prototype":1}'],
    ['a raw lone surrogate', '{"a":"\ud800"}'],
    ['an escaped lone high surrogate', '{"a":"\\ud800"}'],
    ['an escaped lone low surrogate in a key', '{"\\udc00":1}'],
    ['a pair of surrogates in the wrong order', '"\\udc00\\ud800"'],
    ['a number out of range', '{"a":1e400}'],
    ['a negative number out of range', '[-1e999]'],
    ['a long number with a short exponent', `[1${'0'.repeat(250)}e99]`],
    ['a number with too many digits', `[${'9'.repeat(400)}]`],
  ]
  it.each(refused)('parseJsonStrict refuses %s', (_name, text) => {
    expect(() => parseJsonStrict(text)).toThrow(expect.objectContaining({ code: 'bad_json' }))
  })

  const accepted: readonly [string, string][] = [
    ['equal keys of different objects', '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}'],
    ['a key that is also a value', '{"a":"a","b":"a"}'],
    ['brackets and commas inside strings', '{"a":"},{\\"a\\":[,","b":"\\\\"}'],
    ['an escaped pair of surrogates', '"\\ud83d\\ude00"'],
    ['__proto__ as a value', '{"a":"__proto__"}'],
    ['large numbers in range', '[1e308,123456789012345000000000000000,1E+10]'],
    ['digits inside a string', `"${'9'.repeat(400)} 1e400"`],
  ]
  it.each(accepted)('parseJsonStrict reads %s', (_name, text) => {
    expect(parseJsonStrict(text)).toEqual(JSON.parse(text))
  })

  it('parseJsonStrict accepts up to `jsonDepthMax` nested levels and refuses more', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(() => parseJsonStrict(nested(limits.jsonDepthMax))).not.toThrow()
    expect(() => parseJsonStrict(nested(limits.jsonDepthMax + 1))).toThrow(
      expect.objectContaining({ code: 'bad_json' }),
    )
    expect(() => parseJsonStrict(nested(200_000))).toThrow(expect.objectContaining({ code: 'bad_json' }))
    expect(() =>
      parseJsonStrict('{"a":'.repeat(limits.jsonDepthMax + 1) + 1 + '}'.repeat(limits.jsonDepthMax + 1)),
    ).toThrow()
  })

  it('parseJsonStrict parses everything that JSON.stringify writes', () => {
    fc.assert(fc.property(jsonValue, value => void expect(parseJsonStrict(JSON.stringify(value))).toEqual(value)))
    fc.assert(
      fc.property(jsonValue, value => void expect(parseJsonStrict(JSON.stringify(value, null, 2))).toEqual(value)),
    )
  })

  it('parseJsonStrict does not pollute Object.prototype', () => {
    for (const [, text] of refused)
      try {
        parseJsonStrict(text)
      } catch {}
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })
})
