/** Questions and forms in `holdpoint run`, in a real pseudo-terminal. */
import type { Ask, Question } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type SharedRun, shareRun } from './support/run-fixture.ts'
import type { SessionFixture } from './support/session-fixture.ts'
import { keys } from './support/terminal.ts'

let fixture: SessionFixture
let run: SharedRun
shareRun(opened => {
  fixture = opened.fixture
  run = opened.run
})

let count = 0
function question(more: Partial<Question> = {}): Ask {
  const options = ['Red', 'Green', 'Blue'].map(label => ({ label }))
  const base = {
    id: 'q',
    header: '',
    question: `Which one, number ${++count}?`,
    options,
    multiSelect: false,
    allowOther: false,
    secret: false,
  }
  return { kind: 'questions', questions: [{ ...base, ...more }] }
}

describe('a choice question in holdpoint run', () => {
  const chosen = (...labels: string[]) => ({ kind: 'answers', answers: [{ id: 'q', chosen: labels }] })

  it('a choice question in holdpoint run is answered with arrows and Enter, and has no option selected at first', async () => {
    const request = await run.askAndWaitFor(question(), 'Enter confirm')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Choose one by its number')
    run.terminal.press(keys.down)
    await run.terminal.waitFor('› 1  Red')
    run.terminal.press(keys.down)
    await run.terminal.waitFor('› 2  Green')
    run.terminal.press(keys.up, keys.up)
    await run.terminal.waitFor('› 3  Blue')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual(chosen('Blue'))
  })
  it('a choice question in holdpoint run is answered with a digit and Enter; a digit out of range shows a hint', async () => {
    const request = await run.askAndWaitFor(question(), 'Enter confirm')
    run.terminal.press('7')
    await run.terminal.waitFor('Choose by number')
    await run.terminal.waitFor('Enter confirm')
    run.terminal.press('2')
    await run.terminal.waitFor('› 2  Green')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual(chosen('Green'))
    await run.terminal.waitFor('answered by you: Green')
  })
  it('a multiple-choice question in holdpoint run is answered by marking options with space and digits', async () => {
    const request = await run.askAndWaitFor(question({ multiSelect: true }), 'space mark')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Mark one or more')
    run.terminal.press(keys.down)
    await run.terminal.waitFor('› 1')
    run.terminal.press(' ')
    await run.terminal.waitFor('[x] Red')
    run.terminal.press('3')
    await run.terminal.waitFor('[x] Blue')
    run.terminal.press('3')
    await run.terminal.waitFor('[ ] Blue')
    run.terminal.press('2')
    await run.terminal.waitFor('[x] Green')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual(chosen('Red', 'Green'))
  })
  it('a choice question that allows other answers is answered in holdpoint run with the text typed after the key o', async () => {
    const request = await run.askAndWaitFor(question({ allowOther: true }), 'o another answer')
    run.terminal.press('o')
    await run.terminal.waitFor('Answer ›')
    await run.terminal.type('Grey')
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual({
      kind: 'answers',
      answers: [{ id: 'q', chosen: [], other: 'Grey' }],
    })
  })
  it('a choice question that allows no other answer shows a hint in holdpoint run after the key o, and is declined with the key r', async () => {
    const request = await run.askAndWaitFor(question(), 'Enter confirm')
    run.terminal.press('o')
    await run.terminal.waitFor('only choose from the options')
    await run.terminal.pause()
    run.terminal.press('r')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'decline' })
    await run.terminal.waitFor('declined by you')
  })
  it('a choice question in holdpoint run is followed by the next question; the left arrow goes back, and the key s skips a question', async () => {
    const base = {
      header: 'Head',
      options: [{ label: 'Yes' }, { label: 'No' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    }
    const ask: Ask = {
      kind: 'questions',
      questions: [
        { ...base, id: 'one', question: 'First?' },
        { ...base, id: 'two', question: 'Second?' },
        { ...base, id: 'three', question: 'Third?' },
      ],
    }
    const request = await run.askAndWaitFor(ask, 'Enter confirm')
    await run.terminal.waitFor('Question 1 of 3')
    run.terminal.press('1')
    await run.terminal.waitFor('› 1  Yes')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Second?')
    run.terminal.press(keys.left)
    await run.terminal.waitFor('› 1  Yes')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Second?')
    await run.terminal.pause()
    run.terminal.press('s')
    await run.terminal.waitFor('Third?')
    run.terminal.press('2')
    await run.terminal.waitFor('› 2  No')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual({
      kind: 'answers',
      answers: [
        { id: 'one', chosen: ['Yes'] },
        { id: 'three', chosen: ['No'] },
      ],
    })
  })
})

