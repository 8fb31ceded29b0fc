/** `holdpoint run` in a real pseudo-terminal: Ctrl+C, the transcript, messages, resizing, and a temporary gateway. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { approvalOf as approval, SharedRun } from './support/run-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, Terminal } from './support/terminal.ts'

let fixture: SessionFixture
let run: SharedRun
beforeAll(async () => {
  fixture = await SessionFixture.open()
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})

describe('Ctrl+C in holdpoint run', () => {
  beforeAll(async () => {
    run = await SharedRun.open(fixture)
  })
  it('denies the request, then interrupts the turn, then leaves and prints how to come back', async () => {
    const first = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press(keys.ctrlC)
    expect(await fixture.answerTo(first)).toEqual({ kind: 'deny' })
    const second = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press(keys.ctrlC)
    expect((await fixture.waitForResolved(second)).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
    const third = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press(keys.ctrlC)
    expect(await run.terminal.exit).toBe(0)
    expect(run.terminal.all()).toContain('1 request is still pending:')
    expect(run.terminal.all()).toContain(`holdpoint show ${third.id.slice(0, 10)}`)
    expect(run.terminal.all()).toContain(`holdpoint run --session ${run.session.id.slice(0, 10)}`)
    expect((await fixture.getRequest(third)).status).toBe('pending')
  })
})

describe('a session in holdpoint run', () => {
  beforeAll(async () => {
    run = await SharedRun.open(fixture)
  })

  it('shows no spinner and no new text while a prompt is open, and prints the text afterwards', async () => {
    await run.terminal.waitFor('working')
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    expect(run.terminal.text()).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/)
    await fixture.sayAsAgent(run.session, 'Said while you read.')
    run.terminal.press('?')
    await run.terminal.waitFor('Press a to allow')
    expect(run.terminal.text()).not.toContain('Said while you read.')
    run.terminal.press('a')
    await fixture.waitForResolved(request)
    await run.terminal.waitFor('Said while you read.')
  })

  it('shows text while it streams, and each tool call in one line', async () => {
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

  it('is redrawn when the terminal is resized', async () => {
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

  it('is redrawn by Ctrl+L, suspended by Ctrl+Z and continued by fg', async () => {
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

  it('accepts a message once the agent is idle', async () => {
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

  it('does not answer a new request with keys that the person types for a message', async () => {
    await run.terminal.waitFor('Enter send')
    await run.terminal.type('b')
    const request = await fixture.ask(run.session, approval())
    await run.terminal.waitFor('The agent is asking you something')
    await run.terminal.type('anana')
    await run.terminal.waitFor('banana▏')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    run.terminal.press('\u0015')
    await run.terminal.waitFor('[a] Allow')
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })

  it('that has ended is reported as ended, and run exits', async () => {
    await fixture.call('endSession', { id: run.session.id })
    expect(await run.terminal.exit).toBe(0)
    expect(run.terminal.all()).toContain('Session ended')
  })
})

describe('holdpoint run without a running gateway', () => {
  it('starts a temporary gateway, runs the rehearsal, and keeps pending requests for the next run', async () => {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-test-own-'))
    const first = new Terminal(['run', 'rehearsal', 'short', '--home', home])
    await first.waitFor('No gateway is running, so a temporary one runs here')
    await first.waitFor('[a] Allow')
    first.press(keys.ctrlC, keys.ctrlC, keys.ctrlC)
    expect(await first.exit).toBe(0)
    const id = /--session (ses_\w+)/.exec(first.all())?.[1] ?? ''
    const second = new Terminal(['run', '--session', id, '--home', home])
    await second.waitFor('Enter send')
    await second.type('/end')
    second.press(keys.enter)
    expect(await second.exit).toBe(0)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
})
