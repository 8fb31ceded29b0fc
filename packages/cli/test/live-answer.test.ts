/** `holdpoint next`, `holdpoint answer ID` without options and `holdpoint inbox --watch`, in a real pseudo-terminal. */
import type { Ask } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { runCliAgainst } from './support/cli-process.ts'
import { approvalOf as approval } from './support/run-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys } from './support/terminal.ts'

let fixture: SessionFixture
beforeAll(async () => {
  fixture = await SessionFixture.open()
})
beforeEach(() => fixture.call('stopEverything', {}))
afterEach(closeTerminals)
afterAll(closeGateways)

const question: Ask = {
  kind: 'questions',
  questions: [
    {
      id: 'q',
      header: '',
      question: 'Which one?',
      options: [{ label: 'Red' }, { label: 'Blue' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    },
  ],
}

describe('holdpoint answer without options at a terminal', () => {
  it('holdpoint answer without options at a terminal shows the request, sends the chosen answer and exits with 0', async () => {
    const request = await fixture.ask(await fixture.startSession('paint'), question)
    const terminal = fixture.openTerminal(['answer', request.id.slice(0, 10)])
    await terminal.waitFor('Which one?')
    await terminal.waitFor('Enter confirm')
    expect(terminal.text()).toContain('▌ paint · external · /srv/app')
    terminal.press('2')
    await terminal.waitFor('› 2  Blue')
    await terminal.pause()
    terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'answers', answers: [{ id: 'q', chosen: ['Blue'] }] })
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toMatch(/✓ .*answered by you: Blue/)
  })
  it.each([
    ['Ctrl+C', keys.ctrlC],
    ['Ctrl+D', keys.ctrlD],
    ['Esc', keys.escape],
  ])('%s ends holdpoint answer, the request stays pending, and the exit code is 1', async (_, key) => {
    const request = await fixture.ask(await fixture.startSession(), approval())
    const terminal = fixture.openTerminal(['answer', request.id])
    await terminal.waitFor('[a] Allow')
    terminal.press(key)
    expect(await terminal.exit).toBe(1)
    expect(terminal.all()).toContain('It is still pending')
    expect((await fixture.getRequest(request)).status).toBe('pending')
  })
  it('holdpoint answer at a terminal exits with 4 and says who answered if the request is answered elsewhere', async () => {
    const request = await fixture.ask(await fixture.startSession(), approval())
    const terminal = fixture.openTerminal(['answer', request.id])
    await terminal.waitFor('[a] Allow')
    await fixture.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
    expect(await terminal.exit).toBe(4)
    expect(terminal.all()).toMatch(/already resolved: denied by owner/)
  })
})

describe('holdpoint next at a terminal', () => {
  it('holdpoint next shows the most urgent request first, shows the next request after an answer and after Tab, and ends when none is left', async () => {
    const session = await fixture.startSession()
    const skipped = await fixture.ask(session, approval({ input: { command: 'make first' } }))
    const later = await fixture.ask(session, approval({ input: { command: 'make second' } }))
    const urgent = await fixture.ask(session, approval({ input: { command: 'rm -rf build' } }))
    const terminal = fixture.openTerminal(['next'])
    await terminal.waitFor('request 1 of 3')
    await terminal.waitFor('│ rm -rf build')
    await terminal.waitFor('Tab next request')
    terminal.press('r')
    expect(await fixture.answerTo(urgent)).toEqual({ kind: 'deny' })
    await terminal.waitFor('│ make first')
    await terminal.waitFor('[a] Allow')
    terminal.press(keys.tab)
    await terminal.waitFor('│ make second')
    await terminal.waitFor('[a] Allow')
    await terminal.pause()
    terminal.press('a')
    expect(await fixture.answerTo(later)).toEqual({ kind: 'allow' })
    expect(await terminal.exit).toBe(0)
    expect((await fixture.getRequest(skipped)).status, 'Tab answers nothing').toBe('pending')
  })
  it('holdpoint next shows the help after the key ?, and the key that closes the help answers nothing', async () => {
    const request = await fixture.ask(await fixture.startSession(), approval())
    const terminal = fixture.openTerminal(['next'])
    await terminal.waitFor('[a] Allow')
    terminal.press('?')
    await terminal.waitFor('leave; the request stays pending')
    terminal.press('a')
    await terminal.waitFor('[a] Allow')
    terminal.press(keys.ctrlD)
    await terminal.exit
    expect((await fixture.getRequest(request)).status).toBe('pending')
  })
  it('holdpoint next says that nothing is pending, and refuses to run without a terminal', async () => {
    const terminal = fixture.openTerminal(['next'])
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('No pending requests.')
    expect(await runCliAgainst(fixture.gateway, ['next'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs an interactive terminal'),
    })
  })
})

describe('holdpoint inbox', () => {
  it('holdpoint inbox --count prints only the number of pending requests', async () => {
    const count = async () => (await runCliAgainst(fixture.gateway, ['inbox', '--count'])).out
    expect(await count()).toBe('0\n')
    const session = await fixture.startSession()
    for (let at = 0; at < 3; at++) await fixture.ask(session, approval())
    expect(await count()).toBe('3\n')
  })
  it('holdpoint inbox --watch keeps the list up to date, rings the bell for a new request, and q leaves', async () => {
    const session = await fixture.startSession('busy')
    const first = await fixture.ask(session, approval({ input: { command: 'make first' } }))
    const terminal = fixture.openTerminal(['inbox', '--watch'])
    await terminal.waitFor('make first')
    const before = terminal.raw.length
    await fixture.ask(session, approval({ input: { command: 'make second' } }))
    await terminal.waitFor('make second')
    await terminal.waitUntil(() => terminal.raw.slice(before).includes('\u0007'), 'the bell')
    await fixture.call('answerRequest', { id: first.id, digest: first.digest, answer: { kind: 'deny' } })
    await terminal.waitForGone('make first')
    terminal.resize(40, 8)
    await terminal.waitUntil(() => /^q leave$/m.test(terminal.text()) && terminal.text().includes('make second'))
    terminal.press('q')
    expect(await terminal.exit).toBe(0)
    expect(terminal.isAlternate).toBe(false)
  })
  it('holdpoint inbox --watch without a terminal is refused, and the error names a command that works in scripts', async () => {
    expect(await runCliAgainst(fixture.gateway, ['inbox', '--watch'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--count'),
    })
  })
})
