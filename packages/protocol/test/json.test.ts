/** JSON at the border: the canonical form that digests cover, and the reader that refuses what two parsers could read differently. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Ask, canonicalJson, digestText, Fault, limits, parseJsonStrict, type SessionId } from '../src/index.ts'

const session = 'ses_00000000000000000000' as SessionId // twenty letters of the alphabet

/** Values as JSON knows them: a negative zero has no form of its own, and three keys are never accepted. */
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

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, shuffled(item)]),
  )
}

describe('canonical', () => {
  it('writes the example of RFC 8785 as the RFC does', () => {
    const example = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    }
    expect(canonicalJson(example)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  it('sorts keys by UTF-16 code units, as RFC 8785 shows', () => {
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
    const sorted = JSON.parse(canonicalJson(Object.fromEntries(keys.map(name => [name, 0]))))
    expect(Object.keys(sorted)).toEqual(['1', '\r', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'])
  })

  it('writes numbers as ECMAScript does', () => {
    expect(canonicalJson([0, -0, 5e-324, 1.7976931348623157e308, 9007199254740992, 1e21, 1e-7])).toBe(
      '[0,0,5e-324,1.7976931348623157e+308,9007199254740992,1e+21,1e-7]',
    )
  })

  it('does not depend on the order of keys, and parses back to the same value', () => {
    fc.assert(
      fc.property(jsonValue, value => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value))
        expect(JSON.parse(canonicalJson(value))).toEqual(value)
      }),
    )
  })

  it('leaves out what is undefined, and refuses what has no JSON form', () => {
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}')
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, Symbol('x'), undefined])
      expect(() => canonicalJson(value)).toThrow(Fault)
  })
})

describe('the text of a digest', () => {
  const approval: Ask = {
    kind: 'approval',
    tool: 'Bash',
    input: { command: 'ls', timeout: 1 },
    title: 'List',
    cwd: '/a',
    editable: false,
  }
  const changes: readonly [string, Partial<typeof approval>, boolean][] = [
    ['tool', { tool: 'Write' }, true],
    ['input', { input: { command: 'ls ', timeout: 1 } }, true],
    ['folder', { cwd: '/b' }, true],
    ['plan', { plan: 'first this' }, true],
    ['title', { title: 'Something else' }, false],
    ['description', { description: 'harmless' }, false],
    ['caution', { caution: { defaultToNo: true } }, false],
  ]
  it.each(changes)('of an approval with another %s', (_name, change, differs) => {
    expect(digestText(session, { ...approval, ...change } as Ask) !== digestText(session, approval)).toBe(differs)
  })
  it('names the session, so that an answer fits one session only', () => {
    const other = 'ses_11111111111111111111' as SessionId // twenty letters of the alphabet
    expect(digestText(other, approval)).not.toBe(digestText(session, approval))
  })
  it('is a pinned, canonical text', () => {
    expect(digestText(session, approval)).toBe(
      '{"cwd":"/a","input":{"command":"ls","timeout":1},"kind":"approval","session":"ses_00000000000000000000","tool":"Bash","version":1}',
    )
  })
})

describe('readJson', () => {
  const refused: readonly [string, string][] = [
    ['nothing', ''],
    ['a trailing comma', '{"a":1,}'],
    ['a byte order mark', '\ufeff{}'],
    ['a key that stands twice', '{"a":1,"a":2}'],
    ['a key that stands twice, once escaped', '{"a":1,"\\u0061":2}'],
    ['a key that stands twice, deep inside', '[{"x":{"b":[{"k":1,"j":{},"k":2}]}}]'],
    ['a key that stands twice after a nested object', '{"a":{"a":1},"a":2}'],
    ['the empty key twice', '{"":1,"":2}'],
    ['__proto__', '{"__proto__":{"x":1}}'],
    ['__proto__, escaped', '{"\\u005f_proto__":{"x":1}}'],
    ['constructor', '{"a":{"constructor":1}}'],
    ['prototype', '{"prototype":1}'],
    ['a raw lone surrogate', '{"a":"\ud800"}'],
    ['an escaped lone high surrogate', '{"a":"\\ud800"}'],
    ['an escaped lone low surrogate in a key', '{"\\udc00":1}'],
    ['surrogates the wrong way round', '"\\udc00\\ud800"'],
    ['a number too large to be one', '{"a":1e400}'],
    ['a negative number too large to be one', '[-1e999]'],
    ['a number of too many digits', `[${'9'.repeat(400)}]`],
  ]
  it.each(refused)('refuses %s', (_name, text) => {
    expect(() => parseJsonStrict(text)).toThrow(expect.objectContaining({ code: 'bad_json' }))
  })

  const accepted: readonly [string, string][] = [
    ['equal keys of different objects', '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}'],
    ['a key that is also a value', '{"a":"a","b":"a"}'],
    ['brackets and commas inside strings', '{"a":"},{\\"a\\":[,","b":"\\\\"}'],
    ['an escaped pair of surrogates', '"\\ud83d\\ude00"'],
    ['text that says __proto__', '{"a":"__proto__"}'],
    ['large numbers that are numbers', '[1e308,123456789012345678901234567890,1E+10]'],
    ['digits inside a string', `"${'9'.repeat(400)} 1e400"`],
  ]
  it.each(accepted)('reads %s', (_name, text) => {
    expect(parseJsonStrict(text)).toEqual(JSON.parse(text))
  })

  it('reads as deep as the limit, and no deeper', () => {
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

  it('reads back whatever JSON.stringify wrote', () => {
    fc.assert(fc.property(jsonValue, value => void expect(parseJsonStrict(JSON.stringify(value))).toEqual(value)))
    fc.assert(
      fc.property(jsonValue, value => void expect(parseJsonStrict(JSON.stringify(value, null, 2))).toEqual(value)),
    )
  })

  it('pollutes nothing', () => {
    for (const [, text] of refused)
      try {
        parseJsonStrict(text)
      } catch {}
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })
})
