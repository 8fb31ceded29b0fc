/** Tests the defaults of asks, which let an agent leave out optional fields. */
import { describe, expect, it } from 'vitest'
import { type Ask, AskInput, withFolder } from '../src/index.ts'

describe('an ask', () => {
  it('an approval needs only a tool and its input', () => {
    expect(AskInput.parse({ kind: 'approval', tool: 'Bash', input: { command: 'ls' } })).toEqual({
      kind: 'approval',
      tool: 'Bash',
      input: { command: 'ls' },
      title: 'Bash',
      cwd: '',
      editable: false,
    })
  })
  it('a question needs only an id, its text, and options or `allowOther`', () => {
    const text = { id: 'q', question: 'Why?', allowOther: true }
    expect(AskInput.parse({ kind: 'questions', questions: [text] })).toEqual({
      kind: 'questions',
      questions: [{ ...text, header: '', options: [], multiSelect: false, secret: false }],
    })
    const neither = AskInput.safeParse({ kind: 'questions', questions: [{ id: 'q', question: 'Why?' }] })
    expect(neither.error?.issues[0]?.message).toBe('needs at least one option, or allowOther')
  })
  it('a question with options takes one of them', () => {
    const question = { id: 'q', question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }
    expect(AskInput.parse({ kind: 'questions', questions: [question] })).toMatchObject({
      questions: [{ multiSelect: false, allowOther: false, secret: false }],
    })
  })
  it('a form needs only its schema', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } } }
    expect(AskInput.parse({ kind: 'form', schema })).toEqual({ kind: 'form', title: 'Form', message: '', schema })
  })
  it('default values do not replace values that the agent sends in an ask', () => {
    const ask = { kind: 'approval', tool: 'Bash', input: {}, title: 'List', cwd: '/srv', editable: true }
    expect(AskInput.parse(ask)).toEqual(ask)
    expect(AskInput.parse(AskInput.parse(ask)), 'parsing again changes nothing').toEqual(ask)
  })
  it('an approval without a folder gets the folder of its session', () => {
    const ask = AskInput.parse({ kind: 'approval', tool: 'Bash', input: {} })
    expect(withFolder(ask, '/srv')).toMatchObject({ cwd: '/srv' })
    expect(withFolder({ ...ask, cwd: '/tmp' } as Ask, '/srv')).toMatchObject({ cwd: '/tmp' })
  })
})
