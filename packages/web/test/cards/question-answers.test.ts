import type { Question, QuestionsAsk } from '@holdpoint/protocol'
import { answerProblem } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import {
  answerOf,
  answersOf,
  draftChoices,
  nothingPicked,
  pickedFromDraft,
  pickOption,
  questionForKeys,
  toggleOther,
  writeOther,
} from '../../src/request/questions/question-answers.ts'

const question = (id: string, more: Partial<Question> = {}): Question => ({
  id,
  header: '',
  question: `${id}?`,
  options: [{ label: 'a' }, { label: 'b' }],
  multiSelect: false,
  allowOther: true,
  secret: false,
  ...more,
})
const one = question('one')
const many = question('many', { multiSelect: true })
const secret = question('secret', { options: [], secret: true })
const ask: QuestionsAsk = { kind: 'questions', questions: [one, many, secret] }

describe('a single choice', () => {
  it('takes one option, the last that was picked', () => {
    const picked = pickOption(one, pickOption(one, nothingPicked, 'a'), 'b')
    expect(answerOf(one, picked)).toEqual({ id: 'one', chosen: ['b'] })
  })
  it('takes words of one’s own instead, and gives them back when one returns to them', () => {
    const written = writeOther(one, pickOption(one, nothingPicked, 'a'), 'mine')
    expect(answerOf(one, written)).toEqual({ id: 'one', chosen: [], other: 'mine' })
    const picked = pickOption(one, written, 'a')
    expect(answerOf(one, picked)).toEqual({ id: 'one', chosen: ['a'] })
    expect(answerOf(one, toggleOther(one, picked))).toEqual({ id: 'one', chosen: [], other: 'mine' })
  })
  it('is not answered by blanks', () => {
    expect(answerOf(one, writeOther(one, nothingPicked, '  '))).toBeNull()
  })
})

describe('a choice of several', () => {
  it('takes options in the order in which they were offered, and words beside them', () => {
    const picked = writeOther(many, pickOption(many, pickOption(many, nothingPicked, 'b'), 'a'), 'c')
    expect(answerOf(many, picked)).toEqual({ id: 'many', chosen: ['a', 'b'], other: 'c' })
    expect(answerOf(many, toggleOther(many, picked))).toEqual({ id: 'many', chosen: ['a', 'b'] })
  })
  it('lets an option go again', () => {
    expect(answerOf(many, pickOption(many, pickOption(many, nothingPicked, 'a'), 'a'))).toBeNull()
  })
})

describe('a card of questions', () => {
  const picks = new Map([
    ['one', pickOption(one, nothingPicked, 'a')],
    ['secret', writeOther(secret, nothingPicked, 'hunter2')],
  ])
  it('sends what is answered and leaves out the rest', () => {
    const answers = [...answersOf(ask, picks)]
    expect(answers.map(answer => answer.id)).toEqual(['one', 'secret'])
    expect(answerProblem(ask, { kind: 'answers', answers })).toBeNull()
  })
  it('keeps no secret in its draft', () => {
    expect([...draftChoices(ask, picks)]).toEqual([['one', { chosen: ['a'] }]])
  })
  it('is drawn from its draft as it was left', () => {
    const written = writeOther(one, nothingPicked, 'mine')
    const back = draftChoices(ask, new Map([['one', written]])).get('one')
    expect(pickedFromDraft(back)).toEqual(written)
  })
  it('has number keys speak to the first question that is open', () => {
    expect(questionForKeys(ask, picks, null)?.id).toBe('many')
  })
  it('has them speak to the one that the person is at', () => {
    expect(questionForKeys(ask, picks, 'one')?.id).toBe('one')
  })
})
