/** `holdpoint tui` in a real pseudo-terminal: the list, an open session, answering, sending messages, starting sessions. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ask } from '@holdpoint/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, reopenAfterFailure, Terminal } from './support/terminal.ts'

let fixture: SessionFixture
beforeAll(async () => {
  fixture = await SessionFixture.open({ retentionDays: 30 })
})
afterAll(closeGateways)

let count = 0
const approval = (command = `make thing${++count}`): Ask => ({
  kind: 'approval',
  tool: 'Bash',
  input: { command },
  title: 'Make',
  cwd: '/srv',
  editable: true,
})
const choice: Ask = {
  kind: 'questions',
  questions: [
    {
      id: 'q',
      header: '',
      question: 'Tea or coffee?',
      options: [{ label: 'Tea' }, { label: 'Coffee' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    },
  ],
}

describe('holdpoint tui', () => {
  let terminal: Terminal
  reopenAfterFailure(() => {
    terminal = fixture.openTerminal(['tui'], { columns: 120 })
  })
  afterAll(closeTerminals)
  beforeEach(async () => {
    // End the sessions of earlier tests, so that their requests are no longer pending.
    for (const { id } of (await fixture.call('listSessions', {})).items)
      if ((await fixture.call('getSession', { id })).state !== 'ended') await fixture.call('endSession', { id })
    await terminal.waitFor('Nothing is waiting for you')
    terminal.press(keys.escape)
    await terminal.waitFor('q leave')
  })
  /** Waits until the open session shows the text. The list shows the last message of the selected session too, so the text alone does not tell that the session is open. */
  async function waitForOpenSession(text: string): Promise<void> {
    await terminal.waitFor('Enter write')
    await terminal.waitFor(text)
  }

  it('holdpoint tui shows a new request at once, opens it, sends the answer, and moves on to the next request', async () => {
    expect(terminal.isAlternate).toBe(true)
    const [kitchen, garden] = [await fixture.startSession('kitchen'), await fixture.startSession('garden')]
    const first = await fixture.ask(kitchen, approval())
    await terminal.waitFor('1 waiting for you')
    const second = await fixture.ask(garden, choice)
    await terminal.waitFor('2 waiting for you')
    await terminal.waitFor('Press Enter to answer')
    // A selected item stays selected when a request appears above it, so go to the first item.
    terminal.press(keys.home)
    await terminal.waitFor(/› make thing\d+ +now │.*\n {2}△ runs project code · kitchen +│/)
    terminal.press('a')
    await terminal.pause()
    terminal.press(keys.enter)
    await terminal.waitFor('[a] Allow  [r] Deny')
    expect((await fixture.getRequest(first)).status).toBe('pending')
    terminal.press('a')
    expect((await fixture.waitForResolved(first)).resolution?.answer).toEqual({ kind: 'allow' })
    await terminal.waitFor('allowed by you')
    terminal.press(keys.tab)
    await terminal.waitFor('Enter confirm')
    terminal.press(keys.down)
    await terminal.waitFor('› 1  Tea')
    terminal.press('2')
    await terminal.waitFor('› 2  Coffee')
    await terminal.pause()
    terminal.press(keys.enter)
    expect((await fixture.waitForResolved(second)).resolution?.answer).toEqual({
      kind: 'answers',
      answers: [{ id: 'q', chosen: ['Coffee'] }],
    })
    await terminal.waitFor('Nothing is waiting for you')
  })

  it('holdpoint tui keeps the unfinished answer of a request after Esc closes the session', async () => {
    const session = await fixture.startSession('study')
    const request = await fixture.ask(session, approval())
    await terminal.waitFor('1 waiting for you')
    terminal.press(keys.home, keys.enter)
    await terminal.waitFor('[a] Allow')
    terminal.press('R')
    await terminal.waitFor('Reason ›')
    await terminal.type('too la')
    terminal.press(keys.escape)
    await terminal.waitFor('[a] Allow')
    await terminal.pause()
    terminal.press('n')
    await terminal.waitFor('Note ›')
    await terminal.type('be quick')
    terminal.press(keys.enter)
    await terminal.waitFor('With your note')
    terminal.press(keys.escape)
    await terminal.waitFor('q leave')
    terminal.press(keys.enter)
    await terminal.waitFor('With your note: be quick')
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    expect((await fixture.waitForResolved(request)).resolution?.answer).toEqual({ kind: 'allow', note: 'be quick' })
  })

  it('holdpoint tui closes the prompt when the request is answered elsewhere, and shows who answered', async () => {
    const session = await fixture.startSession('hall')
    const request = await fixture.ask(session, approval())
    await terminal.waitFor('1 waiting for you')
    terminal.press(keys.home, keys.enter)
    await terminal.waitFor('[a] Allow')
    const { secret } = await fixture.call('addToken', { role: 'person', name: 'bea' })
    await fixture.gateway.callAs(secret)('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'allow' },
    })
    await terminal.waitFor('allowed by bea')
    await terminal.waitForGone('[a] Allow')
  })

  it('holdpoint tui splits a long request into pages, and does not allow the request before every page was shown', async () => {
    const session = await fixture.startSession('long')
    const request = await fixture.ask(
      session,
      approval(Array.from({ length: 60 }, (_, index) => `echo ${index}`).join('\n')),
    )
    await terminal.waitFor('1 waiting for you')
    terminal.press(keys.home, keys.enter)
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    await terminal.waitFor('You haven’t seen the whole request')
    while (!terminal.text().includes('Agent says')) {
      const before = terminal.raw.length
      terminal.press(' ')
      await terminal.waitUntil(() => terminal.raw.length > before)
      await terminal.waitFor(/lines \d+/)
    }
    await terminal.pause()
    terminal.press('a')
    expect((await fixture.waitForResolved(request)).status).toBe('resolved')
  })

  it('holdpoint tui ignores keys while the pane is too small for the request, and shows the request again in a larger pane', async () => {
    const session = await fixture.startSession('closet')
    const request = await fixture.ask(session, approval(Array.from({ length: 30 }, (_, at) => `echo ${at}`).join('\n')))
    await terminal.waitFor('1 waiting for you')
    terminal.press(keys.home, keys.enter)
    await terminal.waitFor('[a] Allow')
    terminal.resize(80, 6)
    await terminal.waitFor('Too small: enlarge')
    for (const key of [' ', ' ', ' ', 'a']) {
      terminal.press(key)
      // These keys change nothing on the screen that the test could wait for. The pause makes each key arrive alone.
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    terminal.resize(80, 7)
    await terminal.waitFor(/lines 1–1 of[\s\S]*\[a\] Allow/)
    terminal.press('a')
    await terminal.waitFor('You haven’t seen the whole request')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    terminal.resize(40, 12)
    await terminal.waitFor('[a] Allow (read it all first)')
    expect(terminal.text()).toContain('│ echo 0')
    terminal.resize(120, 24)
    await terminal.waitFor('lines 1–')
    terminal.press(keys.left)
    await terminal.waitFor('q leave')
  })

  it('holdpoint tui shows the streaming text of a session, sends a message, interrupts the turn and ends the session', async () => {
    const session = await fixture.startSession('porch')
    await fixture.sayAsAgent(session, 'Sweeping the porch.')
    await terminal.waitFor('porch')
    terminal.press(keys.home, keys.enter)
    await terminal.waitFor('Sweeping the porch.')
    await fixture.call('appendEvents', {
      id: session.id,
      items: [{ type: 'message.delta', block: 'b', offset: 0, text: 'Still sweep' }],
    })
    await terminal.waitFor('Still sweep')
    await terminal.waitFor(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] working/)
    terminal.press(keys.enter)
    await terminal.waitFor('Message ›')
    await terminal.type('hurry up')
    terminal.press(keys.enter)
    await terminal.waitFor(/› hurry up\s/)
    await terminal.pause()
    terminal.press('I')
    await terminal.waitFor('I again to interrupt')
    await terminal.pause()
    terminal.press('I')
    await terminal.waitFor('You interrupted the turn')
    terminal.press('E')
    await terminal.waitFor('E again to end')
    await terminal.pause()
    terminal.press('E')
    await terminal.waitFor('Session ended')
  })

  it('holdpoint tui does not answer a new request with keys that the person types for a message', async () => {
    const session = await fixture.startSession('loft')
    await fixture.sayAsAgent(session, 'Dusty here.')
    await terminal.waitFor('loft')
    terminal.press(keys.home, keys.enter)
    await waitForOpenSession('Dusty here.')
    terminal.press('i')
    await terminal.waitFor('Message ›')
    await terminal.type('b')
    const request = await fixture.ask(session, approval())
    await terminal.waitFor('The agent is asking you something')
    await terminal.type('anana')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    terminal.press(keys.escape)
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    await fixture.waitForResolved(request)
  })

  it('holdpoint tui keeps the unsent message of each session', async () => {
    const [cellar, attic] = [await fixture.startSession('cellar'), await fixture.startSession('attic')]
    for (const session of [cellar, attic]) await fixture.sayAsAgent(session, `Here is the ${session.title}.`)
    await terminal.waitFor('cellar')
    await terminal.waitFor('attic')
    terminal.press(keys.home, keys.enter)
    await waitForOpenSession('Here is the')
    const first = terminal.text().includes('Here is the cellar') ? cellar : attic
    terminal.press('i')
    await terminal.waitFor('Message ›')
    await terminal.type('half a')
    terminal.press(keys.escape)
    await terminal.waitFor('Unsent message: half a')
    terminal.press(keys.escape)
    await terminal.waitFor('q leave')
    // The session with the newest change of state is first.
    await terminal.waitFor(/attic[\s\S]*cellar/)
    terminal.press(first === cellar ? keys.up : keys.down, keys.enter)
    await waitForOpenSession(`Here is the ${first === cellar ? 'attic' : 'cellar'}.`)
    terminal.press('i')
    await terminal.waitFor('Message › ▏')
    terminal.press(keys.escape)
    await terminal.waitForGone('Message ›')
    terminal.press(keys.escape)
    await terminal.waitFor('q leave')
    terminal.press(first === cellar ? keys.down : keys.up, keys.enter)
    await terminal.waitFor('Unsent message: half a')
    terminal.press(keys.enter)
    await terminal.waitFor('Message › half a▏')
    await terminal.type(' word')
    terminal.press(keys.enter)
    await terminal.waitFor('half a word')
    await terminal.waitForGone('Message ›')
    await expect.poll(async () => JSON.stringify(await fixture.listEvents(first))).toContain('half a word')
  })

  it('holdpoint tui sends an answer at once if the key Tab follows, and goes to the next request', async () => {
    const [one, other] = [await fixture.startSession('yard'), await fixture.startSession('well')]
    const [first, second] = [await fixture.ask(one, approval()), await fixture.ask(other, approval())]
    await terminal.waitFor('2 waiting for you')
    terminal.press(keys.home, keys.enter)
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    await terminal.waitFor('Allowing… Esc cancels.')
    terminal.press(keys.tab)
    await terminal.waitFor('[a] Allow')
    terminal.press('r')
    const answers = [await fixture.answerTo(first), await fixture.answerTo(second)]
    expect(answers).toEqual([{ kind: 'allow' }, { kind: 'deny' }])
  })

  it('holdpoint tui starts a session after the key n, and a request of that session can be denied', async () => {
    terminal.press('n')
    await terminal.waitFor(/1 {2}rehearsal/)
    terminal.press(keys.enter)
    await terminal.waitFor('What should the agent do? ›')
    terminal.press(keys.enter)
    await terminal.waitFor('Type what the agent should do')
    await terminal.type('short')
    terminal.press(keys.enter)
    await terminal.waitFor('[a] Allow')
    terminal.press('r')
    await terminal.waitFor('denied by you')
  })

  it('holdpoint tui starts no session if the person types a text that begins with n', async () => {
    for (const key of ['n', 'o', 'w', keys.enter, 'g', 'o', keys.enter]) {
      terminal.press(key)
      // These keys change nothing on the screen that the test could wait for. The pause makes each key arrive alone.
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    await terminal.waitFor(/1 {2}rehearsal/)
    expect(terminal.text()).not.toContain('What should the agent do?')
    terminal.press(keys.ctrlC)
    await terminal.waitFor('q leave')
  })

  it('holdpoint tui shows one column on a narrow screen, and adapts when the terminal is resized', async () => {
    const session = await fixture.startSession('cellar')
    const request = await fixture.ask(session, approval())
    await terminal.waitFor(' │ ')
    terminal.resize(60, 20)
    await terminal.waitUntil(() => !terminal.text().includes(' │ ') && terminal.text().includes('cellar'))
    terminal.press(keys.home, keys.enter)
    await terminal.waitFor('[a] Allow')
    await terminal.waitForGone('Waiting for you')
    terminal.resize(15, 20)
    await terminal.waitFor('Too small')
    // The key may be read before or right after the next resize. In both cases it was pressed while the request was not visible.
    terminal.press('a')
    terminal.resize(60, 20)
    await terminal.waitFor('[a] Allow')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    terminal.resize(120, 40)
    await terminal.waitFor(/Waiting for you[\s\S]*\[a\] Allow/)
    for (const line of terminal.lines()) expect([...line].length).toBeLessThanOrEqual(120)
    terminal.resize(120, 24)
    await terminal.waitUntil(() => terminal.lines().length === 24 && terminal.text().includes('[a] Allow'))
  })

  it('holdpoint tui redraws only the lines that change', async () => {
    const session = await fixture.startSession('shed')
    await terminal.waitFor('shed')
    terminal.press(keys.home, keys.enter)
    await terminal.waitFor('Esc back')
    const before = terminal.raw.length
    await fixture.sayAsAgent(session, 'One more line.')
    await terminal.waitFor('One more line.')
    expect(terminal.raw.length - before).toBeLessThan(1500)
  })

  it('holdpoint tui shows help after the key ?; after the key q, exits and prints the number of pending requests', async () => {
    const session = await fixture.startSession('attic')
    await fixture.ask(session, approval())
    await terminal.waitFor('1 waiting for you')
    terminal.press('?')
    await terminal.waitFor('move in the list')
    expect(terminal.text(), 'the last line of the help').toContain('interrupt the turn; end the session')
    terminal.press('?')
    await terminal.waitFor('q leave')
    terminal.press('q')
    expect(await terminal.exit).toBe(0)
    expect(terminal.isAlternate).toBe(false)
    expect(terminal.all()).toContain('1 request is waiting for you.')
  })
})

