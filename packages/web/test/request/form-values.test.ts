import type { RawField } from '@holdpoint/client'
import type { FormField, FormSchema } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { controlOf, defaultRaw, draftValues, readForm, urlParts } from '../../src/request/form/form-values.ts'

const text = (more: object = {}): FormField => ({ type: 'string', ...more })
const schema: FormSchema = {
  type: 'object',
  required: ['name', 'count', 'tags'],
  properties: {
    name: text(),
    mail: text({ format: 'email' }),
    key: text({ format: 'password' }),
    count: { type: 'integer', minimum: 1, maximum: 9, default: 1 },
    loud: { type: 'boolean', default: true },
    tags: { type: 'array', items: { enum: ['x', 'y'] } },
    more: { type: 'array', items: {} },
  },
}
const raws = (entries: Record<string, RawField>) => new Map(Object.entries(entries))

describe('controlOf', () => {
  it.each([
    [text(), 'input'],
    [text({ maxLength: 2000 }), 'textarea'],
    [text({ default: 'two\nlines' }), 'textarea'],
    [text({ maxLength: 2000, format: 'uri' }), 'input'],
    [text({ enum: ['a', 'b'] }), 'radios'],
    [text({ enum: ['a', 'b', 'c', 'd', 'e', 'f'] }), 'select'],
    [{ type: 'number' }, 'input'],
    [{ type: 'boolean' }, 'switch'],
    [{ type: 'array', items: { enum: ['a'] } }, 'checkboxes'],
    [{ type: 'array', items: {} }, 'lines'],
  ] as const)('controlOf returns for the field %j the control “%s”', (field, control) => {
    expect(controlOf(field as FormField)).toBe(control)
  })
})

describe('readForm', () => {
  it('readForm returns the default values of an untouched form and reports missing required fields', () => {
    const { values, problems } = readForm(schema, new Map())
    expect(values).toEqual({ count: 1, loud: true, tags: [] })
    expect([...problems]).toEqual([['name', 'is required']])
  })
  it('readForm converts what the person entered to the types of the schema', () => {
    const { values, problems } = readForm(
      schema,
      raws({ name: 'Ana', count: ' 3 ', loud: false, tags: ['y'], more: 'one\n\ntwo\n' }),
    )
    expect(values).toEqual({ name: 'Ana', count: 3, loud: false, tags: ['y'], more: ['one', 'two'] })
    expect(problems.size).toBe(0)
  })
  it('readForm reports a problem for each invalid field', () => {
    const { problems } = readForm(schema, raws({ name: 'Ana', mail: 'nobody', count: 'many' }))
    expect(problems.get('mail')).toBe('must be an email address')
    expect(problems.get('count')).toBe('must be a whole number')
    expect(readForm(schema, raws({ count: '12' })).problems.get('count')).toBe('must be at most 9')
  })
})

describe('draftValues', () => {
  it('draftValues leaves out secrets, unchanged default values and unknown fields', () => {
    const values = draftValues(schema, raws({ name: 'Ana', key: 'hunter2', count: '1', gone: 'x' }))
    expect([...values]).toEqual([['name', 'Ana']])
    expect(defaultRaw({ type: 'integer', default: 1 })).toBe('1')
  })
})

describe('urlParts', () => {
  it.each([
    ['https://example.com/a?b#c', 'https://', 'example.com', '/a?b#c'],
    ['https://bank.example@evil.example:8443/x', 'https://bank.example@', 'evil.example:8443', '/x'],
    ['http://u:p@[::1]:80/', 'http://u:p@', '[::1]', '/'],
    ['https://bücher.example/', 'https://', 'xn--bcher-kva.example', '/'],
  ])('urlParts splits %s around its host', (url, before, host, after) => {
    expect(urlParts(url)).toEqual({ before, host, after })
  })
})
