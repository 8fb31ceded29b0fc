/** `holdpoint run` in a real pseudo-terminal: the help, tool output, Ctrl+C on a request, and the letter r in a text field. */
import type { Ask } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { approvalOf as approval, type SharedRun, shareRun } from './support/run-fixture.ts'
import type { SessionFixture } from './support/session-fixture.ts'
import { keys } from './support/terminal.ts'

let fixture: SessionFixture
let run: SharedRun
shareRun(opened => {
  fixture = opened.fixture
  run = opened.run
})

const textQuestion: Ask = {
  kind: 'questions',
  questions: [
    { id: 'q', header: '', question: 'Why?', options: [], multiSelect: false, allowOther: true, secret: false },
  ],
}

describe('Ctrl+C on a request in holdpoint run', () => {
  it('Ctrl+C on a request in holdpoint run denies an approval that was read, and stops the turn', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press(keys.ctrlC)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'deny', interrupt: true })
    await run.terminal.waitFor('denied')
  })
  it('Ctrl+C on a request in holdpoint run declines a question that was read, and stops the turn', async () => {
    const request = await run.askAndWaitFor(textQuestion, '/decline [reason]')
    run.terminal.press(keys.ctrlC)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'decline', interrupt: true })
  })
  it('Ctrl+C on a request in holdpoint run asks first if the request has not been read to its end, and any other key cancels', async () => {
    const command = Array.from({ length: 60 }, (_, index) => `echo ${index}`).join('\n')
    const request = await run.askAndWaitFor(approval({ input: { command } }), 'read it all first')
    run.terminal.press(keys.ctrlC)
    await run.terminal.waitFor('Press Ctrl+C again to deny and stop the turn')
    run.terminal.press(' ')
    await run.terminal.waitForGone('Press Ctrl+C again')
    run.terminal.press(keys.ctrlC)
    await run.terminal.waitFor('Press Ctrl+C again to deny and stop the turn')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.pause()
    run.terminal.press(keys.ctrlC)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'deny', interrupt: true })
  })
  it('Ctrl+C on a request in holdpoint run asks first if an answer is half written, and a key that repeats does not confirm', async () => {
    const request = await run.askAndWaitFor(textQuestion, '/decline [reason]')
    await run.terminal.type('becau')
    for (let press = 0; press < 10; press++) {
      run.terminal.press(keys.ctrlC)
      await run.terminal.waitFor('Your answer is not finished. Press Ctrl+C again to discard it')
    }
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.waitFor('› becau▏')
    await run.terminal.pause()
    run.terminal.press(keys.ctrlC)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'decline', interrupt: true })
  })
})

describe('the letter r in a text field of holdpoint run', () => {
  const question = 'Does “r” mean that you decline, or is it your answer?'

  it('the letter r alone in a text field of holdpoint run is not sent until the person says what it means, and the key s sends it', async () => {
    const request = await run.askAndWaitFor(textQuestion, '/decline [reason]')
    await run.terminal.type('r')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor(question)
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.pause()
    run.terminal.press('s')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'answers', answers: [{ id: 'q', chosen: [], other: 'r' }] })
  })
  it('the letter r alone in a text field of holdpoint run is not sent until the person says what it means, Esc continues typing, and a second r declines', async () => {
    const request = await run.askAndWaitFor(textQuestion, '/decline [reason]')
    await run.terminal.type('r')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor(question)
    run.terminal.press(keys.escape)
    await run.terminal.waitFor('› r▏')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor(question)
    await run.terminal.pause()
    run.terminal.press('r')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'decline' })
  })
  it('the letter r alone in a text field of a form in holdpoint run is not sent until the person says what it means', async () => {
    const schema = { type: 'object' as const, properties: { to: { type: 'string' as const } } }
    const request = await run.askAndWaitFor({ kind: 'form', title: 'Parcel', message: '', schema }, 'Enter next')
    await run.terminal.type('r')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor(question)
    await run.terminal.pause()
    run.terminal.press('s')
    await run.terminal.waitFor('[a] Send')
    run.terminal.press('a')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'submit', values: { to: 'r' } })
  })
})

describe('pages of holdpoint run', () => {
  it('the key ? in the empty message line of holdpoint run shows the help, and the key that closes the help is not lost', async () => {
    await run.terminal.waitFor('? help')
    run.terminal.press('?')
    await run.terminal.waitFor('Keys\n')
    expect(run.terminal.text()).toContain('leave; the agent keeps working, and requests stay pending')
    run.terminal.press(keys.escape)
    await run.terminal.waitFor('› ▏')
    run.terminal.press('?')
    await run.terminal.waitFor('Keys\n')
    run.terminal.press('w')
    await run.terminal.waitFor('› w▏')
    run.terminal.press('?')
    await run.terminal.waitFor('› w?▏')
    run.terminal.press(keys.backspace, keys.backspace)
    await run.terminal.waitFor('› ▏')
    await run.terminal.pause()
  })
  it('the key ? on a request in holdpoint run shows the help, and the key that closes the help answers nothing', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press('?')
    await run.terminal.waitFor('Keys\n')
    run.terminal.press('a')
    const from = performance.now()
    await run.terminal.waitFor('[a] Allow')
    expect(performance.now() - from, 'the keys appear again after a pause').toBeLessThan(15_000)
    expect((await fixture.getRequest(request)).status).toBe('pending')
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })
  it('Ctrl+O in holdpoint run opens tool calls with their escaped output, scrolls, and goes to other calls', async () => {
    const call = async (name: string, output: string) => {
      await fixture.call('appendEvents', {
        id: run.session.id,
        items: [
          { type: 'tool.started', block: name, tool: 'Bash', input: { command: `make ${name}` } },
          { type: 'tool.finished', block: name, ok: name !== 'two', output },
        ],
      })
    }
    await call('one', 'built \u001b[31mred\u001b[0m')
    await call('two', Array.from({ length: 200 }, (_, index) => `line ${index + 1}`).join('\n'))
    await run.terminal.waitFor('Ctrl+O tool output')
    await run.terminal.waitFor('make two  failed')
    run.terminal.press('\u000f')
    await run.terminal.waitFor('Tool call 2 of 2  Bash  failed')
    expect(run.terminal.text()).toContain('make two')
    await run.terminal.waitFor(/lines 1–\d+ of 20\d/)
    run.terminal.press(keys.end)
    await run.terminal.waitFor('line 200')
    run.terminal.press(keys.left)
    await run.terminal.waitFor('built \\u{1b}[31mred')
    run.terminal.press(keys.escape)
    await run.terminal.waitFor('› ▏')
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press('\u000f')
    await run.terminal.waitFor('Tool call 2 of 2')
    run.terminal.press(keys.escape)
    await run.terminal.waitFor('[a] Allow')
    await run.terminal.pause()
    run.terminal.press('a')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow' })
  })
})