describe('leaving holdpoint tui', () => {
  afterAll(closeTerminals)

  it.each([
    ['Ctrl+C', keys.ctrlC],
    ['Ctrl+D', keys.ctrlD],
  ])('leaving tui with %s keeps a request pending, even right after a key that would allow it', async (_, key) => {
    const own = await SessionFixture.open()
    const request = await own.ask(await own.startSession('yard'), approval())
    const terminal = own.openTerminal(['tui'])
    await terminal.waitFor('yard')
    terminal.press(keys.enter)
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    await terminal.waitFor('Allowing…')
    terminal.press(key)
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('1 request is waiting for you.')
    expect((await own.getRequest(request)).status).toBe('pending')
  })

  it('leaving holdpoint tui prints the message that was not sent', async () => {
    const own = await SessionFixture.open()
    await own.startSession('porch')
    const terminal = own.openTerminal(['tui'])
    await terminal.waitFor('porch')
    terminal.press(keys.enter)
    await terminal.waitFor('I interrupt')
    terminal.press('i')
    await terminal.waitFor('Message ›')
    await terminal.type('half a word')
    terminal.press(keys.ctrlC)
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('You left without sending your message to porch:\n  half a word')
  })
})

describe('holdpoint tui without a running gateway', () => {
  it('holdpoint tui without a running gateway runs a temporary gateway until the person leaves', async () => {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-test-own-'))
    const terminal = new Terminal(['tui', '--home', home])
    await terminal.waitFor('Nothing is waiting for you')
    terminal.press('q')
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('No gateway is running, so a temporary one runs here')
    expect(terminal.all()).toContain('The temporary gateway stops now')
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
})