describe('a text question in holdpoint run', () => {
  const text = (more: Partial<Question> = {}): Ask => question({ options: [], allowOther: true, ...more })
  const ownAnswer = (other: string) => ({ kind: 'answers', answers: [{ id: 'q', chosen: [], other }] })

  it('a text question in holdpoint run is answered with a line of text; an empty answer shows a hint', async () => {
    const request = await run.askAndWaitFor(text(), '/decline [reason]')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('The answer is empty')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.type('so')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual(ownAnswer('so'))
  })
  it('a text question in holdpoint run is not answered by Enter right after the text, which may have been meant for another field', async () => {
    const request = await run.askAndWaitFor(text(), '/decline [reason]')
    await run.terminal.type('go on')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Check your answer, then press Enter again to send it.')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual(ownAnswer('go on'))
  })
  it('a text question in holdpoint run is declined with /decline', async () => {
    const request = await run.askAndWaitFor(text(), '/decline [reason]')
    await run.terminal.type('/decline')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'decline' })
  })
  it('a text question in holdpoint run is answered with the text from the editor after /edit', async () => {
    const request = await run.askAndWaitFor(text(), '/decline [reason]')
    await run.terminal.type('/edit')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('npm run edited▏')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual(ownAnswer('npm run edited'))
  })
  it('a text question in holdpoint run supports the keys that move the caret, and keeps the line breaks of a paste', async () => {
    const request = await run.askAndWaitFor(text(), '/decline [reason]')
    await run.terminal.type('abd')
    run.terminal.press(keys.left)
    await run.terminal.waitFor('ab▏d')
    run.terminal.press('c', keys.end)
    await run.terminal.waitFor('abcd▏')
    run.terminal.press(keys.backspace)
    await run.terminal.waitFor('abc▏')
    run.terminal.press('\u001b[200~ one\rtwo\u001b[201~')
    await run.terminal.waitFor('two▏')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual(ownAnswer('abc one\ntwo'))
  })
  it('a text question in holdpoint run masks a secret, so that the secret appears neither on the screen nor in a file', async () => {
    const request = await run.askAndWaitFor(text({ secret: true }), 'Secret ›')
    await run.terminal.waitFor('/decline [reason]')
    await run.terminal.type('hunter2')
    await run.terminal.waitFor('•••••••▏')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    await fixture.waitForResolved(request)
    await run.terminal.waitFor('answered by you')
    expect(run.terminal.raw).not.toContain('hunter2')
  })
})

describe('a form in holdpoint run', () => {
  const form: Ask = {
    kind: 'form',
    title: 'A card',
    message: 'For the parcel.',
    schema: {
      type: 'object',
      required: ['to', 'count'],
      properties: {
        to: { type: 'string', title: 'To' },
        mail: { type: 'string', title: 'E-mail', format: 'email' },
        count: { type: 'integer', title: 'Copies', minimum: 1, maximum: 9 },
        tone: { type: 'string', title: 'Tone', enum: ['warm', 'plain'] },
        gift: { type: 'boolean', title: 'Gift' },
        extras: { type: 'array', title: 'Extras', items: { enum: ['bow', 'card'] } },
      },
    },
  }
  it('a form in holdpoint run is filled in field by field, validated, reviewed and sent', async () => {
    const request = await run.askAndWaitFor(form, '› To')
    await run.terminal.waitFor('Enter next')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('"to" is required')
    await run.terminal.type('Ana')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('› E-mail')
    await run.terminal.type('ana')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('must be an email address')
    await run.terminal.type('@example.org')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('› Copies')
    await run.terminal.type('many')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('must be a whole number')
    run.terminal.press('\u0015')
    await run.terminal.waitFor('› ▏')
    await run.terminal.type('12')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('must be at most 9')
    run.terminal.press(keys.backspace)
    await run.terminal.waitFor('› 1▏')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('› Tone')
    run.terminal.press('2')
    await run.terminal.waitFor('› 2  plain')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('› Gift')
    run.terminal.press('y')
    await run.terminal.waitFor('› 1  Yes')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('› Extras')
    run.terminal.press('1')
    await run.terminal.waitFor('[x] bow')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('[a] Send')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    const values = { to: 'Ana', mail: 'ana@example.org', count: 1, tone: 'plain', gift: true, extras: ['bow'] }
    expect(await fixture.answerTo(request)).toEqual({ kind: 'submit', values })
  })
  it('a form in holdpoint run is declined with /decline in a text field and with the key r elsewhere', async () => {
    const first = await run.askAndWaitFor(form, 'Enter next')
    await run.terminal.type('/decline')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(first)).toEqual({ kind: 'decline' })
    const schema = { type: 'object' as const, properties: { gift: { type: 'boolean' as const } } }
    const second = await run.askAndWaitFor({ ...form, schema }, 'r decline')
    run.terminal.press('r')
    expect(await fixture.answerTo(second)).toEqual({ kind: 'decline' })
  })
})
