/** Conversion between a prompt and its draft. */
import type { DraftChoice, RawField } from '@holdpoint/client'
import type { Answer, Ask, Question } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { handlePromptKey, openPrompt, type Prompt } from '../src/tui/prompt/prompt.ts'
import { draftFromPrompt, withDraft } from '../src/tui/prompt/prompt-draft.ts'
import { KeyParser } from '../src/tui/terminal/key-parser.ts'
import { pendingRequest } from './support/request.ts'

function promptOf(ask: Ask): Prompt {
  return { ...openPrompt(pendingRequest(ask), []), isFullyShown: true }
}
const view = { columns: 80, lines: 1, height: 20, top: 0 }
/** Handles each chunk as separate input. */
function press(prompt: Prompt, ...chunks: readonly string[]): { readonly prompt: Prompt; readonly answer?: Answer } {
  let turn: { readonly prompt: Prompt; readonly answer?: Answer } = { prompt }
  for (const chunk of chunks) {
    const reader = new KeyParser()
    for (const key of [...reader.push(chunk), ...reader.flush()]) turn = handlePromptKey(turn.prompt, key, view)
  }
  return turn
}
function questions(...more: readonly Partial<Question>[]): Ask {
  const base = { header: '', question: 'Which?', multiSelect: false, allowOther: true, secret: false }
  const options = ['Red', 'Green'].map(label => ({ label }))
  return { kind: 'questions', questions: more.map((one, n) => ({ ...base, id: `q${n}`, options, ...one })) }
}
const answers = (...choices: readonly [string, DraftChoice][]) => ({ answers: new Map(choices) })
const values = (...raws: readonly [string, RawField][]) => ({ values: new Map(raws) })
const form: Ask = {
  kind: 'form',
  title: 'Parcel',
  message: '',
  schema: {
    type: 'object',
    properties: {
      to: { type: 'string', default: 'Ana' },
      gift: { type: 'boolean' },
      pass: { type: 'string', format: 'password' },
    },
  },
}
const enter = '\r'

describe('an answer cleared on another device', () => {
  it('an answer cleared on another device is cleared in a questions prompt, and answers to other questions stay', () => {
    const ask = questions({}, { multiSelect: true }, { options: [] })
    const draft = answers(
      ['q0', { chosen: ['Red'] }],
      ['q1', { chosen: ['Green'] }],
      ['q2', { chosen: [], other: 'soon', own: true }],
    )
    const prompt = withDraft(promptOf(ask), draft)
    expect(draftFromPrompt(prompt)).toMatchObject(draft)
    const less = answers(['q1', { chosen: ['Green'] }])
    expect(draftFromPrompt(withDraft(prompt, less))).toMatchObject(less)
    expect(draftFromPrompt(withDraft(prompt, {}))).toMatchObject(answers())
  })

  it('an answer cleared on another device is reset to its default in a form prompt, and values of other fields stay', () => {
    const draft = values(['to', 'Bo'], ['gift', true])
    const prompt = withDraft(promptOf(form), draft)
    expect(draftFromPrompt(prompt)).toMatchObject(draft)
    expect(draftFromPrompt(withDraft(prompt, values(['gift', true])))).toMatchObject(values(['gift', true]))
    expect(withDraft(prompt, {}).state).toEqual(promptOf(form).state)
  })
})

describe('a draft from another device', () => {
  it('a draft from another device answers a question that was skipped in this terminal', () => {
    const skipped = press(promptOf(questions({}, {})), 's').prompt
    const { answer } = press(withDraft(skipped, answers(['q0', { chosen: ['Red'] }])), enter, '2', enter)
    expect(answer).toEqual({
      kind: 'answers',
      answers: [
        { id: 'q0', chosen: ['Red'] },
        { id: 'q1', chosen: ['Green'] },
      ],
    })
  })

  it('a draft from another device does not change a secret that is being typed in a question', () => {
    const typing = press(promptOf(questions({ secret: true }, {})), 'o', 'hunter').prompt
    const followed = [answers(['q0', { chosen: ['Red'] }]), answers(['q1', { chosen: ['Green'] }]), {}]
    for (const draft of followed) {
      const { answer } = press(withDraft(typing, draft), '2', enter, '1', enter)
      expect(answer).toMatchObject({ answers: [{ other: 'hunter2' }, { chosen: ['Red'] }] })
    }
  })

  it('a draft from another device does not change a secret that is being typed in a form', () => {
    const typing = press(promptOf(form), enter, 'y', enter, 'hunter').prompt
    const { answer } = press(withDraft(typing, {}), enter, '2', enter, enter)
    expect(answer).toEqual({ kind: 'submit', values: { to: 'Ana', pass: 'hunter2' } })
  })

  it('a draft from another device moves the prompt back to a confirmed answer only if the draft changes that answer', () => {
    const red = answers(['q0', { chosen: ['Red'] }])
    const second = press(withDraft(promptOf(questions({}, {})), red), enter).prompt
    expect(withDraft(second, red)).toMatchObject({ state: { index: 1 }, hint: null })
    const ahead = withDraft(second, answers(['q0', { chosen: ['Red'] }], ['q1', { chosen: ['Green'] }]))
    expect(ahead).toMatchObject({ state: { index: 1 }, hint: null })
    const changed = withDraft(second, answers(['q0', { chosen: ['Green'] }]))
    expect(changed).toMatchObject({ state: { index: 0 }, hint: expect.stringMatching(/changed on another device/) })
    const filled = press(promptOf(form), enter, 'y', enter, enter).prompt
    expect(withDraft(filled, values(['to', 'Bo'], ['gift', true]))).toMatchObject({
      state: { index: 0 },
      hint: expect.stringMatching(/changed on another device/),
    })
  })
})
