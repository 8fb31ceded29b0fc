import type { Question, QuestionsAsk } from '@holdpoint/protocol'
import { answerProblem } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import {
  answerOf,
  answersOf,
  draftChoices,
  instantQuestion,
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

describe('a single-choice question', () => {
  it('a single-choice question keeps only the last picked option', () => {
    const picked = pickOption(one, pickOption(one, nothingPicked, 'a'), 'b')
    expect(answerOf(one, picked)).toEqual({ id: 'one', chosen: ['b'] })
  })
  it('a single-choice question replaces the picked option with the text under “Other”, and restores the text when “Other” is chosen again', () => {
    const written = writeOther(one, pickOption(one, nothingPicked, 'a'), 'mine')
    expect(answerOf(one, written)).toEqual({ id: 'one', chosen: [], other: 'mine' })
    const picked = pickOption(one, written, 'a')
    expect(answerOf(one, picked)).toEqual({ id: 'one', chosen: ['a'] })
    expect(answerOf(one, toggleOther(one, picked))).toEqual({ id: 'one', chosen: [], other: 'mine' })
  })
  it('a single-choice question stays unanswered if the text under “Other” is blank', () => {
    expect(answerOf(one, writeOther(one, nothingPicked, '  '))).toBeNull()
  })
})

describe('a multiple-choice question', () => {
  it('a multiple-choice question is answered with the picked options in the offered order and the text under “Other”', () => {
    const picked = writeOther(many, pickOption(many, pickOption(many, nothingPicked, 'b'), 'a'), 'c')
    expect(answerOf(many, picked)).toEqual({ id: 'many', chosen: ['a', 'b'], other: 'c' })
    expect(answerOf(many, toggleOther(many, picked))).toEqual({ id: 'many', chosen: ['a', 'b'] })
  })
  it('a multiple-choice question deselects an option that the person picks a second time', () => {
    expect(answerOf(many, pickOption(many, pickOption(many, nothingPicked, 'a'), 'a'))).toBeNull()
  })
})

describe('a card with several questions', () => {
  const picks = new Map([
    ['one', pickOption(one, nothingPicked, 'a')],
    ['secret', writeOther(secret, nothingPicked, 'hunter2')],
  ])
  it('a card with several questions sends the answered questions and leaves out the others', () => {
    const answers = [...answersOf(ask, picks)]
    expect(answers.map(answer => answer.id)).toEqual(['one', 'secret'])
    expect(answerProblem(ask, { kind: 'answers', answers })).toBeNull()
  })
  it('a card with several questions stores no secret in its draft', () => {
    expect([...draftChoices(ask, picks)]).toEqual([['one', { chosen: ['a'] }]])
  })
  it('a card with several questions restores its picks from the draft', () => {
    const written = writeOther(one, nothingPicked, 'mine')
    const stored = draftChoices(ask, new Map([['one', written]])).get('one')
    expect(pickedFromDraft(stored)).toEqual(written)
  })
  it('on a card with several questions, the number keys answer the first unanswered question if no question is focused', () => {
    expect(questionForKeys(ask, picks, null)?.id).toBe('many')
  })
  it('on a card with several questions, the number keys answer the focused question', () => {
    expect(questionForKeys(ask, picks, 'one')?.id).toBe('one')
  })
})

describe('a question that is answered with one click', () => {
  const asks = (...questions: readonly Question[]): QuestionsAsk => ({ kind: 'questions', questions: [...questions] })

  it('a question that is answered with one click is the only question of its request and has exactly two options', () => {
    expect(instantQuestion(asks(one))).toBe(one)
    expect(instantQuestion(asks(one, question('two')))).toBeNull()
    expect(instantQuestion(asks(many))).toBeNull()
    expect(
      instantQuestion(asks(question('three', { options: [{ label: 'a' }, { label: 'b' }, { label: 'c' }] }))),
    ).toBeNull()
  })
  it('a question that is answered with one click has no previews, because a person compares previews before choosing', () => {
    expect(
      instantQuestion(asks(question('seen', { options: [{ label: 'a', preview: 'x' }, { label: 'b' }] }))),
    ).toBeNull()
  })
})
