/** `holdpoint run` in a real pseudo-terminal: leaving, the transcript, messages, resizing, and a temporary gateway. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { approvalOf as approval, SharedRun } from './support/run-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, reopenAfterFailure, Terminal } from './support/terminal.ts'

let fixture: SessionFixture
let run: SharedRun
beforeAll(async () => {
  fixture = await SessionFixture.open()
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})

describe('leaving holdpoint run', () => {
  it.each([
    ['Ctrl+D', keys.ctrlD],
    ['Ctrl+\\', '\u001c'],
  ])('%s leaves holdpoint run while a request is shown, and answers nothing', async (_, key) => {
    run = await SharedRun.open(fixture)
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press(key)
    expect(await run.terminal.exit).toBe(0)
    expect(run.terminal.all()).toContain('You left. The session stays open.')
    expect(run.terminal.all()).toContain('1 request is still pending:')
    expect(run.terminal.all()).toContain(`holdpoint show ${request.id.slice(0, 10)}`)
    expect(run.terminal.all()).toContain(`holdpoint run --session ${run.session.id.slice(0, 10)}`)
    expect((await fixture.getRequest(request)).status).toBe('pending')
  })

  it('Ctrl+D leaves a half-filled form in holdpoint run, which keeps its values until the person returns', async () => {
    run = await SharedRun.open(fixture)
    const properties = { to: { type: 'string' as const }, note: { type: 'string' as const } }
    const schema = { type: 'object' as const, properties }
    const request = await run.askAndWaitFor({ kind: 'form', title: 'Parcel', message: '', schema }, 'Enter next')
    await run.terminal.type('Ana')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('› note')
    run.terminal.press(keys.ctrlD)
    expect(await run.terminal.exit).toBe(0)
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await fixture.openRun(run.session).waitFor('› Ana▏')
  })

  it('pressing Ctrl+C three times in holdpoint run while the agent works first announces the interrupt, then interrupts the turn, then leaves', async () => {
    run = await SharedRun.open(fixture)
    const interrupts = async () =>
      (await fixture.listEvents(run.session)).filter(
        event => event.type === 'command.added' && event.value.body.kind === 'interrupt',
      )
    await run.terminal.waitFor('working')
    run.terminal.press(keys.ctrlC)
    await run.terminal.waitFor('Press Ctrl+C again to interrupt the turn, or Ctrl+D to leave the agent working.')
    expect(await interrupts()).toEqual([])
    await run.terminal.type('x')
    await run.terminal.waitForGone('Press Ctrl+C again')
    run.terminal.press(keys.ctrlC)
    await run.terminal.waitFor('Press Ctrl+C again to interrupt')
    run.terminal.press(keys.ctrlC)
    await run.terminal.waitFor('Interrupted. Press Ctrl+C again to leave.')
    await run.terminal.waitFor('› x▏')
    await expect.poll(interrupts).toHaveLength(1)
    run.terminal.press(keys.ctrlC)
    expect(await run.terminal.exit).toBe(0)
    expect(run.terminal.all(), 'the unsent text').toContain('Your last message was not sent:\n  x\n')
  })
})

describe('a session in holdpoint run', () => {
  reopenAfterFailure(async () => {
    run = await SharedRun.open(fixture)
  })

  it('a session in holdpoint run shows no spinner and no new text while a prompt is open, and prints the text afterwards', async () => {
    await run.terminal.waitFor('working')
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    expect(run.terminal.text()).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/)
    await fixture.sayAsAgent(run.session, 'Said while you read.')
    run.terminal.press('z')
    await run.terminal.waitFor('Press a to allow')
    expect(run.terminal.text()).not.toContain('Said while you read.')
    await run.terminal.waitFor('[a] Allow')
    run.terminal.press('a')
    await fixture.waitForResolved(request)
    await run.terminal.waitFor('Said while you read.')
  })

  it('a session in holdpoint run shows text while it streams, and each tool call in one line', async () => {
    const say = (offset: number, text: string) =>
      fixture.call('appendEvents', {
        id: run.session.id,
        items: [{ type: 'message.delta', block: 'stream', offset, text }],
      })
    await say(0, 'Once upon ')
    await run.terminal.waitFor('Once upon')
    await say(10, 'a time')
    await run.terminal.waitFor('Once upon a time')
    const items = [
      { type: 'message.added' as const, block: 'stream', text: 'Once upon a time.' },
      { type: 'tool.started' as const, block: 't', tool: 'Grep', input: { pattern: 'needle' } },
      { type: 'tool.finished' as const, block: 't', ok: false, output: 'no hay' },
    ]
    await fixture.call('appendEvents', { id: run.session.id, items })
    await run.terminal.waitFor(/▸ Grep {2}needle/)
    expect(run.terminal.all().match(/Once upon/g)).toHaveLength(1)
  })

  it('a session in holdpoint run is redrawn when the terminal is resized', async () => {
    const request = await run.askAndWaitFor(approval({ input: { command: `echo ${'word '.repeat(40)}` } }), '[a] Allow')
    for (const [columns, rows] of [
      [60, 20],
      [120, 40],
      [80, 24],
    ] as const) {
      const before = run.terminal.raw.length
      run.terminal.resize(columns, rows)
      await run.terminal.waitUntil(() => run.terminal.raw.length > before && run.terminal.text().includes('[a] Allow'))
      expect(run.terminal.text().match(/● Run a command/g)).toHaveLength(1)
      for (const line of run.terminal.lines()) expect(line.length).toBeLessThanOrEqual(columns)
    }
    run.terminal.press('a')
    await fixture.waitForResolved(request)
  })

  it('a session in holdpoint run is redrawn by Ctrl+L, suspended by Ctrl+Z and continued by fg', async () => {
    const other = await fixture.startSession('job')
    const request = await fixture.ask(other, approval())
    const job = fixture.openRun(other, { asJob: true })
    await job.waitFor('[a] Allow')
    let before = job.raw.length
    job.press(keys.ctrlL)
    await job.waitUntil(() => job.raw.slice(before).includes('[a] Allow'))
    job.press(keys.ctrlZ)
    await job.waitFor('stopped with 148')
    expect(job.text()).not.toContain('[a] Allow')
    before = job.raw.length
    job.press('\n')
    await job.waitUntil(() => job.raw.slice(before).includes('[a] Allow'))
    job.press('a')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow' })
  })

  it('a session in holdpoint run accepts a message once the agent is idle', async () => {
    await fixture.finishTurn(run.session)
    await run.terminal.waitFor('Enter send')
    await run.terminal.type('and now?')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor(/› and now\?\n/)
    const sent = (await fixture.listEvents(run.session)).flatMap(event =>
      event.type === 'command.added' ? [event.value.body] : [],
    )
    expect(sent).toContainEqual({ kind: 'message', text: 'and now?' })
  })

  it('a session in holdpoint run does not answer a new request with keys that the person types for a message, and keeps the message', async () => {
    await run.terminal.waitFor('Enter send')
    await run.terminal.type('b')
    const request = await fixture.ask(run.session, approval())
    await run.terminal.waitFor('The agent is asking: Run a command. Your text is kept.')
    await run.terminal.type('anana')
    await run.terminal.waitFor('banana▏')
    run.terminal.press(keys.tab)
    await run.terminal.waitFor('[a] Allow')
    expect(run.terminal.text()).toContain('Unsent message (Tab returns to it): banana')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    run.terminal.press(keys.escape)
    await run.terminal.waitFor('banana▏')
    run.terminal.press('\u0015')
    await run.terminal.waitFor('[a] Allow')
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })

  it('a session in holdpoint run queues a message while the agent works and while a request waits', async () => {
    const messages = async () =>
      (await fixture.listEvents(run.session)).flatMap(event =>
        event.type === 'command.added' && event.value.body.kind === 'message' ? [event.value.body.text] : [],
      )
    await fixture.sayAsAgent(run.session, 'Working again.')
    await run.terminal.waitFor('Ctrl+C interrupt')
    await run.terminal.type('first')
    run.terminal.press('\u001b[200~ and\rthen\u001b[201~')
    await run.terminal.waitFor('then▏')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Sent. The agent gets your message when it is ready for it.')
    await expect.poll(messages).toContain('first and\nthen')
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press(keys.escape)
    await run.terminal.waitFor('Tab show the request')
    await run.terminal.type('second')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('[a] Allow')
    expect(await messages()).toContain('second')
    run.terminal.press('r')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'deny' })
  })

  it('holdpoint run reports that its session has ended, and exits', async () => {
    await fixture.call('endSession', { id: run.session.id })
    expect(await run.terminal.exit).toBe(0)
    expect(run.terminal.all()).toContain('Session ended')
  })
})

describe('holdpoint run without a running gateway', () => {
  it('holdpoint run without a running gateway starts a temporary gateway, runs the rehearsal, and keeps pending requests for the next run', async () => {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-test-own-'))
    const first = new Terminal(['run', 'rehearsal', 'short', '--home', home])
    await first.waitFor('No gateway is running, so a temporary one runs here')
    await first.waitFor('[a] Allow')
    first.press(keys.ctrlD)
    expect(await first.exit).toBe(0)
    const id = /--session (ses_\w+)/.exec(first.all())?.[1] ?? ''
    const second = new Terminal(['run', '--session', id, '--home', home])
    await second.waitFor('[a] Allow')
    second.press(keys.tab)
    await second.waitFor('Enter send')
    await second.type('/end')
    second.press(keys.enter)
    expect(await second.exit).toBe(0)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
})
