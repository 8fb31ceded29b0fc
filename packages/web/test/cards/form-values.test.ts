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

describe('the control of a field', () => {
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
  ] as const)('of %j is %s', (field, control) => {
    expect(controlOf(field as FormField)).toBe(control)
  })
})

describe('what is filled in', () => {
  it('is the presets where nothing is touched, with what is missing named at its field', () => {
    const { values, problems } = readForm(schema, new Map())
    expect(values).toEqual({ count: 1, loud: true, tags: [] })
    expect([...problems]).toEqual([['name', 'is required']])
  })
  it('has the types that the schema asks for', () => {
    const { values, problems } = readForm(
      schema,
      raws({ name: 'Ana', count: ' 3 ', loud: false, tags: ['y'], more: 'one\n\ntwo\n' }),
    )
    expect(values).toEqual({ name: 'Ana', count: 3, loud: false, tags: ['y'], more: ['one', 'two'] })
    expect(problems.size).toBe(0)
  })
  it('says at each field what is wrong with it', () => {
    const { problems } = readForm(schema, raws({ name: 'Ana', mail: 'nobody', count: 'many' }))
    expect(problems.get('mail')).toBe('must be an e-mail address')
    expect(problems.get('count')).toBe('must be a whole number')
    expect(readForm(schema, raws({ count: '12' })).problems.get('count')).toBe('must be at most 9')
  })
  it('is kept as a draft without secrets and without what was not changed', () => {
    const kept = draftValues(schema, raws({ name: 'Ana', key: 'hunter2', count: '1', gone: 'x' }))
    expect([...kept]).toEqual([['name', 'Ana']])
    expect(defaultRaw({ type: 'integer', default: 1 })).toBe('1')
  })
})

describe('an address', () => {
  it.each([
    ['https://example.com/a?b#c', 'https://', 'example.com', '/a?b#c'],
    ['https://bank.example@evil.example:8443/x', 'https://bank.example@', 'evil.example:8443', '/x'],
    ['http://u:p@[::1]:80/', 'http://u:p@', '[::1]', '/'],
    ['https://bücher.example/', 'https://', 'xn--bcher-kva.example', '/'],
  ])('%s is cut around its host', (address, before, host, after) => {
    expect(urlParts(address)).toEqual({ before, host, after })
  })
})
