import { limits } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AnswerDraft, changeDraft, decodeDraft, encodeDraft, isEmptyDraft } from '../src/draft.ts'

const through = (draft: AnswerDraft) => decodeDraft(JSON.parse(JSON.stringify(encodeDraft(draft))))

describe('a stored draft', () => {
  it('a stored draft decodes to the same draft', () => {
    const draft: AnswerDraft = {
      note: 'mind the gap',
      reason: 'not today',
      question: 'why?',
      comments: [
        { path: 'a.ts', edit: 2, line: 3, side: 'before', quote: 'let x', text: 'keep' },
        { quote: '', text: 'all of it' },
      ],
      edit: 'ls -l\n',
      mode: 'plan',
      answers: new Map([['constructor', { chosen: ['a', 'b'], other: 'c' }]]),
      values: new Map<string, string | boolean | readonly string[]>([
        ['__proto__', 'text'],
        ['on', false],
        ['list', ['x']],
      ]),
    }
    expect(through(draft)).toEqual(draft)
  })

  it('a stored draft is empty after all its fields are cleared', () => {
    const draft = changeDraft({ note: 'x', answers: new Map([['q', { chosen: ['a'] }]]) }, { note: '' })
    expect(isEmptyDraft(draft)).toBe(false)
    expect(isEmptyDraft(changeDraft(draft, { answers: new Map() }))).toBe(true)
  })

  it('a stored draft has no comments after the last comment is deleted, and leaves out comments that cannot be sent', () => {
    const comments = [{ line: 1, quote: 'ls', text: 'no' }]
    expect(isEmptyDraft(changeDraft({ comments }, { comments: [] }))).toBe(true)
    const long = { quote: 'x'.repeat(limits.quoteMax + 1), text: 'no' }
    const stored = [...comments, long, { quote: 'ls', text: '' }, { line: 0, quote: 'ls', text: 'no' }, 7, null]
    expect(decodeDraft({ version: 1, comments: stored })).toEqual({
      comments: [...comments, { quote: 'ls', text: 'no' }],
    })
    const tooMany = Array.from({ length: limits.commentsMax + 1 }, (_, i) => ({ line: i + 1, quote: 'ls', text: 'no' }))
    expect(decodeDraft({ version: 1, comments: tooMany }).comments).toHaveLength(limits.commentsMax)
  })

  it('a stored draft of another version or shape decodes to an empty draft', () => {
    expect(decodeDraft({ version: 2, note: 'from the future' })).toEqual({})
    expect(decodeDraft({ version: 1, note: 7, answers: [{ id: 1 }, null], values: 'x' })).toEqual({})
    fc.assert(fc.property(fc.anything(), value => typeof decodeDraft(value) === 'object'))
  })
})
