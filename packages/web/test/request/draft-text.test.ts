import type { RawField } from '@holdpoint/client'
import type { Ask, Question } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { draftText } from '../../src/request/draft/draft-text.ts'

const question = (id: string, header: string): Question => ({
  id,
  header,
  question: `${id}?`,
  options: [{ label: 'a' }, { label: 'b' }],
  multiSelect: true,
  allowOther: true,
  secret: false,
})
const approval: Ask = { kind: 'approval', tool: 'Bash', input: {}, title: '', cwd: '/', editable: true }

describe('draftText', () => {
  it('draftText returns the typed text, and an empty string if nothing was typed', () => {
    expect(draftText(approval, { reason: 'not now' })).toBe('not now')
    expect(draftText(approval, { edit: 'ls -l', note: 'mind' })).toBe('ls -l\nmind')
    expect(draftText(approval, { mode: 'plan', note: '  ' })).toBe('')
  })
  it('draftText labels each answer with its question’s header or text if there are several questions', () => {
    const answers = new Map([
      ['two', { chosen: ['b'], other: 'c' }],
      ['one', { chosen: [], own: true }],
    ])
    const two: Ask = { kind: 'questions', questions: [question('one', 'One'), question('two', '')] }
    expect(draftText(two, { answers })).toBe('two?: b, c')
    expect(draftText({ kind: 'questions', questions: [question('two', 'Two')] }, { answers })).toBe('b, c')
  })
  it('draftText labels form values with their field titles', () => {
    const ask: Ask = {
      kind: 'form',
      title: '',
      message: '',
      schema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Name' },
          loud: { type: 'boolean' },
          tags: { type: 'array', items: { enum: ['x', 'y'] } },
        },
      },
    }
    const values = new Map<string, RawField>([
      ['tags', ['x', 'y']],
      ['loud', false],
      ['name', 'Ada'],
      ['gone', '?'],
    ])
    expect(draftText(ask, { values })).toBe('Name: Ada\nloud: no\ntags: x, y')
  })
})
