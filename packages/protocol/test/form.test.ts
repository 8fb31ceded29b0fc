/** Checks every keyword of forms with valid values and with values just beyond each limit. */
import { describe, expect, it } from 'vitest'
import { type FormField, FormSchema, fieldChoices, formProblem, type Json, limits } from '../src/index.ts'

const text = (change: object = {}): FormField => ({ type: 'string', ...change }) as FormField // the row contains the remaining fields
const rows: readonly [string, FormField, readonly unknown[], readonly unknown[]][] = [
  ['string', text(), ['', 'a', 'é'], [1, null, true, [], {}]],
  ['minLength', text({ minLength: 2 }), ['ab', '😀😀'], ['a', '', '😀']],
  ['maxLength', text({ maxLength: 2 }), ['ab', '', '😀😀'], ['abc']],
  ['enum', text({ enum: ['a', 'b'] }), ['a', 'b'], ['c', '', 'A', 'toString']],
  ['oneOf', text({ oneOf: [{ const: 'a', title: 'A' }] }), ['a'], ['A', 'b']],
  ['email', text({ format: 'email' }), ['a@b.co'], ['a', 'a@', '@b.co']],
  ['uri', text({ format: 'uri' }), ['https://a.b/c', 'mailto:a@b.co'], ['a b', '/c']],
  ['date', text({ format: 'date' }), ['2026-01-31'], ['2026-02-30', '31.01.2026', '2026-1-1']],
  [
    'date-time',
    text({ format: 'date-time' }),
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00+01:00'],
    ['2026-01-31', '12:00'],
  ],
  ['an unknown format', text({ format: 'color' }), ['anything'], [1]],
  ['number', { type: 'number' }, [0, -1.5, 1e308], ['1', null, true, Number.POSITIVE_INFINITY, Number.NaN]],
  ['integer', { type: 'integer' }, [0, -3], [1.5, '1', Number.POSITIVE_INFINITY]],
  ['minimum', { type: 'number', minimum: 1 }, [1, 1.1], [0.9]],
  ['maximum', { type: 'number', maximum: 1 }, [1, 0], [1.1]],
  ['boolean', { type: 'boolean' }, [true, false], ['true', 0, null]],
  [
    'a list with enum',
    { type: 'array', items: { enum: ['a', 'b'] } },
    [[], ['a'], ['b', 'a']],
    [['c'], ['a', 'a'], 'a', [1]],
  ],
  ['a list with anyOf', { type: 'array', items: { anyOf: [{ const: 'a' }] } }, [['a']], [['b']]],
  ['minItems', { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 }, [['a']], [[]]],
  ['maxItems', { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, [['a'], []], [['a', 'b']]],
]

describe('a form field', () => {
  it.each(rows)(
    'a form field with %s accepts valid values and refuses invalid values',
    (_name, field, fitting, not) => {
      const schema: FormSchema = { type: 'object', properties: { f: field } }
      for (const value of fitting) expect(formProblem(schema, { f: value }), JSON.stringify(value)).toBeNull()
      for (const value of not) expect(formProblem(schema, { f: value }), JSON.stringify(value)).toContain('"f"')
    },
  )
})

describe('a form', () => {
  const schema: FormSchema = { type: 'object', properties: { a: text(), b: text() }, required: ['a'] }
  it('a form needs its required fields, but not its optional fields', () => {
    expect(formProblem(schema, { a: 'x' })).toBeNull()
    expect(formProblem(schema, { b: 'x' })).toBe('"a" is required')
  })
  it('a form refuses an unknown field', () => {
    expect(formProblem(schema, { a: 'x', c: 1 })).toBe('"c" is not a field of this form')
  })
  it('a form does not mistake inherited properties for fields', () => {
    const inherited: FormSchema = { type: 'object', properties: { toString: text() }, required: ['toString'] }
    expect(formProblem(inherited, {})).toBe('"toString" is required')
    expect(formProblem(inherited, { toString: 'x' })).toBeNull()
    expect(formProblem({ type: 'object', properties: { toString: text() } }, {})).toBeNull()
    expect(formProblem(schema, { a: 'x', valueOf: 'y' })).toContain('valueOf')
  })
  it('the error for a form field uses the singular for one character or choice, and otherwise the plural', () => {
    const problem = (field: FormField, value: Json) =>
      formProblem({ type: 'object', properties: { a: field } }, { a: value })
    const list = (change: object) => ({ type: 'array', items: { enum: ['a', 'b'] }, ...change }) as FormField // the row contains the remaining fields
    expect(problem(list({ minItems: 1 }), [])).toBe('"a" needs at least 1 choice')
    expect(problem(list({ minItems: 2 }), [])).toBe('"a" needs at least 2 choices')
    expect(problem(text({ minLength: 1 }), '')).toBe('"a" must have at least 1 character')
    expect(problem(text({ maxLength: 2 }), 'abc')).toBe('"a" must have at most 2 characters')
  })
  it('a form has at most `fieldsMax` fields', () => {
    const of = (count: number) => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { type: 'boolean' }])),
    })
    expect(FormSchema.safeParse(of(limits.fieldsMax)).success).toBe(true)
    expect(FormSchema.safeParse(of(limits.fieldsMax + 1)).success).toBe(false)
  })
  it('a form can require only fields that it has', () => {
    expect(FormSchema.safeParse({ type: 'object', properties: {}, required: ['x'] }).success).toBe(false)
    expect(FormSchema.safeParse({ type: 'object', properties: {}, required: ['toString'] }).success).toBe(false)
  })
  it('a form lists the choices of a field with their titles', () => {
    expect(fieldChoices(text({ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }))).toEqual([
      { value: 'a', title: 'A' },
      { value: 'b', title: 'b' },
    ])
    expect(fieldChoices(text())).toBeNull()
    expect(fieldChoices({ type: 'boolean' })).toBeNull()
  })
})
